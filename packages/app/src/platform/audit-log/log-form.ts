import type { Sha256 } from "@seneschal/crypto/merkle";
import type { JsonObject } from "@seneschal/kernel";

/** An event of an audit log, with its number in the whole log and in its stream. */
export interface LogRecord {
  readonly seq: number;
  readonly stream: string;
  readonly stream_seq: number;
  readonly event: JsonObject;
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
