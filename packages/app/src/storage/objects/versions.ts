import {
  addUsage,
  awaitCopies,
  type Bucket,
  checkObject,
  checkRetentionChange,
  currentAgain,
  needLock,
  pastVersionId,
  type Retention,
  type RetentionChange,
  storageError,
  succeedByReplica,
  succeedVersion,
  usageOf,
  type VersionTarget,
  versionIdOf,
} from "@seneschal/core/storage";
import type { Check, Del, Put, Stored } from "@seneschal/kernel/ports";
import { commit } from "../context.ts";
import { indexedKey, type ObjectDoc } from "../schema.ts";
import { openBucket } from "./buckets.ts";
import { checkKey, objectId } from "./object-id.ts";
import { trashPuts } from "./references.ts";
import { copyPut, descriptionPuts } from "./replication-puts.ts";
import { type ObjectServices, writableShard } from "./services.ts";

/** A version and the record that it is. */
export interface Located {
  readonly coll: "storage_objects" | "storage_versions";
  readonly id: string;
  readonly version: number;
  readonly doc: ObjectDoc;
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
    const earlier = await store.get("storage_versions", pastVersionId(id, version));
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
  readonly checks: readonly Check[];
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
 * Makes `made` the current version of its key after `current`, or what a copy from elsewhere is among its versions. With it is written down
 * where it is to be copied. Throws as {@link succeedVersion} and {@link succeedByReplica}.
 */
export async function succeed(
  services: ObjectServices,
  bucket: Bucket,
  current: Stored | undefined,
  made: ObjectDoc,
  { replica, expiry = false }: Coming = {},
): Promise<Succession> {
  const { store, clock, random } = services.context;
  const now = clock.now();
  const id = objectId(made.bucket, made.key);
  const before = current?.doc as ObjectDoc | undefined;
  const version = current?.version ?? 0;
  const unnamed = bucket.versioning === "Suspended" ? await store.get("storage_versions", pastVersionId(id, "null")) : undefined;
  const step =
    replica === undefined
      ? succeedVersion(bucket, { made, before, unnamed: unnamed?.doc as ObjectDoc | undefined }, now, random)
      : succeedByReplica(bucket, { made, before, known: await isKnown(services, made, replica) }, replica, now);
  const { version: doc, copies } =
    replica === undefined ? awaitCopies(bucket, step.made, now, expiry) : { version: step.made, copies: [] };
  const puts = [...copies.map(copyPut), ...step.gone.flatMap((gone) => trashPuts(services.context, gone.body))];
  if (step.current) puts.unshift({ coll: "storage_objects", id, doc, ifVersion: version });
  const { past } = step;
  if (past !== undefined)
    puts.push({ coll: "storage_versions", id: pastVersionId(id, versionIdOf(past)), doc: past, ifVersion: 0 });
  const dels =
    unnamed !== undefined && step.gone.includes(unnamed.doc as ObjectDoc)
      ? [{ coll: "storage_versions", id: unnamed.id, ifVersion: unnamed.version }]
      : [];
  const checks = step.current ? [] : [{ coll: "storage_objects", id, version }];
  return { doc, puts, dels, checks, ...step.gone.reduce((sum, gone) => addUsage(sum, usageOf(gone), -1), usageOf(doc)) };
}

async function isKnown(services: ObjectServices, { bucket, key }: ObjectDoc, version: string): Promise<boolean> {
  return (await findVersion(services, { bucket, key, version })) !== undefined;
}

/** Makes a delete marker the current version of a key; returns it. */
export async function putDeleteMarker(
  services: ObjectServices,
  bucket: { readonly bucket: Bucket; readonly version: number },
  current: Stored | undefined,
  key: string,
  coming: Coming = {},
): Promise<Succession> {
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
  return { ...next, checks: [...next.checks, check] };
}

/** What ends a version for good: its record goes, and the latest one of the past becomes current in its place. */
export async function removeVersion(
  services: ObjectServices,
  { versioning }: Pick<Bucket, "versioning">,
  found: Located,
): Promise<Pick<Succession, "puts" | "dels" | "bytes" | "objects">> {
  const { doc, coll, id, version } = found;
  const trash = trashPuts(services.context, doc.body);
  const counted = addUsage({ bytes: 0, objects: 0 }, usageOf(doc), -1);
  // A bucket that never had versions has none of the past: nothing is looked for.
  const followed = coll === "storage_objects" && versioning !== undefined;
  const latest = followed ? await latestOfPast(services, doc) : undefined;
  if (latest === undefined) return { puts: trash, dels: [{ coll, id, ifVersion: version }], ...counted };
  return {
    puts: [...trash, { coll, id, doc: currentAgain(latest.doc as ObjectDoc), ifVersion: version }],
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
  checkObject(found?.doc, target);
  return found as Located;
}

/** Keeps a version until a time, longer than it is kept already unless that may be bypassed; `undefined` ends it. Throws as {@link checkRetentionChange}. */
export function retain(
  services: ObjectServices,
  target: VersionTarget,
  retention: Retention | undefined,
  by: RetentionChange,
): Promise<ObjectDoc> {
  const change = (doc: ObjectDoc, bucket: Bucket): ObjectDoc => {
    needLock(bucket);
    checkRetentionChange(doc.retention, retention, services.context.clock.now(), by);
    const { retention: _, ...rest } = doc;
    return { ...rest, ...(retention && { retention: { ...retention } }) } as ObjectDoc;
  };
  return describeVersion(services, target, change, { action: by === "bypass" ? "object.retention.bypass" : "object.retention" });
}

/** Puts a version under a legal hold, or takes it off. */
export function holdLegally(services: ObjectServices, target: VersionTarget, on: boolean): Promise<ObjectDoc> {
  const change = (doc: ObjectDoc, bucket: Bucket): ObjectDoc => {
    needLock(bucket);
    return { ...doc, legal_hold: on };
  };
  return describeVersion(services, target, change, { action: on ? "object.legal_hold.on" : "object.legal_hold.off" });
}
