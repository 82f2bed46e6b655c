import {
  type Bucket,
  checkDeletable,
  checkRetentionChange,
  needLock,
  objectError,
  placeOfReplica,
  type Retention,
  storageError,
  type VersionTarget,
  versionIdOf,
} from "@seneschal/core/storage";
import type { Check, Del, Put, Stored } from "@seneschal/kernel/ports";
import { commit } from "../context.ts";
import type { ObjectDoc } from "../documents.ts";
import { indexedKey } from "../schema.ts";
import { openBucket } from "./buckets.ts";
import { checkKey, objectId } from "./object-id.ts";
import { descriptionPuts, replicationPuts } from "./replication-puts.ts";
import { type ObjectServices, writableShard } from "./services.ts";
import { trashPuts } from "./trash.ts";
import { figureOf, plus } from "./version-figures.ts";

/** A version and the record that it is. */
interface Located {
  readonly coll: "storage_objects" | "storage_versions";
  readonly id: string;
  readonly version: number;
  readonly doc: ObjectDoc;
}

/** Greater for later versions of one key. */
export function ordinalOf({ ordinal, modified_at }: Pick<ObjectDoc, "ordinal" | "modified_at">): number {
  return ordinal ?? modified_at;
}

/** The record of a version that is not current. */
export function versionDocId(object: string, version: string): string {
  return `${object}.${version}`;
}

/** The ordinal that a version id begins with; `undefined` for `null`, and for what is no version id. */
export function ordinalOfId(version: string): number | undefined {
  return /^[0-9a-f]{32}$/.test(version) ? Number.parseInt(version.slice(0, 12), 16) : undefined;
}

/** The id of a new version. It carries its ordinal, so that a listing goes on behind a version that is gone meanwhile. */
function newVersionId({ context }: ObjectServices, ordinal: number): string {
  return ordinal.toString(16).padStart(12, "0") + Buffer.from(context.random(10)).toString("hex");
}

/** The record of a version, of whatever kind; `undefined` when there is none. */
export async function findVersion(
  { context: { store } }: ObjectServices,
  { bucket, key, version }: Pick<VersionTarget, "bucket" | "key" | "version">,
): Promise<Located | undefined> {
  const id = objectId(bucket, key);
  // One that moves between the two places meanwhile is met when it is looked for again.
  for (let attempt = 0; attempt < 2; attempt++) {
    const current = await store.get("storage_objects", id);
    if (current !== undefined && (version === undefined || versionIdOf(current.doc as ObjectDoc) === version))
      return { coll: "storage_objects", id, version: current.version, doc: current.doc as ObjectDoc };
    if (version === undefined) return undefined;
    const earlier = await store.get("storage_versions", versionDocId(id, version));
    if (earlier !== undefined)
      return { coll: "storage_versions", id: earlier.id, version: earlier.version, doc: earlier.doc as ObjectDoc };
  }
  return undefined;
}

/** What a commit does besides. */
export interface Succession {
  readonly doc: ObjectDoc;
  readonly puts: readonly Put[];
  readonly dels: readonly Del[];
  readonly checks?: readonly Check[];
  /** How the shard's figures change. */
  readonly bytes: number;
  readonly objects: number;
}

/** How a version comes to be. */
export interface Coming {
  /** The version elsewhere that it is a copy of. */
  readonly replica?: string | undefined;
  /** It is the doing of the bucket's lifecycle, which is copied nowhere: each bucket has its own. */
  readonly expiry?: boolean;
}

/**
 * Makes `made` the current version of its key after `current`, as the bucket's versioning has it: what was current becomes a version
 * of the past, or is replaced where it has the same name, `null`. With it is written down where it is to be copied. A copy from elsewhere
 * keeps its name and its place among the versions. Throws `ObjectLocked` when that may not go.
 */
export async function succeed(
  services: ObjectServices,
  bucket: Bucket,
  current: Stored | undefined,
  { replica: _, replication: __, ...plain }: ObjectDoc,
  { replica, expiry = false }: Coming = {},
): Promise<Succession> {
  const made = plain as ObjectDoc;
  if (replica !== undefined) return takeReplica(services, bucket, current, made, replica);
  const { store, clock } = services.context;
  const before = current?.doc as ObjectDoc | undefined;
  const id = objectId(made.bucket, made.key);
  const own = (doc: ObjectDoc): Put => ({ coll: "storage_objects", id, doc, ifVersion: current?.version ?? 0 });
  const ordinal = before === undefined ? clock.now() : Math.max(clock.now(), ordinalOf(before) + 1);
  const named =
    bucket.versioning === undefined
      ? {}
      : { ordinal, version_id: bucket.versioning === "Enabled" ? newVersionId(services, ordinal) : "null" };
  const copies = replicationPuts(services, bucket, { ...made, ...named }, expiry);
  const doc = copies.doc;
  const puts: Put[] = [own(doc), ...copies.puts];
  const dels: Del[] = [];
  const gone: ObjectDoc[] = [];
  const kept = before !== undefined && versionIdOf(before) !== versionIdOf(doc);
  if (kept) {
    const past = { ...before, superseded_at: clock.now() };
    puts.push({ coll: "storage_versions", id: versionDocId(id, versionIdOf(before)), doc: past, ifVersion: 0 });
  } else if (before !== undefined) gone.push(before);
  if (kept && versionIdOf(doc) === "null") {
    const replaced = await store.get("storage_versions", versionDocId(id, "null"));
    if (replaced !== undefined) {
      dels.push({ coll: "storage_versions", id: replaced.id, ifVersion: replaced.version });
      gone.push(replaced.doc as ObjectDoc);
    }
  }
  for (const version of gone) checkDeletable(version, clock.now(), false);
  puts.push(...gone.flatMap((version) => trashPuts(services, version)));
  return { doc, puts, dels, ...gone.reduce((sum, version) => plus(sum, figureOf(version), -1), figureOf(doc)) };
}

