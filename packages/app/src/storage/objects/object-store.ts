import type { Bucket, ObjectStore, RequestOrigin } from "@seneschal/core/storage";
import { mayTell } from "../notify/notice-puts.ts";
import { placeWebhook } from "../notify/notices.ts";
import type { ObjectDoc, PartDoc } from "../schema.ts";
import { bucketRecord, changeBucket, createBucket, deleteBucket, listBuckets, openBucket } from "./buckets.ts";
import { customerEncryption, customerKeyFor } from "./customer-key.ts";
import { deleteObject } from "./delete-object.ts";
import { listKeys, listUploads, listVersions } from "./list-keys.ts";
import { abortUpload, completeUpload, createUpload, listParts, openUpload, uploadPart } from "./multipart.ts";
import { putObject } from "./put-object.ts";
import { headObject, readObject } from "./read-object.ts";
import { forRequest, type ObjectServices, refuseInMaintenance, replicationTo } from "./services.ts";
import { describeVersion, findVersion, holdLegally, retain } from "./versions.ts";

/** The objects of a node as one request works with them. */
export function objectStore(node: ObjectServices, origin: RequestOrigin): ObjectStore {
  const { context, memory, webhooks } = node;
  const services = forRequest(node, origin);
  return {
    hasTenant: async (tenant) => (await context.store.get("storage_tenants", tenant)) !== undefined,
    findBucket: async (name) => (await bucketRecord(services, name))?.doc as Bucket | undefined,
    openBucket: async (tenant, name) => (await openBucket(services, tenant, name)).bucket,
    listBuckets: (tenant) => listBuckets(services, tenant),
    createBucket: (tenant, name, region, given) => createBucket(services, tenant, name, region, given),
    changeBucket: (tenant, name, setting, change) => changeBucket(services, tenant, name, setting, change),
    deleteBucket: (tenant, name) => deleteBucket(services, tenant, name),
    mayNotify: (tenant, webhook) => mayTell(webhooks, tenant, webhook),
    placeWebhook: (webhook) => placeWebhook(context.store, webhook),
    replicationTo: (tenant, destination) => replicationTo(services, tenant, destination),
    headObject: (tenant, bucket, key, version) => headObject(services, tenant, bucket, key, version),
    findVersion: async (target) => (await findVersion(services, target))?.doc,
    readObject: (object, start, end, options) => readObject(services, object as ObjectDoc, start, end, options),
    putObject: (draft) => putObject(services, draft),
    deleteObject: (tenant, bucket, key, options) => deleteObject(services, tenant, bucket, key, options),
    describeVersion: (target, change) => describeVersion(services, target, (doc) => change(doc) as ObjectDoc),
    retain: (target, retention, by) => retain(services, target, retention, by),
    holdLegally: (target, on) => holdLegally(services, target, on),
    customerEncryption: (key) => customerEncryption(key, context.random),
    customerKeyFor,
    listKeys: (query) => listKeys(services, query),
    listVersions: (query) => listVersions(services, query),
    listUploads: (query) => listUploads(services, query),
    createUpload: (draft) => createUpload(services, draft),
    openUpload: async (target) => (await openUpload(services, target)).doc,
    uploadPart: (target, number, body) => uploadPart(services, target, number, body),
    listParts: (target, after, limit) => listParts(services, target, after, limit),
    completeUpload: (target, completion) => completeUpload(services, target, completion),
    abortUpload: (target, startedAt) => abortUpload(services, target, startedAt),
    partsOf: (object) => partRecords(object as ObjectDoc)?.map(({ number, size }) => ({ number, size })),
    async partChecksums(object, numbers) {
      const records = (partRecords(object as ObjectDoc) ?? []).filter(({ number }) => numbers.includes(number));
      const found = await context.store.getMany(
        "storage_parts",
        records.map(({ id }) => id),
      );
      return new Map(records.map(({ number }, i) => [number, (found[i]?.doc as PartDoc | undefined)?.checksums]));
    },
    reserve: (bytes) => memory.take(bytes),
    refuseInMaintenance: () => refuseInMaintenance(services),
  };
}

/** The records of the parts that an object was made of; each is called by its upload and its number. */
function partRecords({ body }: ObjectDoc) {
  if (body.kind !== "parts") return undefined;
  return body.parts.map(({ id, size }) => ({ id, size, number: Number(id.slice(id.lastIndexOf(".") + 1)) }));
}
