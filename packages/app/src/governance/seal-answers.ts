import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import type { SignBytes } from "@seneschal/crypto/merkle";
import { CodedError } from "@seneschal/kernel";
import type { Random } from "@seneschal/kernel/ports";
import type { Sealer } from "../platform/index.ts";

const LABEL = "seneschal governance: seals kept answers, v1";
const NONCE = 12;
const TAG = 16;

/**
 * Seals the answers that idempotency keeps (AES-256-GCM) under a key derived from a signature that only the holder of the instance's signing key can make (Ed25519 is
 * deterministic, RFC 8032; the label is no text of a checkpoint). So an answer with a new API key is no secret of the store, and outlives a restart. An answer of another
 * instance cannot be opened: `idempotency_conflict`, never a second run.
 */
export async function answerSealer(sign: SignBytes, random: Random): Promise<Sealer> {
  const key = new Uint8Array(hkdfSync("sha256", await sign(Buffer.from(LABEL)), "", LABEL, 32));
  return {
    async seal(plaintext, aad) {
      const nonce = random(NONCE);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(aad);
      return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]).toString("base64");
    },
    async open(sealed, aad) {
      const bytes = Buffer.from(sealed, "base64");
      try {
        const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE)).setAAD(aad);
        decipher.setAuthTag(bytes.subarray(-TAG));
        return Buffer.concat([decipher.update(bytes.subarray(NONCE, -TAG)), decipher.final()]);
      } catch (cause) {
        throw new CodedError(
          "idempotency_conflict",
          "the request with this idempotency key was answered by another instance",
          {},
          cause,
        );
      }
    },
  };
}