/** How far the clock of where a copy comes from may be ahead of ours. */
const aheadMs = 86_400_000;

/** The ordinal of a version that is copied to the bucket. Throws `InvalidRequest`, `InvalidArgument` for one that cannot be taken. */
export function replicaOrdinal({ context }: ObjectServices, { versioning }: Bucket, replica: string): number {
  if (versioning !== "Enabled") throw objectError("InvalidRequest", "copies are taken by buckets whose versioning is Enabled");
  const ordinal = ordinalOfId(replica);
  // What is written after it has to come after it: nothing may take the end of time.
  if (ordinal === undefined || ordinal > context.clock.now() + aheadMs)
    throw objectError("InvalidArgument", "the version to copy is of a time that is still to come");
  return ordinal;
}

const placeOf = (doc: ObjectDoc) => ({ version: versionIdOf(doc), ordinal: ordinalOf(doc) });

/** A copy takes the place among the versions of its key that it has elsewhere. Throws `OperationAborted` when it was taken meanwhile. */
async function takeReplica(
  services: ObjectServices,
  bucket: Bucket,
  current: Stored | undefined,
  made: ObjectDoc,
  replica: string,
): Promise<Succession> {
  const ordinal = replicaOrdinal(services, bucket, replica);
  const { clock } = services.context;
  const id = objectId(made.bucket, made.key);
  if ((await findVersion(services, { bucket: made.bucket, key: made.key, version: replica })) !== undefined)
    throw objectError("OperationAborted", "the version is there by now");
  const doc: ObjectDoc = { ...made, modified_at: ordinal, ordinal, version_id: replica, replica: true };
  const past = (version: ObjectDoc): Put => ({
    coll: "storage_versions",
    id: versionDocId(id, versionIdOf(version)),
    doc: { ...version, superseded_at: clock.now() },
    ifVersion: 0,
  });
  const before = current?.doc as ObjectDoc | undefined;
  if (before !== undefined && placeOfReplica(placeOf(before), { version: replica, ordinal }) === "past")
    return {
      doc,
      puts: [past(doc)],
      dels: [],
      checks: [{ coll: "storage_objects", id, version: current?.version ?? 0 }],
      ...figureOf(doc),
    };
  const own = { coll: "storage_objects", id, doc, ifVersion: current?.version ?? 0 };
  return { doc, puts: [own, ...(before === undefined ? [] : [past(before)])], dels: [], ...figureOf(doc) };
}

/** Makes a delete marker the current version of a key; returns it. */
export async function putDeleteMarker(
  services: ObjectServices,
  bucket: { readonly bucket: Bucket; readonly version: number },
  current: Stored | undefined,
  key: string,
  coming: Coming = {},
): Promise<Succession & { readonly checks: readonly Check[] }> {
  const marker: ObjectDoc = {
    bucket: bucket.bucket.name,
    key,
    tenant: bucket.bucket.tenant,
    size: 0,
    etag: "",
    content_type: "",
    headers: {},
    meta: {},
    modified_at: services.context.clock.now(),
    delete_marker: true,
    body: { kind: "none" },
  };
  const next = await succeed(services, bucket.bucket, current, marker, coming);
  const check = { coll: "storage_buckets", id: bucket.bucket.name, version: bucket.version };
  return { ...next, checks: [...(next.checks ?? []), check] };
}

