import { CompactRange, type NoteKey } from "@seneschal/crypto/merkle";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { checkpointsOf, isVouchedFor } from "./checkpoints.ts";
import { leavesOf } from "./records.ts";
import { sha256 } from "./sha256.ts";

/** A claim about a log: the root over its first `size` records, base64. */
export interface LogClaim {
  readonly size: number;
  readonly root: string;
}

export interface AuditVerdict {
  readonly valid: boolean;
  readonly records: number;
  readonly root: string;
  readonly checkpoints: number;
  /** Size of the first checkpoint that the log does not agree with. */
  readonly first_bad_checkpoint: number | null;
  /** Records that a checkpoint counts and the log lacks. */
  readonly missing: number;
}

/** Reads the whole log of a stream from the store again and compares it with every kept checkpoint and, if given, the caller's own. */
export async function verifyLog(store: DocumentStore, stream: string, key: NoteKey, own?: LogClaim): Promise<AuditVerdict> {
  const claims: LogClaim[] = own === undefined ? [] : [own];
  let unsigned: number | null = null;
  for await (const checkpoint of checkpointsOf(store, stream)) {
    claims.push({ size: checkpoint.size, root: checkpoint.root });
    if (!isVouchedFor(key, checkpoint)) unsigned ??= Number.isSafeInteger(checkpoint.size) ? checkpoint.size : 0;
    // A signature takes a while, and there may be thousands: others are served in between.
    await new Promise((resolve) => setImmediate(resolve));
  }
  claims.sort((a, b) => a.size - b.size);
  const range = new CompactRange(0, [], sha256);
  const rootNow = (): string => Buffer.from(range.root()).toString("base64");
  let bad: number | null = null;
  let judged = 0;
  const judge = (): void => {
    for (; claims[judged]?.size === range.size; judged += 1) if (claims[judged]?.root !== rootNow()) bad ??= range.size;
  };
  judge();
  for await (const leaf of leavesOf(store, stream)) {
    range.append(leaf);
    judge();
  }
  // The rest speaks of records that are not there.
  bad ??= claims[judged]?.size ?? unsigned;
  return {
    valid: bad === null,
    records: range.size,
    root: rootNow(),
    checkpoints: claims.length,
    first_bad_checkpoint: bad,
    missing: Math.max(0, (claims.at(-1)?.size ?? 0) - range.size),
  };
}
