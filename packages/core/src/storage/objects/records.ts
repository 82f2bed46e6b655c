import { checkArgument, type JsonObject } from "@seneschal/kernel";
import type { BucketLogging } from "../access-log.ts";
import type { BucketQuota } from "../bucket-quota.ts";
import type { CorsRule } from "../cors.ts";
import type { LifecycleRule } from "../lifecycle.ts";
import type { NotificationRule } from "../notifications.ts";
import type { Replication, ReplicationState } from "../replication.ts";
import type { DefaultRetention, Retention } from "../retention.ts";
import type { Website } from "../website.ts";

/** What is set for a bucket. Members that are absent were never set. */
export interface Bucket extends JsonObject {
  readonly name: string;
  readonly tenant: string;
  /** Milliseconds. */
  readonly created_at: number;
  readonly region: string;
  /** Set while a deletion looks whether the bucket is empty: no write may begin or commit. */
  readonly deleting: boolean;
  /** Absent: never enabled. */
  readonly versioning?: Versioning;
  /** Set once a bucket has object lock, which stays; `default`: what new versions get that name nothing else. */
  readonly object_lock?: { readonly default?: DefaultRetention & JsonObject };
  readonly tags?: Tags;
  /** What new objects get that name nothing else. */
  readonly encryption?: ObjectEncryption & JsonObject;
  /** The policy document as it was given. */
  readonly policy?: string;
  readonly lifecycle?: readonly (LifecycleRule & JsonObject)[];
  readonly public_access_block?: Readonly<Record<string, boolean>>;
  readonly cors?: readonly (CorsRule & JsonObject)[];
  /** Absent: the bucket is no website. */
  readonly website?: Website & JsonObject;
  /** Absent: no limit, and what the bucket holds is not counted. */
  readonly quota?: BucketQuota & JsonObject;
  /** Absent: nothing is told. */
  readonly notifications?: readonly (NotificationRule & JsonObject)[];
  /** Absent: requests are not written down. */
  readonly logging?: BucketLogging & JsonObject;
  /** Absent: nothing is copied elsewhere. */
  readonly replication?: Replication & JsonObject;
}

export type Versioning = "Enabled" | "Suspended";

/** What whoever writes an object says of it. */
export interface ObjectDescription extends JsonObject {
  readonly bucket: string;
  readonly key: string;
  readonly tenant: string;
  readonly content_type: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly meta: Readonly<Record<string, string>>;
  readonly tags?: Tags;
  readonly retention?: Retention & JsonObject;
  readonly legal_hold?: boolean;
  /** Absent: by keys of the cluster and the tenant alone. */
  readonly encryption?: ObjectEncryption & JsonObject;
}

/** What is known of a version of a key, besides where its bytes are. */
export interface ObjectVersion extends ObjectDescription {
  /** Bytes. */
  readonly size: number;
  readonly etag: string;
  /** Milliseconds. */
  readonly modified_at: number;
  /** Absent: the version `null`, of a bucket that had no versions when it was written. */
  readonly version_id?: string;
  /** Orders the versions of a key, the latest has the greatest; absent: `modified_at`. */
  readonly ordinal?: number;
  readonly delete_marker?: boolean;
  /** Since when it is not the current version. */
  readonly superseded_at?: number;
  /** It was copied here from a bucket elsewhere. */
  readonly replica?: boolean;
  /** How far its copies to other buckets are, by their destinations. */
  readonly replication?: Readonly<Record<string, ReplicationState>>;
}

/** In the order of their keys. */
export type Tags = readonly (JsonObject & { readonly key: string; readonly value: string })[];

/** What a client asked for besides the encryption that everything has. */
export type ObjectEncryption =
  /** With the name of the tenant's key, which every object of the tenant is under. */
  | { readonly kind: "aws:kms"; readonly key_id: string }
  /** Under a key that the client keeps: `check` tells whether a key is the one. */
  | { readonly kind: "customer"; readonly salt: string; readonly check: string };

/** One part of a multipart upload. */
export interface UploadPart extends JsonObject {
  readonly upload: string;
  readonly number: number;
  /** Bytes. */
  readonly size: number;
  readonly etag: string;
  /** Milliseconds. */
  readonly modified_at: number;
  /** Verified checksums, base64, by algorithm. */
  readonly checksums?: Readonly<Record<string, string>>;
}

/** What a multipart upload begins with. */
export interface UploadDraft extends ObjectDescription {
  /** What was asked for: an algorithm by its header suffix, and what the object's checksum is made of. */
  readonly checksum?: UploadChecksum;
  /** The version that it is a copy of. */
  readonly replica?: string;
}

export interface UploadChecksum extends JsonObject {
  readonly algorithm: string;
  readonly type: "COMPOSITE" | "FULL_OBJECT";
}

/** A multipart upload that is under way. */
export interface Upload extends UploadDraft {
  /** Milliseconds. */
  readonly started_at: number;
}

const validName = /^(?!\d+\.\d+\.\d+\.\d+$)(?!xn--)[a-z0-9](?!.*(?:-\.|\.-))(?:[a-z0-9-]|\.(?!\.)){1,61}[a-z0-9]$/;

/**
 * Whether a bucket may be called so (Amazon S3 user guide, Bucket naming rules).
 *
 * @example
 * ```ts
 * import { isBucketName } from "@seneschal/core/storage";
 * console.log(isBucketName("docs"), isBucketName("Docs_1")); // true false
 * ```
 */
export function isBucketName(name: string): boolean {
  checkArgument("name", name, "string");
  return validName.test(name);
}

/** The most bytes of a key, in UTF-8: also of what begins one, and of the path of a file. */
export const maxKeyBytes = 1024;

/**
 * What clients call a version by: `null` for one of a bucket that had no versions.
 *
 * @example
 * ```ts
 * import { versionIdOf } from "@seneschal/core/storage";
 * console.log(versionIdOf({}), versionIdOf({ version_id: "01" })); // null 01
 * ```
 */
export function versionIdOf(version: Pick<ObjectVersion, "version_id">): string {
  checkArgument("version", version, "object");
  return version.version_id ?? "null";
}

/**
 * The id of the record of a version of the past: of its object's, and what clients call it by.
 *
 * @example
 * ```ts
 * import { pastVersionId } from "@seneschal/core/storage";
 * console.log(pastVersionId("0a1b", "null")); // 0a1b.null
 * ```
 */
export function pastVersionId(object: string, version: string): string {
  checkArgument("object", object, "string");
  checkArgument("version", version, "string");
  return `${object}.${version}`;
}

/** Limits of multipart uploads: parts 1-10,000, at least 5 MiB each but the last. */
export const partLimits = { maxNumber: 10_000, minBytes: 5 * 1024 * 1024 } as const;

/** Bytes of a key that a client keeps. */
export const customerKeyBytes = 32;
