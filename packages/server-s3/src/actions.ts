import { wildcardEnds } from "@seneschal/kernel";
import { replicaHeader } from "./replication.ts";

/** The actions that a request for an operation is about: each of them must be allowed. */
export function actionsOf(
  { name, on }: { readonly name: string; readonly on: string },
  query: ReadonlyMap<string, string>,
  headers: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const named = actions[name] ?? name;
  const version = query.has("versionId") ? (versioned[named] ?? named) : named;
  const more: string[] = [];
  if (on === "object" && headers["x-amz-tagging"] !== undefined) more.push("PutObjectTagging");
  if (headers["x-amz-object-lock-mode"] !== undefined) more.push("PutObjectRetention");
  if (headers["x-amz-object-lock-legal-hold"] !== undefined) more.push("PutObjectLegalHold");
  if (headers["x-amz-bypass-governance-retention"]?.toLowerCase() === "true") more.push("BypassGovernanceRetention");
  if (headers[replicaHeader] !== undefined) more.push(name === "DeleteObject" ? "ReplicateDelete" : "ReplicateObject");
  return [...new Set([version, ...more])].map((action) => `s3:${action}`);
}

/** Operations whose action has another name (Service Authorization Reference, Amazon S3). */
const actions: Readonly<Record<string, string>> = {
  ListBuckets: "ListAllMyBuckets",
  HeadBucket: "ListBucket",
  ListObjects: "ListBucket",
  ListObjectsV2: "ListBucket",
  ListObjectVersions: "ListBucketVersions",
  ListMultipartUploads: "ListBucketMultipartUploads",
  GetBucketEncryption: "GetEncryptionConfiguration",
  PutBucketEncryption: "PutEncryptionConfiguration",
  DeleteBucketEncryption: "PutEncryptionConfiguration",
  DeleteBucketTagging: "PutBucketTagging",
  GetObjectLockConfiguration: "GetBucketObjectLockConfiguration",
  PutObjectLockConfiguration: "PutBucketObjectLockConfiguration",
  GetPublicAccessBlock: "GetBucketPublicAccessBlock",
  PutPublicAccessBlock: "PutBucketPublicAccessBlock",
  DeletePublicAccessBlock: "PutBucketPublicAccessBlock",
  GetBucketReplication: "GetReplicationConfiguration",
  PutBucketReplication: "PutReplicationConfiguration",
  DeleteBucketReplication: "PutReplicationConfiguration",
  GetBucketCors: "GetBucketCORS",
  PutBucketCors: "PutBucketCORS",
  DeleteBucketCors: "PutBucketCORS",
  GetBucketLifecycleConfiguration: "GetLifecycleConfiguration",
  PutBucketLifecycleConfiguration: "PutLifecycleConfiguration",
  DeleteBucketLifecycle: "PutLifecycleConfiguration",
  GetBucketNotificationConfiguration: "GetBucketNotification",
  PutBucketNotificationConfiguration: "PutBucketNotification",
  DeleteBucketOwnershipControls: "PutBucketOwnershipControls",
  DeleteObjects: "DeleteObject",
  HeadObject: "GetObject",
  PostObject: "PutObject",
  CopyObject: "PutObject",
  CreateMultipartUpload: "PutObject",
  UploadPart: "PutObject",
  UploadPartCopy: "PutObject",
  CompleteMultipartUpload: "PutObject",
  ListParts: "ListMultipartUploadParts",
};

const versioned: Readonly<Record<string, string>> = {
  GetObject: "GetObjectVersion",
  GetObjectAcl: "GetObjectVersionAcl",
  PutObjectAcl: "PutObjectVersionAcl",
  GetObjectTagging: "GetObjectVersionTagging",
  PutObjectTagging: "PutObjectVersionTagging",
  DeleteObjectTagging: "DeleteObjectVersionTagging",
  GetObjectAttributes: "GetObjectVersionAttributes",
  DeleteObject: "DeleteObjectVersion",
};

/** The actions on buckets and objects that a policy may name (Service Authorization Reference, Amazon S3). */
export const knownActions: readonly string[] = `
  AbortMultipartUpload BypassGovernanceRetention CreateBucket DeleteBucket DeleteBucketPolicy DeleteBucketWebsite DeleteObject
  DeleteObjectTagging DeleteObjectVersion DeleteObjectVersionTagging GetAccelerateConfiguration GetAnalyticsConfiguration
  GetBucketAcl GetBucketCORS GetBucketLocation GetBucketLogging GetBucketNotification GetBucketObjectLockConfiguration
  GetBucketOwnershipControls GetBucketPolicy GetBucketPolicyStatus GetBucketPublicAccessBlock GetBucketRequestPayment
  GetBucketTagging GetBucketVersioning GetBucketWebsite GetEncryptionConfiguration GetIntelligentTieringConfiguration
  GetInventoryConfiguration GetLifecycleConfiguration GetMetricsConfiguration GetObject GetObjectAcl GetObjectAttributes
  GetObjectLegalHold GetObjectRetention GetObjectTagging GetObjectTorrent GetObjectVersion GetObjectVersionAcl
  GetObjectVersionAttributes GetObjectVersionForReplication GetObjectVersionTagging GetObjectVersionTorrent
  GetReplicationConfiguration InitiateReplication ListAllMyBuckets ListBucket ListBucketMultipartUploads ListBucketVersions
  ListMultipartUploadParts ObjectOwnerOverrideToBucketOwner PutAccelerateConfiguration PutAnalyticsConfiguration PutBucketAcl
  PutBucketCORS PutBucketLogging PutBucketNotification PutBucketObjectLockConfiguration PutBucketOwnershipControls
  PutBucketPolicy PutBucketPublicAccessBlock PutBucketRequestPayment PutBucketTagging PutBucketVersioning PutBucketWebsite
  PutEncryptionConfiguration PutIntelligentTieringConfiguration PutInventoryConfiguration PutLifecycleConfiguration
  PutMetricsConfiguration PutObject PutObjectAcl PutObjectLegalHold PutObjectRetention PutObjectTagging PutObjectVersionAcl
  PutObjectVersionTagging PutReplicationConfiguration ReplicateDelete ReplicateObject ReplicateTags RestoreObject
`
  .trim()
  .split(/\s+/)
  .map((name) => `s3:${name}`);

/**
 * Actions that no policy gives to another tenant: who may do what in a bucket, and what leaves it by the destinations that the operator has
 * configured for its owner. Amazon S3 keeps policies and logging so too.
 */
export const ownerActions: ReadonlySet<string> = new Set(
  `
  DeleteBucketPolicy GetBucketPolicy GetBucketPolicyStatus GetBucketPublicAccessBlock PutBucketLogging PutBucketNotification
  PutBucketOwnershipControls PutBucketPolicy PutBucketPublicAccessBlock PutReplicationConfiguration
`
    .trim()
    .split(/\s+/)
    .map((name) => `s3:${name}`),
);

/** True for an action as policies name one: without regard to case, and with wildcards that some action fits. */
export function isKnownAction(name: string): boolean {
  if (name === "*") return true;
  if (!/^s3:[a-z*?]+$/i.test(name)) return false;
  const lower = name.toLowerCase();
  return knownActions.some((action) => wildcardEnds(lower, action.toLowerCase()).has(lower.length));
}
