import { CodedError } from "../errors.ts";
import type { LogErrorCode, LogHead } from "../ports/replicated-log.ts";
import { headerLine, joinBytes, splitHeader } from "./ascii-json.ts";
import type { Sha256 } from "./entry.ts";

/** What a snapshot says about its state. */
export interface SnapshotHeader {
  readonly head: LogHead;
  readonly at: number;
  readonly hash: string;
  /** {@link chunkHashes} of the machine's bytes, hashed. */
  readonly bodyHash: string;
}

/** The word and the version of the header. A body has its machine's own. */
const magic = "snapshot 2";

const chunkBytes = 1 << 20;

/** The hex SHA-256 of every MiB, one by one, so that a large body can be hashed with other work between them. */
export function* chunkHashes(sha256: Sha256, body: Uint8Array): IterableIterator<string> {
  for (let at = 0; at < body.length; at += chunkBytes) yield sha256(body.subarray(at, at + chunkBytes));
}

/** A snapshot: one line of ASCII JSON, then the machine's own bytes. */
export function encodeSnapshot({ head, at, hash, bodyHash }: SnapshotHeader, body: Uint8Array): Uint8Array {
  return joinBytes([headerLine([magic, head.seq, head.batchId, at, hash, bodyHash]), body]);
}

/** Reads a snapshot. Throws CodedError `snapshot_invalid`, or `log_version` with the name of a version that is not this one. */
export function decodeSnapshot(bytes: Uint8Array): { readonly header: SnapshotHeader; readonly body: Uint8Array } {
  try {
    const { header, body } = splitHeader(bytes);
    const [found, seq, batchId, at, hash, bodyHash] = header as [string, number, string, number, string, string];
    if (typeof found === "string" && /^snapshot [0-9]+$/.test(found) && found !== magic)
      throw new CodedError<LogErrorCode>("log_version", `the log has a ${found}, this code knows ${magic}`);
    if (found !== magic || !Number.isSafeInteger(seq)) throw new TypeError("another format");
    return { header: { head: { seq, batchId }, at, hash, bodyHash }, body };
  } catch (error) {
    if (error instanceof CodedError) throw error;
    throw new CodedError<LogErrorCode>("snapshot_invalid", "the snapshot has no readable header", {}, error);
  }
}
