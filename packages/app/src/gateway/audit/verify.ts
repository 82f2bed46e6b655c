import type { DocumentStore } from "@seneschal/core/ports";
import { bytesEqual } from "@seneschal/crypto";
import { CompactRange, type NoteKey, parseCheckpoint, type Sha256, verifyNote } from "@seneschal/crypto/merkle";
import type { AuditRecord } from "./indexes.ts";
import { auditLeaf } from "./leaf.ts";
import { checkpointOrigin, type StoredCheckpoint, wholeLog } from "./sealer.ts";

/** Why a log is not whole; `undefined` when it is. */
export type AuditFlaw = "checkpoint_invalid" | "event_missing" | "root_differs";

/** Judges records against a signed checkpoint: every one there, in order, unchanged, and none cut off. */
export async function verifyRecords(
  pages: AsyncIterable<readonly Pick<AuditRecord, "seq" | "stream" | "stream_seq" | "event">[]>,
  checkpoint: StoredCheckpoint,
  { instance, key, sha256 }: { readonly instance: string; readonly key: NoteKey; readonly sha256: Sha256 },
): Promise<AuditFlaw | undefined> {
  let signed: ReturnType<typeof parseCheckpoint>;
  try {
    signed = parseCheckpoint(verifyNote(checkpoint.note, [key]).text);
  } catch {
    return "checkpoint_invalid";
  }
  if (signed.origin !== checkpointOrigin(instance, checkpoint.stream) || signed.size !== checkpoint.size)
    return "checkpoint_invalid";
  const place = (record: Pick<AuditRecord, "seq" | "stream_seq">): number =>
    checkpoint.stream === wholeLog ? record.seq : record.stream_seq;
  const range = new CompactRange(0, [], sha256);
  for await (const page of pages) {
    for (const record of page) {
      if (range.size === signed.size) break;
      if (place(record) !== range.size + 1) return "event_missing";
      range.appendHash(auditLeaf(record, sha256));
    }
    if (range.size === signed.size) break;
  }
  if (range.size !== signed.size) return "event_missing";
  return bytesEqual(range.root(), signed.root) ? undefined : "root_differs";
}

/** The records of one stream in order, or of the whole log, page by page. */
export async function* recordsInOrder(store: DocumentStore, stream: string): AsyncGenerator<readonly AuditRecord[]> {
  let cursor: string | undefined;
  const [index, prefix] = stream === wholeLog ? ["seq", []] : ["stream", [stream]];
  do {
    const page = await store.list("audit", index as string, prefix as string[], {
      limit: 1000,
      ...(cursor === undefined ? {} : { cursor }),
    });
    yield page.items.map(({ doc }) => doc as unknown as AuditRecord);
    cursor = page.cursor;
  } while (cursor !== undefined);
}
