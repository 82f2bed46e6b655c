import { checkArgument, type JsonObject } from "@seneschal/kernel";
import type { NoteKey } from "../merkle/checkpoint.ts";
import type { Sha256 } from "../merkle/tree-hash.ts";

/** The log over every stream, by the numbers of the whole: the removal of a whole stream shows here. No stream has this name. */
export const wholeLog = "/all";

/** An event of an audit log, with its number in the whole log and in its stream. */
export interface LogRecord {
  readonly seq: number;
  readonly stream: string;
  readonly stream_seq: number;
  readonly event: JsonObject;
}

/**
 * The number of a record in its stream, or in the whole log.
 *
 * @example
 * ```ts
 * import { numberIn, wholeLog } from "@seneschal/crypto/audit-log";
 * const record = { seq: 9, stream_seq: 4 };
 * console.log(numberIn("acme", record), numberIn(wholeLog, record)); // 4 9
 * ```
 */
export function numberIn(stream: string, record: Pick<LogRecord, "seq" | "stream_seq">): number {
  checkArgument("stream", stream, "string");
  checkArgument("record", record, "object");
  return stream === wholeLog ? record.seq : record.stream_seq;
}

/** How a service hashes and signs its audit log: what whoever reads its archive must know. */
export interface LogForm {
  /** What the manifests of its segments call their format, without the version. */
  readonly segments: string;
  /** The name of the key that signs, as its notes have it. */
  readonly keyName: (instance: string) => string;
  /** The first line of a stream's checkpoints. */
  readonly checkpointOrigin: (instance: string, stream: string) => string;
  /** The first line of what is signed of an archive: no checkpoint has it, so that no checkpoint stands for events that nobody archived. */
  readonly archiveOrigin: (instance: string, stream: string) => string;
  /** Whether checkpoints count the whole log too, beside its streams; otherwise its archive is the first to sign it. */
  readonly signsWhole: boolean;
  readonly sha256: Sha256;
  /** The Merkle leaf of an event, RFC 6962. */
  readonly leaf: (record: LogRecord) => Uint8Array;
}

/** The log of one instance: what its signed notes are held against. */
export interface LogIdentity {
  readonly form: LogForm;
  readonly instance: string;
  readonly key: NoteKey;
}

/** Where the log of a stream is not what was written. */
export interface LogFinding {
  readonly flaw: "checkpoint_invalid" | "checkpoint_missing" | "event_missing" | "root_differs";
  /** The stream, or the whole log. */
  readonly stream: string;
  /** Of the first event that is missing or changed, where that is known. */
  readonly sequence: number | null;
}
