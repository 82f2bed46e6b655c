import { getBucketAcl, getObjectAcl, getOwnership, putBucketAcl, putObjectAcl, putOwnership } from "./acl.ts";
import { aclHeaders } from "./acl-headers.ts";
import {
  bucketLocation,
  deleteObjects,
  headBucket,
  listAllBuckets,
  listMultipartUploads,
  listObjects,
  putBucket,
  removeBucket,
} from "./bucket-operations.ts";
import {
  getPolicy,
  getPublicAccessBlock,
  policyStatus,
  putPolicy,
  putPublicAccessBlock,
  removePolicy,
  removePublicAccessBlock,
} from "./bucket-policy.ts";
import type { S3Call, S3Reply } from "./call.ts";
import { checksums } from "./checksums.ts";
import { getCors, putCors, removeCors } from "./cors.ts";
import {
  customerHeaders,
  encryptionHeaders,
  getBucketEncryption,
  putBucketEncryption,
  removeBucketEncryption,
  sourceCustomerHeaders,
} from "./encryption.ts";
import { getLifecycle, putLifecycle, removeLifecycle } from "./lifecycle.ts";
import { getLogging, putLogging } from "./logging.ts";
import { beginUpload, copyPart, finishUpload, giveUpUpload, partsOfUpload, storePart } from "./multipart-operations.ts";
import { getNotifications, putNotifications } from "./notifications.ts";
import { objectAttributes } from "./object-attributes.ts";
import { redirectHeader } from "./object-headers.ts";
import {
  getLegalHold,
  getLockConfiguration,
  getRetention,
  lockHeaders,
  putLegalHold,
  putLockConfiguration,
  putRetention,
} from "./object-lock.ts";
import { copyObject, getObject, postObject, removeObject, storeObject } from "./object-operations.ts";
import { getReplication, putReplication, removeReplication, replicaHeader } from "./replication.ts";
import {
  getBucketTagging,
  getObjectTagging,
  putBucketTagging,
  putObjectTagging,
  removeBucketTagging,
  removeObjectTagging,
} from "./tagging.ts";
import { getVersioning, listVersions, putVersioning } from "./versioning.ts";
import { getWebsite, putWebsite, removeWebsite } from "./website.ts";

/** An operation, and the closed list of what a request for it may say. */
export interface Operation {
  /** The S3 name, which is also the metric label. */
  readonly name: string;
  readonly on: "service" | "bucket" | "object";
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  /** Query names, and `x-amz-copy-source`, that ask for this operation and no other of the method. */
  readonly asks?: readonly string[];
  /** Query names that it understands besides. */
  readonly query?: readonly string[];
  /** Header names that it understands besides, of those that `significantHeader` holds; `x-amz-meta-*` is a family. */
  readonly headers?: readonly string[];
  /** Asked for by a form alone. */
  readonly form?: boolean;
  run(call: S3Call): Promise<S3Reply>;
}

/** What every operation understands: `x-id` is the operation's own name, as SDKs repeat it. */
export const everywhere = {
  query: [
    "x-id",
    ...["Algorithm", "Credential", "Signature", "Date", "SignedHeaders", "Expires", "Content-Sha256"].map((n) => `X-Amz-${n}`),
  ],
  headers: [
    ...["x-amz-content-sha256", "x-amz-date", "x-amz-user-agent"],
    ...["x-amz-expected-bucket-owner", "x-amz-request-payer"],
  ],
} as const;

/**
 * True for headers that may change what an operation does: those of S3, and the conditions and ranges of HTTP. Other headers mean
 * nothing to S3, or describe the connection.
 */
export function significantHeader(name: string): boolean {
  return name.startsWith("x-amz-") || name === replicaHeader || /^(?:if-.*|(?:content-)?range)$/.test(name);
}

const flag = /^(?:true|false)$/i;
const time = { test: (text: string) => !Number.isNaN(Date.parse(text)) };

/**
 * Names that may say only so much, whatever the operation, and what that is: anything else is `InvalidArgument`, before anything is done.
 * Names whose values an operation judges by an error of their own are not here, nor those of HTTP, which ignores what it cannot read
 * (RFC 9110, sections 13.1 and 14.2).
 */
export const closedValues: Readonly<Record<string, { test(value: string): boolean }>> = {
  "fetch-owner": flag,
  "x-amz-bucket-object-lock-enabled": flag,
  "x-amz-bypass-governance-retention": flag,
  "x-amz-checksum-mode": /^ENABLED$/,
  "x-amz-copy-source-if-modified-since": time,
  "x-amz-copy-source-if-unmodified-since": time,
  "x-amz-if-match-initiated-time": time,
  "x-amz-request-payer": /^requester$/,
  [replicaHeader]: /^[0-9a-f]{32}$/,
};

