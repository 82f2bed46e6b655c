import {
  type Bucket,
  destinationKey,
  type ReplicationDestination,
  type ReplicationState,
  rulesCovering,
  versionIdOf,
} from "@seneschal/core/storage";
import type { Put } from "@seneschal/kernel/ports";
import { everyDocument } from "../../platform/index.ts";
import { commit } from "../context.ts";
import type { ObjectDoc, ReplicationDoc } from "../documents.ts";
import { objectId } from "./object-id.ts";
import type { ObjectServices } from "./services.ts";

/** What waits to be copied of a version to one destination is one record: writing it down again changes nothing. */
function replicationId(doc: Pick<ObjectDoc, "bucket" | "key" | "version_id">, destination: ReplicationDestination): string {
  return `${objectId(doc.bucket, doc.key)}.${versionIdOf(doc)}.${destinationKey(destination)}`;
}

/** That a version waits to be copied to one destination; `there`: it is, and only what is said of it waits. */
export function replicationPut(
  { clock }: ObjectServices["context"],
  { bucket, key, size, version_id, ordinal, modified_at }: ObjectDoc,
  { name, bucket: into }: ReplicationDestination,
  there = false,
): Put {
  const doc: ReplicationDoc = {
    destination: name,
    into,
    bucket,
    key,
    version: versionIdOf({ ...(version_id !== undefined && { version_id }) }),
    ordinal: ordinal ?? modified_at,
    size,
    at: clock.now(),
    ...(there && { sent: true, described: true }),
  };
  const id = replicationId({ bucket, key, ...(version_id !== undefined && { version_id }) }, { name, bucket: into });
  return { coll: "storage_replications", id, doc, ifVersion: 0 };
}

/**
 * A version whose tags or lock changed, and what is written down so that its copies change too. A version that was refused stays so; one
 * to where no rule copies any more stays what it was.
 */
export async function descriptionPuts(
  { context }: ObjectServices,
  { replication }: Bucket,
  doc: ObjectDoc,
): Promise<{ readonly doc: ObjectDoc; readonly puts: readonly Put[] }> {
  const states = doc.replication;
  if (states === undefined || replication === undefined || doc.delete_marker === true) return { doc, puts: [] };
  const puts: Put[] = [];
  const pending: Record<string, ReplicationState> = { ...states };
  for (const { enabled, destination } of replication.rules) {
    const name = destinationKey(destination);
    const id = replicationId(doc, destination);
    if (!enabled || states[name] === undefined || states[name] === "FAILED" || puts.some((put) => put.id === id)) continue;
    const waiting = await context.store.get("storage_replications", id);
    const put = replicationPut(context, doc, destination, true);
    puts.push(waiting === undefined ? put : { ...put, doc: { ...waiting.doc, described: true }, ifVersion: waiting.version });
    pending[name] = "PENDING";
  }
  return { doc: { ...doc, replication: pending }, puts };
}

/** After a restore, which brings versions that wait to be copied and not what is written down of them. */
export async function awaitReplication(context: ObjectServices["context"]): Promise<void> {
  const { store } = context;
  for await (const { doc } of everyDocument(store, "storage_buckets", "replicated")) {
    const { name, replication } = doc as Bucket;
    if (replication === undefined) continue;
    for (const [coll, index] of [
      ["storage_objects", "all"],
      ["storage_versions", "by_key"],
    ] as const)
      for await (const version of everyDocument(store, coll, index, [name])) {
        const found = version.doc as ObjectDoc;
        for (const { destination } of replication.rules)
          if (found.replication?.[destinationKey(destination)] === "PENDING") {
            const put = replicationPut(context, found, destination);
            // Whatever of it was copied already.
            await commit(store, { puts: [{ ...put, doc: { ...put.doc, described: true } }] });
          }
      }
  }
}

/** A new version with what it says of its copies, and what is written down of each: both are there, or the version is not. */
export function replicationPuts(
  { context }: ObjectServices,
  { replication, versioning }: Bucket,
  doc: ObjectDoc,
  expiry: boolean,
): { readonly doc: ObjectDoc; readonly puts: readonly Put[] } {
  if (replication === undefined || versioning !== "Enabled" || expiry) return { doc, puts: [] };
  const destinations = rulesCovering(replication.rules, doc).map(({ destination }) => destination);
  if (destinations.length === 0) return { doc, puts: [] };
  const states = Object.fromEntries(destinations.map((destination) => [destinationKey(destination), "PENDING" as const]));
  const pending: ObjectDoc = { ...doc, replication: states };
  return { doc: pending, puts: destinations.map((destination) => replicationPut(context, pending, destination)) };
}
