import { CodedError } from "../errors.ts";
import type { LogErrorCode, LogHead } from "../ports/replicated-log.ts";
import { headerLine, joinBytes, splitHeader } from "./ascii-json.ts";

/** What a snapshot says about its state. */
export interface SnapshotHeader {
  readonly head: LogHead;
  readonly at: number;
  readonly hash: string;
  /** Hex SHA-256 of the machine's bytes. */
  readonly bodyHash: string;
}

const magic = "snapshot 1";

/** A snapshot: one line of ASCII JSON, then the machine's own bytes. */
export function encodeSnapshot({ head, at, hash, bodyHash }: SnapshotHeader, body: Uint8Array): Uint8Array {
  return joinBytes([headerLine([magic, head.seq, head.batchId, at, hash, bodyHash]), body]);
}

/** Reads a snapshot. Throws CodedError `snapshot_invalid`. */
export function decodeSnapshot(bytes: Uint8Array): { readonly header: SnapshotHeader; readonly body: Uint8Array } {
  try {
    const { header, body } = splitHeader(bytes);
    const [found, seq, batchId, at, hash, bodyHash] = header as [string, number, string, number, string, string];
    if (found !== magic || !Number.isSafeInteger(seq)) throw new TypeError("another format");
    return { header: { head: { seq, batchId }, at, hash, bodyHash }, body };
  } catch (error) {
    throw new CodedError<LogErrorCode>("snapshot_invalid", "the snapshot has no readable header", {}, error);
  }
}