/** What ends a version for good: its record goes, and the latest one of the past becomes current in its place. */
export async function removeVersion(
  services: ObjectServices,
  { versioning }: Pick<Bucket, "versioning">,
  found: Located,
): Promise<Pick<Succession, "puts" | "dels" | "bytes" | "objects">> {
  const { doc, coll, id, version } = found;
  const trash = trashPuts(services, doc);
  const counted = plus({ bytes: 0, objects: 0 }, figureOf(doc), -1);
  // A bucket that never had versions has none of the past: nothing is looked for.
  const followed = coll === "storage_objects" && versioning !== undefined;
  const latest = followed ? await latestOfPast(services, doc) : undefined;
  if (latest === undefined) return { puts: trash, dels: [{ coll, id, ifVersion: version }], ...counted };
  const { superseded_at: _, ...current } = latest.doc as ObjectDoc;
  return {
    puts: [...trash, { coll, id, doc: current, ifVersion: version }],
    dels: [{ coll: "storage_versions", id: latest.id, ifVersion: latest.version }],
    ...counted,
  };
}

async function latestOfPast({ context }: ObjectServices, { bucket, key }: ObjectDoc): Promise<Stored | undefined> {
  for await (const found of pastVersions(context.store, bucket, key)) return found;
  return undefined;
}

/** Versions of a key that are not current, the latest first. */
export async function* pastVersions(
  store: ObjectServices["context"]["store"],
  bucket: string,
  key: string,
): AsyncGenerator<Stored> {
  let cursor: string | undefined;
  do {
    const page = await store.list("storage_versions", "by_key", [bucket, indexedKey(key)], {
      limit: 100,
      ...(cursor === undefined ? {} : { cursor }),
    });
    // Longer keys share what the index has of them.
    yield* page.items.filter(({ doc }) => doc["key"] === key);
    cursor = page.cursor;
  } while (cursor !== undefined);
}

/**
 * Changes what is told of a version, never its bytes: tags, retention, legal hold. Returns it as it is then. Throws `NotFound`,
 * `NoSuchVersion`, `MethodNotAllowed` for a delete marker, and what `change` throws.
 */
export async function describeVersion(
  services: ObjectServices,
  target: VersionTarget,
  change: (doc: ObjectDoc, bucket: Bucket) => ObjectDoc,
  event?: { readonly action: string },
): Promise<ObjectDoc> {
  const { bucket, key, tenant } = target;
  for (let attempt = 0; attempt < 50; attempt++) {
    const { bucket: owner } = await openBucket(services, tenant, bucket, attempt > 0);
    const shard = await writableShard(services, bucket, key);
    const found = await openVersion(services, target);
    const { doc, puts } = await descriptionPuts(services, owner, change(found.doc, owner));
    const audit = event && [{ stream: "storage", event: { ...event, tenant, bucket, key, version: versionIdOf(doc) } }];
    const put = { coll: found.coll, id: found.id, doc, ifVersion: found.version };
    if (!(await commit(services.context.store, { puts: [put, ...puts], ...(audit && { audit }) })).ok) continue;
    services.shards.changed(shard.id, 0, 0);
    return doc;
  }
  throw storageError("ShardUnavailable", "too many writers of one key, try again");
}

/** A version that holds an object. Throws as {@link describeVersion} does. */
export async function openVersion(services: ObjectServices, target: VersionTarget): Promise<Located> {
  checkKey(target.key);
  const found = await findVersion(services, target);
  if (found === undefined) {
    if (target.version === undefined) throw storageError("NotFound", "the object does not exist", { bucket: target.bucket });
    throw objectError("NoSuchVersion", "the object has no such version", { elements: { VersionId: target.version } });
  }
  if (found.doc.delete_marker !== true) return found;
  const details = {
    headers: {
      "x-amz-delete-marker": "true",
      "x-amz-version-id": versionIdOf(found.doc),
      ...(target.version !== undefined && {
        allow: "DELETE",
        "last-modified": new Date(found.doc.modified_at).toUTCString(),
      }),
    },
  };
  if (target.version === undefined) throw storageError("NotFound", "the object is deleted", details);
  throw objectError("MethodNotAllowed", "the version is a delete marker", details);
}

/** Keeps a version until a time, longer than it is kept already unless that may be bypassed; `undefined` ends it. */
export function retain(
  services: ObjectServices,
  target: VersionTarget,
  retention: Retention | undefined,
  bypass: boolean,
): Promise<ObjectDoc> {
  const change = (doc: ObjectDoc, bucket: Bucket): ObjectDoc => {
    needLock(bucket);
    checkRetentionChange(doc.retention, retention, services.context.clock.now(), bypass);
    const { retention: _, ...rest } = doc;
    return { ...rest, ...(retention && { retention: { ...retention } }) } as ObjectDoc;
  };
  return describeVersion(services, target, change, { action: bypass ? "object.retention.bypass" : "object.retention" });
}

/** Puts a version under a legal hold, or takes it off. */
export function holdLegally(services: ObjectServices, target: VersionTarget, on: boolean): Promise<ObjectDoc> {
  const change = (doc: ObjectDoc, bucket: Bucket): ObjectDoc => {
    needLock(bucket);
    return { ...doc, legal_hold: on };
  };
  return describeVersion(services, target, change, { action: on ? "object.legal_hold.on" : "object.legal_hold.off" });
}
