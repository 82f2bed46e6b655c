import {
  bucketLocation,
  bucketVersioning,
  deleteObjects,
  headBucket,
  listAllBuckets,
  listObjects,
  listUploads,
  putBucket,
  removeBucket,
} from "./bucket-operations.ts";
import type { S3Call, S3Reply } from "./call.ts";
import { type S3Code, s3Error } from "./errors.ts";
import { beginUpload, copyPart, finishUpload, giveUpUpload, partsOfUpload, storePart } from "./multipart-operations.ts";
import { copyObject, getObject, removeObject, storeObject } from "./object-operations.ts";

/** An operation by its S3 name, which is also its metric label. */
export interface Operation {
  readonly name: string;
  run(call: S3Call): Promise<S3Reply>;
}

const absent = (name: string, code: S3Code): Operation => ({
  name,
  async run() {
    throw s3Error(code, code === "NotImplemented" ? "the operation is not implemented" : "the configuration does not exist");
  },
});

/** Query words that name a sub-resource; of any other nothing is known and the plain operation is meant. */
const bucketSubresources: Readonly<Record<string, S3Code>> = {
  acl: "NotImplemented",
  policy: "NoSuchBucketPolicy",
  cors: "NoSuchCORSConfiguration",
  lifecycle: "NoSuchLifecycleConfiguration",
  tagging: "NoSuchTagSet",
  versions: "NotImplemented",
  encryption: "NotImplemented",
  logging: "NotImplemented",
  notification: "NotImplemented",
  replication: "NotImplemented",
  website: "NotImplemented",
  "object-lock": "NotImplemented",
  ownershipControls: "NotImplemented",
  publicAccessBlock: "NotImplemented",
  requestPayment: "NotImplemented",
  accelerate: "NotImplemented",
};

const objectSubresources = [
  "acl",
  "tagging",
  "attributes",
  "retention",
  "legal-hold",
  "torrent",
  "restore",
  "select",
  "versionId",
];

/** What a request asks for. Throws `MethodNotAllowed` and `NotImplemented`. */
export function operationOf(
  method: string,
  bucket: string,
  key: string,
  query: ReadonlyMap<string, string>,
  copies: boolean,
): Operation {
  const has = (name: string) => query.has(name);
  if (bucket === "") {
    if (method === "GET") return { name: "ListBuckets", run: listAllBuckets };
    throw s3Error("MethodNotAllowed", "the service takes GET only");
  }
  if (key === "") {
    if (method === "POST" && has("delete")) return { name: "DeleteObjects", run: deleteObjects };
    if (method === "GET" && has("location")) return { name: "GetBucketLocation", run: bucketLocation };
    if (method === "GET" && has("versioning")) return { name: "GetBucketVersioning", run: bucketVersioning };
    if (method === "GET" && has("uploads")) return { name: "ListMultipartUploads", run: listUploads };
    const sub = [...query.keys()].find((name) => Object.hasOwn(bucketSubresources, name));
    if (sub !== undefined)
      return absent("BucketSubresource", method === "GET" ? (bucketSubresources[sub] ?? "NotImplemented") : "NotImplemented");
    if (has("versioning")) return absent("PutBucketVersioning", "NotImplemented");
    switch (method) {
      case "GET":
        return { name: "ListObjects", run: listObjects };
      case "PUT":
        return { name: "CreateBucket", run: putBucket };
      case "HEAD":
        return { name: "HeadBucket", run: headBucket };
      case "DELETE":
        return { name: "DeleteBucket", run: removeBucket };
      default:
        throw s3Error("MethodNotAllowed", "a bucket takes GET, PUT, HEAD, DELETE and POST ?delete");
    }
  }
  if (objectSubresources.some(has) && query.get("versionId") !== "null") return absent("ObjectSubresource", "NotImplemented");
  if (method === "POST" && has("uploads")) return { name: "CreateMultipartUpload", run: beginUpload };
  if (method === "POST" && has("uploadId")) return { name: "CompleteMultipartUpload", run: finishUpload };
  if (method === "PUT" && has("uploadId"))
    return copies ? { name: "UploadPartCopy", run: copyPart } : { name: "UploadPart", run: storePart };
  if (method === "GET" && has("uploadId")) return { name: "ListParts", run: partsOfUpload };
  if (method === "DELETE" && has("uploadId")) return { name: "AbortMultipartUpload", run: giveUpUpload };
  if (has("partNumber") && method !== "GET" && method !== "HEAD")
    throw s3Error("InvalidArgument", "partNumber needs an uploadId");
  switch (method) {
    case "GET":
      return { name: "GetObject", run: getObject };
    case "HEAD":
      return { name: "HeadObject", run: getObject };
    case "PUT":
      return copies ? { name: "CopyObject", run: copyObject } : { name: "PutObject", run: storeObject };
    case "DELETE":
      return { name: "DeleteObject", run: removeObject };
    default:
      throw s3Error("MethodNotAllowed", "an object takes GET, PUT, HEAD, DELETE and POST");
  }
}