const body = [
  ...["x-amz-decoded-content-length", "x-amz-trailer", "x-amz-sdk-checksum-algorithm"],
  ...Object.keys(checksums).map((algorithm) => `x-amz-checksum-${algorithm}`),
];
const described = [
  ...[...aclHeaders, "x-amz-storage-class", "x-amz-meta-*", "x-amz-tagging", redirectHeader],
  ...encryptionHeaders,
  ...lockHeaders,
];
const conditions = ["if-match", "if-none-match"];
/** Leave to end a `GOVERNANCE` retention before its time. */
const bypass = ["x-amz-bypass-governance-retention"];
const reads = [
  ...conditions,
  "if-modified-since",
  "if-unmodified-since",
  "if-range",
  "range",
  "x-amz-checksum-mode",
  ...encryptionHeaders,
];
const responses = ["content-type", "content-language", "expires", "cache-control", "content-disposition", "content-encoding"].map(
  (name) => `response-${name}`,
);
const source = [
  ...sourceCustomerHeaders,
  "x-amz-source-expected-bucket-owner",
  ...[...conditions, "if-modified-since", "if-unmodified-since"].map((name) => `x-amz-copy-source-${name}`),
];
const listing = ["prefix", "delimiter", "encoding-type"];

/** What is set for a bucket: read, written whole, removed. */
function configuration(
  name: string,
  asks: string,
  { get, put, remove }: Readonly<Partial<Record<"get" | "put" | "remove", Operation["run"]>>>,
): readonly Operation[] {
  const common = { on: "bucket", asks: [asks] } as const;
  return [
    ...(get === undefined ? [] : [{ ...common, name: `GetBucket${name}`, method: "GET", run: get } as const]),
    ...(put === undefined ? [] : [{ ...common, name: `PutBucket${name}`, method: "PUT", headers: body, run: put } as const]),
    ...(remove === undefined ? [] : [{ ...common, name: `DeleteBucket${name}`, method: "DELETE", run: remove } as const]),
  ];
}

/** What is told of a version, besides its bytes. */
function ofVersion(name: string, asks: string, method: "GET" | "PUT" | "DELETE", run: Operation["run"]): Operation {
  const headers = method === "PUT" ? [...body, ...(asks === "retention" ? [...bypass, replicaHeader] : [])] : [];
  return { name, on: "object", method, asks: [asks], query: ["versionId"], headers, run };
}

