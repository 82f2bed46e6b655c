import { createHash, createHmac } from "node:crypto";
import { openInto, sealInto } from "@seneschal/adapters/node-crypto";
import type { Stripe } from "@seneschal/core/storage";
import { encodeStripe } from "./stripes.ts";

/** A key, and what it is used with once. */
interface Sealing {
  readonly key: Uint8Array;
  readonly nonce: Uint8Array;
  readonly aad: Uint8Array;
}

/** What is done with all bytes of a chunk. The memory of the bytes is shared; nothing is copied on the way to a thread. */
export type ChunkTask =
  /** SHA-256 of the plaintext, and of the plaintext with `label` behind it; with `mac` its HMAC-SHA256 under that key, too. */
  | { readonly kind: "digest"; readonly plaintext: Uint8Array; readonly label: Uint8Array; readonly mac?: Uint8Array | undefined }
  /** AES-256-GCM into the beginning of `into`; with a stripe, what is sealed is made one there. */
  | (Sealing & {
      readonly kind: "seal";
      readonly plaintext: Uint8Array;
      readonly into: Uint8Array;
      readonly stripe?: Stripe | undefined;
    })
  | (Sealing & { readonly kind: "open"; readonly sealed: Uint8Array; readonly into: Uint8Array });

/** What comes of it. */
export interface ChunkOutcome {
  readonly digests?: { readonly whole: Uint8Array; readonly labelled: Uint8Array; readonly mac?: Uint8Array };
  readonly encodeSeconds?: number;
  /** Of `open`: whether the bytes are those that were sealed. When they are not, `into` has only zeros. */
  readonly authentic?: boolean;
}

/** Bytes that sealing adds. */
export const sealOverhead = 16;

/** Does one task, in whichever thread. */
export function doChunkTask(task: ChunkTask): ChunkOutcome {
  switch (task.kind) {
    case "digest": {
      const { plaintext, label, mac } = task;
      const running = createHash("sha256").update(plaintext);
      const labelled = running.copy().update(label).digest();
      const tagged = mac && createHmac("sha256", mac).update(plaintext).digest();
      return { digests: { whole: running.digest(), labelled, ...(tagged && { mac: tagged }) } };
    }
    case "seal": {
      const { key, nonce, aad, plaintext, into, stripe } = task;
      const length = plaintext.length + sealOverhead;
      sealInto(key, nonce, plaintext, aad, into.subarray(0, length));
      if (stripe === undefined) return {};
      const started = performance.now();
      encodeStripe(into, length, stripe);
      return { encodeSeconds: (performance.now() - started) / 1000 };
    }
    case "open": {
      const { key, nonce, aad, sealed, into } = task;
      try {
        openInto(key, nonce, sealed, aad, into);
        return { authentic: true };
      } catch {
        return { authentic: false };
      }
    }
    default:
      return task satisfies never;
  }
}
