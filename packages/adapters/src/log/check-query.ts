import { CodedError } from "@seneschal/kernel";
import { type LogErrorCode, type LogHead, maxArchiveBytes } from "@seneschal/kernel/ports";

/** Checks the arguments of `read`. Throws CodedError `invalid_query`. */
export function checkRead(afterSeq: number, limit: number): void {
  if (!Number.isSafeInteger(afterSeq) || afterSeq < 0) throw invalid("afterSeq is no integer from 0");
  if (!Number.isSafeInteger(limit) || limit < 1) throw invalid("limit is no integer from 1");
}

/** Checks that a snapshot is of something that the log holds. Throws CodedError `invalid_query`. */
export function checkSnapshotSeq(seq: number, head: LogHead): void {
  if (!Number.isSafeInteger(seq) || seq < 1 || seq > head.seq)
    throw invalid(`no snapshot can be at ${seq}: the head is ${head.seq}`);
}

/** Checks what is to be archived. Throws CodedError `invalid_query`. */
export function checkPiece(piece: number, bytes?: Uint8Array): void {
  if (!Number.isSafeInteger(piece) || piece < 0) throw invalid("piece is no integer from 0");
  if (bytes !== undefined && bytes.length > maxArchiveBytes)
    throw invalid(`an archived piece holds at most ${maxArchiveBytes} bytes, not ${bytes.length}`);
}

/** The failure of a reader below the truncation. */
export function truncated(afterSeq: number, firstSeq: number): CodedError<LogErrorCode> {
  return new CodedError("log_truncated", `entry ${afterSeq + 1} is truncated, the log starts at ${firstSeq}`, { firstSeq });
}

/** The failure of a truncation that no snapshot covers. */
export function uncovered(throughSeq: number, snapshotSeq: number): CodedError<LogErrorCode> {
  return new CodedError(
    "snapshot_missing",
    `nothing covers entries up to ${throughSeq}: the newest snapshot is at ${snapshotSeq}`,
    {
      snapshotSeq,
    },
  );
}

function invalid(message: string): CodedError<LogErrorCode> {
  return new CodedError("invalid_query", message);
}

/** How many snapshots a log keeps. */
export const keptSnapshots = 3;