/** Everything that the gateway does. What a request says beyond its operation's lists is `NotImplemented`, before anything is done. */
export const operations: readonly Operation[] = [
  {
    name: "ListBuckets",
    on: "service",
    method: "GET",
    query: ["max-buckets", "prefix", "continuation-token", "bucket-region"],
    run: listAllBuckets,
  },
  {
    name: "CreateBucket",
    on: "bucket",
    method: "PUT",
    headers: [...body, ...aclHeaders, "x-amz-object-ownership", "x-amz-bucket-object-lock-enabled"],
    run: putBucket,
  },
  { name: "HeadBucket", on: "bucket", method: "HEAD", run: headBucket },
  { name: "DeleteBucket", on: "bucket", method: "DELETE", run: removeBucket },
  { name: "GetBucketLocation", on: "bucket", method: "GET", asks: ["location"], run: bucketLocation },
  ...configuration("Acl", "acl", { get: getBucketAcl, put: putBucketAcl }).map((operation) =>
    operation.method === "PUT" ? { ...operation, headers: [...body, ...aclHeaders] } : operation,
  ),
  ...configuration("OwnershipControls", "ownershipControls", { get: getOwnership, put: putOwnership }),
  ...configuration("Versioning", "versioning", { get: getVersioning, put: putVersioning }),
  ...configuration("Encryption", "encryption", {
    get: getBucketEncryption,
    put: putBucketEncryption,
    remove: removeBucketEncryption,
  }),
  ...configuration("Tagging", "tagging", { get: getBucketTagging, put: putBucketTagging, remove: removeBucketTagging }),
  { name: "GetObjectLockConfiguration", on: "bucket", method: "GET", asks: ["object-lock"], run: getLockConfiguration },
  {
    name: "PutObjectLockConfiguration",
    on: "bucket",
    method: "PUT",
    asks: ["object-lock"],
    headers: body,
    run: putLockConfiguration,
  },
  ...configuration("Policy", "policy", { get: getPolicy, put: putPolicy, remove: removePolicy }),
  { name: "GetBucketPolicyStatus", on: "bucket", method: "GET", asks: ["policyStatus"], run: policyStatus },
  ...configuration("Cors", "cors", { get: getCors, put: putCors, remove: removeCors }),
  ...configuration("LifecycleConfiguration", "lifecycle", { get: getLifecycle, put: putLifecycle }),
  { name: "DeleteBucketLifecycle", on: "bucket", method: "DELETE", asks: ["lifecycle"], run: removeLifecycle },
  ...configuration("NotificationConfiguration", "notification", { get: getNotifications, put: putNotifications }),
  ...configuration("Logging", "logging", { get: getLogging, put: putLogging }),
  ...configuration("Website", "website", { get: getWebsite, put: putWebsite, remove: removeWebsite }),
  ...configuration("Replication", "replication", { get: getReplication, put: putReplication, remove: removeReplication }),
  ...configuration("PublicAccessBlock", "publicAccessBlock", {
    get: getPublicAccessBlock,
    put: putPublicAccessBlock,
    remove: removePublicAccessBlock,
  }).map((operation) => ({ ...operation, name: operation.name.replace("Bucket", "") })),
  { name: "ListObjects", on: "bucket", method: "GET", query: [...listing, "marker", "max-keys"], run: listObjects },
  {
    name: "ListObjectsV2",
    on: "bucket",
    method: "GET",
    asks: ["list-type"],
    query: [...listing, "continuation-token", "start-after", "fetch-owner", "max-keys"],
    run: listObjects,
  },
  {
    name: "ListObjectVersions",
    on: "bucket",
    method: "GET",
    asks: ["versions"],
    query: [...listing, "key-marker", "version-id-marker", "max-keys"],
    run: listVersions,
  },
  {
    name: "ListMultipartUploads",
    on: "bucket",
    method: "GET",
    asks: ["uploads"],
    query: [...listing, "key-marker", "upload-id-marker", "max-uploads"],
    run: listMultipartUploads,
  },
  { name: "DeleteObjects", on: "bucket", method: "POST", asks: ["delete"], headers: [...body, ...bypass], run: deleteObjects },
  {
    name: "GetObject",
    on: "object",
    method: "GET",
    query: ["partNumber", "versionId", ...responses],
    headers: reads,
    run: getObject,
  },
  {
    name: "HeadObject",
    on: "object",
    method: "HEAD",
    query: ["partNumber", "versionId", ...responses],
    headers: reads,
    run: getObject,
  },
  {
    name: "GetObjectAttributes",
    on: "object",
    method: "GET",
    asks: ["attributes"],
    query: ["versionId"],
    headers: ["x-amz-object-attributes", "x-amz-max-parts", "x-amz-part-number-marker", ...customerHeaders],
    run: objectAttributes,
  },
  ofVersion("GetObjectAcl", "acl", "GET", getObjectAcl),
  { ...ofVersion("PutObjectAcl", "acl", "PUT", putObjectAcl), headers: [...body, ...aclHeaders] },
  ofVersion("GetObjectTagging", "tagging", "GET", getObjectTagging),
  ofVersion("PutObjectTagging", "tagging", "PUT", putObjectTagging),
  ofVersion("DeleteObjectTagging", "tagging", "DELETE", removeObjectTagging),
  ofVersion("GetObjectRetention", "retention", "GET", getRetention),
  ofVersion("PutObjectRetention", "retention", "PUT", putRetention),
  ofVersion("GetObjectLegalHold", "legal-hold", "GET", getLegalHold),
  ofVersion("PutObjectLegalHold", "legal-hold", "PUT", putLegalHold),
  {
    name: "PutObject",
    on: "object",
    method: "PUT",
    headers: [...body, ...described, ...conditions, replicaHeader],
    run: storeObject,
  },
  {
    // By a form, whose fields are these headers.
    name: "PostObject",
    on: "object",
    method: "POST",
    form: true,
    headers: [...body, ...described],
    run: postObject,
  },
  {
    name: "CopyObject",
    on: "object",
    method: "PUT",
    asks: ["x-amz-copy-source"],
    headers: [
      ...described,
      ...conditions,
      ...source,
      "x-amz-metadata-directive",
      "x-amz-tagging-directive",
      "x-amz-checksum-algorithm",
    ],
    run: copyObject,
  },
  {
    name: "DeleteObject",
    on: "object",
    method: "DELETE",
    query: ["versionId"],
    headers: ["if-match", "x-amz-if-match-size", "x-amz-if-match-last-modified-time", ...bypass, replicaHeader],
    run: removeObject,
  },
  {
    name: "CreateMultipartUpload",
    on: "object",
    method: "POST",
    asks: ["uploads"],
    headers: [...described, "x-amz-checksum-algorithm", "x-amz-checksum-type", replicaHeader],
    run: beginUpload,
  },
  {
    name: "UploadPart",
    on: "object",
    method: "PUT",
    asks: ["uploadId", "partNumber"],
    headers: [...body, ...encryptionHeaders],
    run: storePart,
  },
  {
    name: "UploadPartCopy",
    on: "object",
    method: "PUT",
    asks: ["uploadId", "partNumber", "x-amz-copy-source"],
    headers: [...source, ...customerHeaders, "x-amz-copy-source-range"],
    run: copyPart,
  },
  {
    name: "ListParts",
    on: "object",
    method: "GET",
    asks: ["uploadId"],
    query: ["max-parts", "part-number-marker", "encoding-type"],
    run: partsOfUpload,
  },
  {
    name: "CompleteMultipartUpload",
    on: "object",
    method: "POST",
    asks: ["uploadId"],
    headers: [...body, ...conditions, ...encryptionHeaders, "x-amz-checksum-type", "x-amz-mp-object-size"],
    run: finishUpload,
  },
  {
    name: "AbortMultipartUpload",
    on: "object",
    method: "DELETE",
    asks: ["uploadId"],
    headers: ["x-amz-if-match-initiated-time"],
    run: giveUpUpload,
  },
];
