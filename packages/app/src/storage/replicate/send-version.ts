import type { Replica, ReplicaPart, ReplicaTarget } from "@seneschal/adapters/replicas";
import { type ReplicationOutcome, storageErrorKind } from "@seneschal/core/storage";
import { type CodedError, isCoded } from "@seneschal/kernel";
import type { ObjectDoc, PartDoc, ReplicationDoc } from "../documents.ts";
import { readObject } from "../objects/read-object.ts";
import type { ObjectServices } from "../objects/services.ts";

/** What came of sending a version. `error`: why it was not taken. */
export interface Sent {
  readonly outcome: ReplicationOutcome;
  readonly error?: Error;
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
  entry: ReplicationDoc,
  doc: ObjectDoc,
): Promise<Sent> {
  const { key, version, into } = entry;
  const reading: Reading = { services };
  try {
    if (doc.delete_marker === true) await target.putMarker(into, { key, version }, signal);
    else {
      const replica = await replicaOf(reading, version, doc, locks);
      if (entry.sent !== true) await target.put(into, replica, signal);
      // A version that came before its answer was lost is what it was then.
      if (entry.described === true)
        await target.describe(into, replica, locks, signal).catch((error: unknown) => {
          // A server that names versions anew has it as it is now.
          if (entry.sent === true || !isCoded(error, "replica_refused")) throw error;
        });
    }
    return { outcome: "taken" };
  } catch (error) {
    signal.throwIfAborted();
    // The server was told nothing wrong: what ends the sending early is the reading.
    if (reading.error !== undefined) return { outcome: unreadable(reading.error) ? "refused" : "withheld", error: reading.error };
    if (!isCoded(error, "replica_unreached", "replica_withheld", "replica_denied", "replica_refused")) throw error;
    return { outcome: outcomes[(error as CodedError<keyof typeof outcomes>).code], error };
  }
}

const outcomes = {
  replica_unreached: "unreached",
  replica_withheld: "withheld",
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
    const checksums = (found[i]?.doc as PartDoc | undefined)?.checksums ?? {};
    return { size, checksums, bytes: () => bytes(start, start + size) };
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
