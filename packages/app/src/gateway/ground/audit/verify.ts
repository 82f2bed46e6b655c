import { bytesEqual } from "@seneschal/crypto";
import { CompactRange, type NoteKey, type Sha256 } from "@seneschal/crypto/merkle";
import { checkArgument } from "@seneschal/kernel";
import { type ArchivedLog, type AuditFinding, gapLeaf, numberIn } from "../../../platform/audit-log/index.ts";
import { type AuditRecord, auditLeaf } from "./event.ts";
import { type StoredCheckpoint, signedState } from "./sealer.ts";

type Numbered = Pick<AuditRecord, "seq" | "stream" | "stream_seq" | "event">;

/**
 * Judges records against a signed checkpoint: every one there, in order, unchanged, and none cut off; behind it, that none is
 * missing. Where the checkpoint says that a gap was accepted, none may stand. `undefined`: nothing is wrong.
 */
export async function verifyRecords(
  pages: AsyncIterable<readonly Numbered[]>,
  checkpoint: StoredCheckpoint,
  given: {
    readonly instance: string;
    readonly key: NoteKey;
    readonly sha256: Sha256;
    /** Whose checkpoint it is. */
    readonly stream?: string;
    /** What is archived of the log, as it was signed: records go on from there, and those up to there are passed over. */
    readonly archived?: ArchivedLog | undefined;
    /** Sees every perfect subtree of the log's tree; nothing is proven by them unless nothing is wrong. */
    readonly onNode?: Parameters<CompactRange["appendHash"]>[1];
  },
): Promise<AuditFinding | undefined> {
  checkArgument("pages", pages, "object");
  checkArgument("checkpoint", checkpoint, "object");
  checkArgument("given", given, "object");
  const { instance, key, sha256, stream = checkpoint.stream, archived, onNode } = given;
  const found = (flaw: AuditFinding["flaw"], sequence: number | null): AuditFinding => ({ flaw, stream, sequence });
  const signed = signedState(checkpoint, stream, instance, key);
  if (signed === undefined) return found("checkpoint_invalid", null);
  const begun = archived?.range.size ?? 0;
  const range = new CompactRange(begun, archived?.range.hashes ?? [], sha256);
  let next = begun + 1;
  const gaps = signed.gaps.filter(({ first }) => first > begun).values();
  let gap = gaps.next().value;
  const passGaps = (): void => {
    while (gap !== undefined && gap.first === next) {
      for (; next <= gap.last; next += 1) range.appendHash(gapLeaf(stream, next, sha256), onNode);
      gap = gaps.next().value;
    }
  };
  for await (const page of pages) {
    for (const record of page) {
      const number = numberIn(stream, record);
      if (number <= begun) continue;
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
