import { canonicalJson } from "@seneschal/crypto";
import { leafHash } from "@seneschal/crypto/merkle";
import type { JsonObject } from "@seneschal/kernel";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { sha256 } from "./sha256.ts";

/** So many records are read and hashed at once: requests wait for no more than that. */
export const PAGE = 64;

/** The leaves of the records of a stream from the first on, until one is missing. */
export async function* leavesOf(store: DocumentStore, stream: string, from = 1): AsyncGenerator<Uint8Array> {
  for (let next = from; ; ) {
    const { items } = await store.list("audit", "stream", [stream], { from: [next], limit: PAGE });
    for (const { doc } of items) {
      if (doc["stream_seq"] !== next) return;
      next += 1;
      yield leafOf(doc["event"] as JsonObject);
    }
    if (items.length < PAGE) return;
  }
}

/** The leaf of a record: over its RFC 8785 form. */
export function leafOf(event: JsonObject): Uint8Array {
  return leafHash(Buffer.from(canonicalJson(event)), sha256);
}
