import { randomUUID } from "node:crypto";
import type { Put, Stored } from "@seneschal/core/ports";
import { storageError } from "@seneschal/core/storage";
import type { Body, ObjectDoc } from "../documents.ts";
import { objectError, openBucket } from "./buckets.ts";
import { checkKey, objectId } from "./object-id.ts";
import { type ObjectServices, writableShard } from "./services.ts";
import { storeBody } from "./store-body.ts";

/** What may be demanded of the object that is there before a write or a read. ETags without quotes; `*` is any. */
export interface Conditions {
  readonly ifMatch?: readonly string[];
  readonly ifNoneMatch?: readonly string[];
  readonly ifModifiedSince?: number;
  readonly ifUnmodifiedSince?: number;
}

export interface PutObjectInput {
  readonly tenant: string;
  readonly bucket: string;
  readonly key: string;
  readonly body: AsyncIterable<Uint8Array>;
  /** Bytes of the body where they are known: it gives no more. */
  readonly length?: number | undefined;
  readonly contentType: string;
  /** Standard headers to give back: cache-control, content-disposition, content-encoding, content-language, expires. */
  readonly headers: Readonly<Record<string, string>>;
  readonly meta: Readonly<Record<string, string>>;
  readonly conditions?: Conditions;
}

/**
 * Stores an object; it is there, whole and durable, when this resolves. When it throws, the key has what it had, or all of the
 * new object where `ShardUnavailable` came of an unknown outcome: never less than one of the two. The last writer of a key
 * wins unless conditions say otherwise. Throws what the pool, the keys and the shard throw.
 */
export async function putObject(services: ObjectServices, input: PutObjectInput): Promise<ObjectDoc> {
  checkKey(input.key);
  const { version } = await openBucket(services, input.tenant, input.bucket);
  const shard = await writableShard(services, input.bucket, input.key);
  const threshold = services.shards.inlineRate(shard.id) > 10_000_000 ? 128 : shard.inlineThreshold;
  const stored = await storeBody(services, input.tenant, input.body, threshold, input.length);
  try {
    const doc = await commitObject(services, { ...input, bucketVersion: version }, stored, (body) => ({
      bucket: input.bucket,
      key: input.key,
      tenant: input.tenant,
      size: stored.size,
      etag: stored.md5,
      content_type: input.contentType,
      headers: input.headers,
      meta: input.meta,
      modified_at: services.context.clock.now(),
      body: body as ObjectDoc["body"],
    }));
    if (stored.inline) services.shards.inlined(shard.id, stored.size);
    return doc;
  } catch (error) {
    await stored.abandon();
    throw error;
  } finally {
    stored.release();
  }
}

/** Anything that can commit a draft around a body: a streamed one, or the parts of an upload. */
export interface Committable {
  finish(
    build: (body: Body) => Promise<{
      readonly puts: readonly Put[];
      readonly dels?: readonly { readonly coll: string; readonly id: string; readonly ifVersion?: number }[];
      readonly checks?: readonly { readonly coll: string; readonly id: string; readonly version: number }[];
    }>,
  ): Promise<"committed" | "conflict">;
}

/**
 * Puts the object record, moves the replaced one to the trash, guarded by the conditions and by the bucket, as it was read at
 * `bucketVersion` or is now.
 */
export async function commitObject(
  services: ObjectServices,
  target: {
    readonly tenant: string;
    readonly bucket: string;
    readonly key: string;
    readonly conditions?: Conditions;
    readonly bucketVersion?: number;
  },
  body: Committable,
  make: (body: Body) => ObjectDoc,
): Promise<ObjectDoc> {
  const { store } = services.context;
  const id = objectId(target.bucket, target.key);
  let version = target.bucketVersion;
  for (let attempt = 0; attempt < 50; attempt++) {
    let doc: ObjectDoc | undefined;
    let before: ObjectDoc | undefined;
    // Looked at again for every try: maintenance may have begun while the body was streaming.
    const shard = await writableShard(services, target.bucket, target.key);
    const outcome = await body.finish(async (made) => {
      version ??= (await openBucket(services, target.tenant, target.bucket)).version;
      const existing = await store.get("storage_objects", id);
      before = existing?.doc as ObjectDoc | undefined;
      checkConditions(existing, target.conditions);
      doc = make(made);
      return {
        puts: [{ coll: "storage_objects", id, doc, ifVersion: existing?.version ?? 0 }, ...trashPuts(services, before)],
        checks: [{ coll: "storage_buckets", id: target.bucket, version }],
      };
    });
    // What stood in the way may have been the bucket.
    if (outcome === "conflict") version = undefined;
    if (outcome === "committed" && doc !== undefined) {
      services.shards.changed(shard.id, doc.size - (before?.size ?? 0), before === undefined ? 1 : 0);
      return doc;
    }
  }
  throw storageError("ShardUnavailable", "too many writers of one key, try again");
}

/** The record that lets garbage collection take back what a replaced or deleted object held. */
export function trashPuts({ context }: ObjectServices, object: ObjectDoc | undefined): readonly Put[] {
  if (object === undefined || object.body.kind === "inline") return [];
  const doc = { body: object.body, due: context.clock.now() };
  return [{ coll: "storage_trash", id: randomUUID(), doc, ifVersion: 0 }];
}

/** RFC 9110, 13.2.2 for writes. Throws `PreconditionFailed`, or `NotFound` for If-Match on nothing. */
function checkConditions(existing: Stored | undefined, conditions: Conditions | undefined): void {
  const etag = existing?.doc["etag"] as string | undefined;
  const matches = (list: readonly string[]) => etag !== undefined && (list.includes("*") || list.includes(etag));
  if (conditions?.ifMatch !== undefined && etag === undefined) throw storageError("NotFound", "the object does not exist");
  if (conditions?.ifMatch !== undefined && !matches(conditions.ifMatch))
    throw objectError("PreconditionFailed", "the object is not the one named by If-Match", { condition: "If-Match" });
  if (conditions?.ifNoneMatch !== undefined && matches(conditions.ifNoneMatch))
    throw objectError("PreconditionFailed", "the object exists", { condition: "If-None-Match" });
}
