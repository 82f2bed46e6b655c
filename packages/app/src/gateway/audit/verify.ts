import type { DocumentStore } from "@seneschal/core/ports";
import { bytesEqual } from "@seneschal/crypto";
import { CompactRange, type NoteKey, type Sha256 } from "@seneschal/crypto/merkle";
import type { AuditRecord } from "./indexes.ts";
import { auditLeaf } from "./leaf.ts";
import { type AuditFinding, type StoredCheckpoint, signedState, wholeLog } from "./sealer.ts";

type Numbered = Pick<AuditRecord, "seq" | "stream" | "stream_seq" | "event">;

/**
 * Judges records against a signed checkpoint: every one there, in order, unchanged, and none cut off; behind it, that none is
 * missing. `undefined`: nothing is wrong.
 */
export async function verifyRecords(
  pages: AsyncIterable<readonly Numbered[]>,
  checkpoint: StoredCheckpoint,
  {
    instance,
    key,
    sha256,
    stream = checkpoint.stream,
  }: {
    readonly instance: string;
    readonly key: NoteKey;
    readonly sha256: Sha256;
    /** Whose checkpoint it is. */
    readonly stream?: string;
  },
): Promise<AuditFinding | undefined> {
  const found = (flaw: AuditFinding["flaw"], sequence: number | null): AuditFinding => ({ flaw, stream, sequence });
  const signed = signedState(checkpoint, stream, instance, key);
  if (signed === undefined) return found("checkpoint_invalid", null);
  const range = new CompactRange(0, [], sha256);
  let next = 1;
  for await (const page of pages) {
    for (const record of page) {
      if ((stream === wholeLog ? record.seq : record.stream_seq) !== next) return found("event_missing", next);
      if (range.size < signed.size) range.appendHash(auditLeaf(record, sha256));
      next += 1;
    }
  }
  if (range.size !== signed.size) return found("event_missing", next);
  if (bytesEqual(range.root(), signed.root)) return undefined;
  return found("root_differs", null);
}

/** So many records are read and hashed at once: requests wait for no more than that. */
const PAGE = 250;

/** The records of one stream in order, or of the whole log, page by page. */
export async function* recordsInOrder(store: DocumentStore, stream: string): AsyncGenerator<readonly AuditRecord[]> {
  let cursor: string | undefined;
  const [index, prefix] = stream === wholeLog ? ["seq", []] : ["stream", [stream]];
  do {
    const page = await store.list("audit", index as string, prefix as string[], {
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    yield page.items.map(({ doc }) => doc as unknown as AuditRecord);
    cursor = page.cursor;
  } while (cursor !== undefined);
}
