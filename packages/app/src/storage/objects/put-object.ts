import { createHash } from "node:crypto";
import {
  type Body,
  type Bucket,
  type Conditions,
  checkDescription,
  checkWrite,
  lockedByDefault,
  type ObjectDraft,
  type ObjectEventName,
  objectError,
  replicaOrdinal,
  storageError,
} from "@seneschal/core/storage";
import type { Stored } from "@seneschal/kernel/ports";
import { noticePuts } from "../notify/notice-puts.ts";
import type { ObjectDoc } from "../schema.ts";
import { expectRoom } from "./bucket-usage.ts";
import { type FoundBucket, openBucket } from "./buckets.ts";
import type { ObjectsDraft } from "./commit-objects.ts";
import { customerKeyFor, encryptBody } from "./customer-key.ts";
import { checkKey, objectId } from "./object-id.ts";
import { type ObjectServices, writableShard } from "./services.ts";
import { storeBody, whileStored } from "./store-body.ts";
import { findVersion, type Succession, succeed } from "./versions.ts";

/**
 * Stores an object; it is there, whole and durable, when this resolves. When it throws, the key has what it had, or all of the
 * new object where `ShardUnavailable` came of an unknown outcome: never less than one of the two. The last writer of a key
 * wins unless conditions say otherwise. Throws `QuotaExceeded`, and what the pool, the keys and the shard throw.
 */
export async function putObject(services: ObjectServices, input: ObjectDraft): Promise<ObjectDoc> {
  checkKey(input.key);
  checkDescription(input);
  const bucketFound = await openBucket(services, input.tenant, input.bucket);
  const known = input.replica === undefined ? undefined : await knownReplica(services, bucketFound.bucket, input, input.replica);
  if (known !== undefined) {
    const md5 = createHash("md5");
    for await (const bytes of input.body) md5.update(bytes);
    if (known.delete_marker === true || known.etag !== md5.digest("hex"))
      throw objectError("PreconditionFailed", "another version is there under that name");
    return known;
  }
  const shard = await writableShard(services, input.bucket, input.key);
  await expectRoom(services, bucketFound.bucket, input.key, input.length);
  const threshold = services.shards.inlineRate(shard.id) > 10_000_000 ? 128 : shard.inlineThreshold;
  const encryption = input.attributes?.encryption;
  const key = customerKeyFor({ ...(encryption && { encryption }) }, input.customerKey);
  const salt = encryption?.kind === "customer" ? encryption.salt : "";
  const sealed = key && encryptBody(input.body, key, salt, salt);
  const stored = await storeBody(services, input.tenant, sealed?.bytes ?? input.body, threshold, input.length);
  return whileStored(stored, async () => {
    const doc = await commitObject(services, { ...input, bucketFound }, stored, (body) => ({
      bucket: input.bucket,
      key: input.key,
      tenant: input.tenant,
      size: stored.size,
      etag: sealed?.etag() ?? stored.md5,
      content_type: input.contentType,
      headers: input.headers,
      meta: input.meta,
      modified_at: services.context.clock.now(),
      ...input.attributes,
      body: body as ObjectDoc["body"],
    }));
    if (stored.inline) services.shards.inlined(shard.id, stored.size);
    return doc;
  });
}

/** What there is of a version already that is copied here again. Throws `InvalidRequest`, `InvalidArgument` for one that cannot be taken. */
export async function knownReplica(
  services: ObjectServices,
  bucket: Bucket,
  { key }: { readonly key: string },
  replica: string,
): Promise<ObjectDoc | undefined> {
  replicaOrdinal(bucket, replica, services.context.clock.now());
  return (await findVersion(services, { bucket: bucket.name, key, version: replica }))?.doc;
}

/** Anything that can commit a draft around a body: a streamed one, or the parts of an upload. */
export interface Committable {
  finish(build: (body: Body) => Promise<ObjectsDraft>): Promise<"committed" | "conflict">;
}

/** Makes an object the current version of its key, guarded by the conditions and by the bucket as it is now. */
export async function commitObject(
  services: ObjectServices,
  target: {
    readonly tenant: string;
    readonly bucket: string;
    readonly key: string;
    readonly conditions?: Conditions;
    readonly bucketFound?: FoundBucket;
    readonly event?: ObjectEventName;
    readonly replica?: string | undefined;
  },
  body: Committable,
  make: (body: Body) => ObjectDoc,
): Promise<ObjectDoc> {
  const { store } = services.context;
  const id = objectId(target.bucket, target.key);
  let owner = target.bucketFound;
  for (let attempt = 0; attempt < 50; attempt++) {
    let next: Succession | undefined;
    // Looked at again for every try: maintenance may have begun while the body was streaming.
    const shard = await writableShard(services, target.bucket, target.key);
    const outcome = await body.finish(async (made) => {
      owner ??= await openBucket(services, target.tenant, target.bucket, attempt > 0);
      const existing = await store.get("storage_objects", id);
      checkWrite(existing?.doc as ObjectDoc | undefined, target.conditions ?? {});
      next = await makeCurrent(services, owner.bucket, existing, make(made), target.event, target.replica);
      return {
        of: owner.bucket,
        puts: next.puts,
        dels: next.dels,
        checks: [...next.checks, { coll: "storage_buckets", id: target.bucket, version: owner.version }],
      };
    });
    // What stood in the way may have been the bucket.
    if (outcome === "conflict") owner = undefined;
    if (outcome === "committed" && next !== undefined) {
      services.shards.changed(shard.id, next.bytes, next.objects);
      return next.doc;
    }
  }
  throw storageError("ShardUnavailable", "too many writers of one key, try again");
}

/** A new object as the current version of its key, kept as its bucket keeps new versions, with the notices of it. */
export async function makeCurrent(
  services: ObjectServices,
  bucket: Bucket,
  current: Stored | undefined,
  made: ObjectDoc,
  event: ObjectEventName = "ObjectCreated:Put",
  replica?: string,
): Promise<Succession> {
  const next = await succeed(services, bucket, current, lockedByDefault(bucket, made, services.context.clock.now()), { replica });
  return { ...next, puts: [...next.puts, ...noticePuts(services, bucket, event, next.doc)] };
}
