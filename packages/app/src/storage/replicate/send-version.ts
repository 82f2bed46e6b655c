import type { Replica, ReplicaPart, ReplicaTarget } from "@seneschal/adapters/replicas";
import { type ReplicationOutcome, storageErrorKind, type WaitingCopy } from "@seneschal/core/storage";
import { type CodedError, isCoded } from "@seneschal/kernel";
import { readObject } from "../objects/read-object.ts";
import type { ObjectServices } from "../objects/services.ts";
import type { ObjectDoc, PartDoc } from "../schema.ts";

/** What came of sending a version. `error`: why it was not taken. */
export interface Sent {
  readonly outcome: ReplicationOutcome;
  readonly error?: Error;
  /** Its copy is there, under its name: what was not taken is what is said of it. */
  readonly there: boolean;
}

interface Sending {
  readonly services: ObjectServices;
  readonly target: ReplicaTarget;
  /** Versions may be held there. */
  readonly locks: boolean;
  readonly signal: AbortSignal;
}

/** Sends a version to the bucket that it waits to be copied to. Throws what the store throws, and when `signal` aborts. */
export async function sendVersion(
  { services, target, locks, signal }: Sending,
  entry: WaitingCopy,
  doc: ObjectDoc,
): Promise<Sent> {
  const { key, version, into } = entry;
  const reading: Reading = { services };
  let there = entry.sent === true;
  try {
    if (doc.delete_marker === true) await target.putMarker(into, { key, version }, signal);
    else {
      const replica = await replicaOf(reading, version, doc, locks);
      // A server that names versions anew has it as it is now; where it has its name it may be one that came before its answer was lost.
      const { named } = there ? { named: true } : await target.put(into, replica, signal);
      there = named;
      if (entry.described === true && named) await target.describe(into, replica, locks, signal);
    }
    return { outcome: "taken", there };
  } catch (error) {
    signal.throwIfAborted();
    // The server was told nothing wrong: what ends the sending early is the reading.
    if (reading.error !== undefined)
      return { outcome: unreadable(reading.error) ? "refused" : "withheld", error: reading.error, there };
    if (!isCoded(error, ...(Object.keys(outcomes) as (keyof typeof outcomes)[]))) throw error;
    return { outcome: outcomes[(error as CodedError<keyof typeof outcomes>).code], error, there };
  }
}

const outcomes = {
  replica_unreached: "unreached",
  replica_withheld: "withheld",
  replica_full: "full",
  replica_denied: "denied",
  replica_refused: "refused",
} as const;

/** A failure that a repetition does not end: chunks that are lost, a key that does not exist any more. */
function unreadable(error: Error): boolean {
  return storageErrorKind(error)?.s3?.status === 500;
}

/** How the bytes of a version are read. */
interface Reading {
  readonly services: ObjectServices;
  error?: Error;
}

async function replicaOf(reading: Reading, version: string, doc: ObjectDoc, locks: boolean): Promise<Replica> {
  const { key, etag, content_type: contentType, headers, meta, tags = [], retention, legal_hold, body } = doc;
  const now = reading.services.context.clock.now();
  const held = locks && retention !== undefined && retention.until > now;
  return {
    key,
    version,
    contentType,
    etag,
    headers,
    meta,
    tags,
    ...(held && { retention: { mode: retention.mode, until: retention.until } }),
    ...(locks && legal_hold !== undefined && { legalHold: legal_hold }),
    joined: body.kind === "parts",
    parts: await partsOf(reading, doc),
  };
}

async function partsOf(reading: Reading, doc: ObjectDoc): Promise<readonly ReplicaPart[]> {
  const bytes = (start: number, end: number) => readBytes(reading, doc, start, end);
  if (doc.body.kind !== "parts") return [{ size: doc.size, checksums: {}, bytes: () => bytes(0, doc.size) }];
  const { parts } = doc.body;
  const found = await reading.services.context.store.getMany(
    "storage_parts",
    parts.map(({ id }) => id),
  );
  let end = 0;
  return parts.map(({ size }, i) => {
    const start = end;
    end += size;
    const { checksums = {}, etag: md5 } = (found[i]?.doc as PartDoc | undefined) ?? {};
    return { size, checksums, ...(md5 !== undefined && { md5 }), bytes: () => bytes(start, start + size) };
  });
}

async function* readBytes(reading: Reading, doc: ObjectDoc, start: number, end: number): AsyncGenerator<Uint8Array> {
  try {
    // Few are read at a time, one for each lane: they are not among the bodies of clients.
    yield* readObject(reading.services, doc, start, end, { counted: true });
  } catch (error) {
    reading.error = error as Error;
    throw error;
  }
}
