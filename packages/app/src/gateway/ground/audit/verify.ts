import { bytesEqual } from "@seneschal/crypto";
import { CompactRange, type NoteKey, type Sha256 } from "@seneschal/crypto/merkle";
import { gapLeaf } from "./gaps.ts";
import type { AuditRecord } from "./indexes.ts";
import { auditLeaf } from "./leaf.ts";
import { wholeLog } from "./records.ts";
import { type AuditFinding, type StoredCheckpoint, signedState } from "./sealer.ts";

type Numbered = Pick<AuditRecord, "seq" | "stream" | "stream_seq" | "event">;

/**
 * Judges records against a signed checkpoint: every one there, in order, unchanged, and none cut off; behind it, that none is
 * missing. Where the checkpoint says that a gap was accepted, none may stand. `undefined`: nothing is wrong.
 */
export async function verifyRecords(
  pages: AsyncIterable<readonly Numbered[]>,
  checkpoint: StoredCheckpoint,
  {
    instance,
    key,
    sha256,
    stream = checkpoint.stream,
    onNode,
  }: {
    readonly instance: string;
    readonly key: NoteKey;
    readonly sha256: Sha256;
    /** Whose checkpoint it is. */
    readonly stream?: string;
    /** Sees every perfect subtree of the log's tree; nothing is proven by them unless nothing is wrong. */
    readonly onNode?: Parameters<CompactRange["appendHash"]>[1];
  },
): Promise<AuditFinding | undefined> {
  const found = (flaw: AuditFinding["flaw"], sequence: number | null): AuditFinding => ({ flaw, stream, sequence });
  const signed = signedState(checkpoint, stream, instance, key);
  if (signed === undefined) return found("checkpoint_invalid", null);
  const range = new CompactRange(0, [], sha256);
  let next = 1;
  const gaps = signed.gaps.values();
  let gap = gaps.next().value;
  const passGaps = (): void => {
    while (gap !== undefined && gap.first === next) {
      for (; next <= gap.last; next += 1) range.appendHash(gapLeaf(stream, next, sha256), onNode);
      gap = gaps.next().value;
    }
  };
  for await (const page of pages) {
    for (const record of page) {
      const number = stream === wholeLog ? record.seq : record.stream_seq;
      if (gap !== undefined && gap.first <= number && number <= gap.last) return found("root_differs", number);
      passGaps();
      if (number !== next) return found("event_missing", next);
      if (range.size < signed.size) range.appendHash(auditLeaf(record, sha256), onNode);
      next += 1;
    }
  }
  passGaps();
  if (range.size !== signed.size) return found("event_missing", next);
  if (bytesEqual(range.root(), signed.root)) return undefined;
  return found("root_differs", null);
}
