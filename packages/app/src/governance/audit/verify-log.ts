import { bytesEqual } from "@seneschal/crypto";
import { CompactRange, type NoteKey } from "@seneschal/crypto/merkle";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { archivedLog, changedBehind, tiledLeaves, wrongArchivedTile } from "../../platform/audit-log/index.ts";
import { checkpointsOf, isVouchedFor } from "./checkpoints.ts";
import { governanceLog } from "./form.ts";
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

/**
 * Reads the whole log of a stream from the store again and compares it with every kept checkpoint and, if given, the caller's own. Records that are archived
 * stand there by their hashes: those are what was signed when they were archived, or the log is not valid.
 */
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
  let range = new CompactRange(0, [], sha256);
  const rootNow = (): string => Buffer.from(range.root()).toString("base64");
  let bad: number | null = null;
  let judged = 0;
  const judge = (): void => {
    for (; claims[judged]?.size === range.size; judged += 1) if (claims[judged]?.root !== rootNow()) bad ??= range.size;
  };
  /** What is wrong with record `number` is wrong with every checkpoint that counts it. */
  const wrongFrom = (number: number): void => {
    const first = claims.find(({ size }) => size >= number)?.size ?? number;
    bad = Math.min(bad ?? first, first);
  };
  judge();
  const archived = await archivedLog(store, stream, { form: governanceLog, instance: key.name, key });
  if (archived === "damaged") wrongFrom(1);
  else if (archived !== undefined) {
    const { size } = archived.range;
    for await (const leaf of tiledLeaves(store, stream, size)) {
      range.appendHash(leaf);
      judge();
    }
    if (!bytesEqual(range.root(), archived.range.root())) bad ??= claims[judged]?.size ?? size;
    range = new CompactRange(size, archived.range.hashes, sha256);
    for (; (claims[judged]?.size ?? size) < size; judged += 1);
    judge();
    const tile = await wrongArchivedTile(store, stream, { range: archived.range, sha256 });
    if (tile !== undefined) wrongFrom(tile + 1);
    const changed = await changedBehind(store, stream, { form: governanceLog, archived: size });
    if (changed !== undefined) wrongFrom(changed);
  }
  for await (const leaf of leavesOf(store, stream, range.size + 1)) {
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
