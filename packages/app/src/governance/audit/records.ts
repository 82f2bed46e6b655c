import { canonicalJson } from "@seneschal/crypto";
import type { JsonObject } from "@seneschal/kernel";
import type { DocumentStore } from "@seneschal/kernel/ports";

/** So many records are read and hashed at once: requests wait for no more than that. */
export const PAGE = 64;

/** The leaf data of the records of a stream from the first on, until one is missing. */
export async function* leavesOf(store: DocumentStore, stream: string, from = 1): AsyncGenerator<Uint8Array> {
  for (let next = from; ; ) {
    const { items } = await store.list("audit", "stream", [stream], { from: [next], limit: PAGE });
    for (const { doc } of items) {
      if (doc["stream_seq"] !== next) return;
      next += 1;
      yield leafData(doc["event"] as JsonObject);
    }
    if (items.length < PAGE) return;
  }
}

/** What a record's leaf is the hash of: its RFC 8785 form. */
export function leafData(event: JsonObject): Uint8Array {
  return Buffer.from(canonicalJson(event));
}
