import type { ObjectEventName } from "../notifications.ts";
import type { ReplicationDestination, ReplicationLeave } from "../replication.ts";
import type { Retention, RetentionChange } from "../retention.ts";
import type { Bucket, ObjectEncryption, ObjectVersion, Upload, UploadDraft, UploadPart } from "./records.ts";

/** Who asked for something, from where and in which request: what notifications say of it. */
export interface RequestOrigin {
  principal: string;
  readonly address: string;
  readonly request_id: string;
}

/** What may be demanded of the object that is there before a write or a read. ETags without quotes; `*` is any. */
export interface Conditions {
  readonly ifMatch?: readonly string[];
  readonly ifNoneMatch?: readonly string[];
  readonly ifModifiedSince?: number;
  readonly ifUnmodifiedSince?: number;
}

/** What may be demanded of the object that is to go. ETags without quotes; `*` is any. */
export interface DeleteConditions {
  readonly ifMatch?: readonly string[];
  readonly size?: number;
  /** Milliseconds; to the second, as clients are told it. */
  readonly modifiedAt?: number;
}

/** What a version has besides its bytes and its description. */
export type VersionAttributes = Pick<ObjectVersion, "tags" | "retention" | "legal_hold" | "encryption">;

/** A new object. */
export interface ObjectDraft {
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
  /** Tags, lock and encryption of the version. */
  readonly attributes?: VersionAttributes;
  /** The key of the client whose `attributes.encryption` it is. */
  readonly customerKey?: Uint8Array | undefined;
  /** What notifications call it; absent: `ObjectCreated:Put`. */
  readonly event?: ObjectEventName;
  /** The version elsewhere that it is a copy of, and is called by here too. */
  readonly replica?: string | undefined;
}

/** How an object is read. */
export interface ReadOptions {
  /** The reader has a place in the memory budget for the bytes. */
  readonly counted?: boolean;
  /** The reader is done with the bytes of a piece, all that it handed them to included, when it asks for the next: their memory is used again. */
  readonly lent?: boolean;
  /** Of an object under a client's key. */
  readonly customerKey?: Uint8Array | undefined;
}

/** How somebody's deletion goes. */
export interface DeleteOptions {
  readonly conditions?: DeleteConditions;
  /** The version that goes for good; absent: the key is deleted, as the bucket's versioning has it. */
  readonly version?: string | undefined;
  /** The caller may end a `GOVERNANCE` retention before its time. */
  readonly bypass?: boolean;
  /** The delete marker elsewhere that the one to be made is a copy of, and is called by here too. */
  readonly replica?: string | undefined;
}

/** What a deletion did. */
export interface Deletion {
  /** There was something, and it is not there any more. */
  readonly deleted: boolean;
  /** The version that went for good, or the delete marker that was made. */
  readonly version?: string;
  /** That version is a delete marker. */
  readonly marker?: boolean;
}

/** A version of a key by name. `version` absent: the current one. */
export interface VersionTarget {
  readonly tenant: string;
  readonly bucket: string;
  readonly key: string;
  readonly version?: string | undefined;
}

/** One page of a listing: keys and rolled-up prefixes in UTF-8 byte order, at most `limit` together. */
export interface KeyPage<T> {
  readonly items: readonly T[];
  readonly prefixes: readonly string[];
  /** The last key or prefix of a page that is not the end. */
  readonly next?: string;
}

export interface KeyQuery {
  readonly bucket: string;
  readonly prefix: string;
  readonly delimiter: string;
  /** Only keys behind this one, exclusive; a prefix that ends in the delimiter skips all that it rolled up. */
  readonly after: string;
  readonly limit: number;
}

/** An upload as a listing shows it. */
export interface ListedUpload extends Upload {
  readonly id: string;
}

/** A version as a listing shows it. */
export interface ListedVersion extends ObjectVersion {
  readonly latest: boolean;
}

export interface UploadTarget {
  readonly tenant: string;
  readonly bucket: string;
  readonly key: string;
  readonly upload: string;
}

/** What is sent as a part. */
export interface PartBody {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Read once the bytes have ended. */
  readonly checksums?: Readonly<Record<string, string>>;
  /** Bytes where they are known: the body gives no more. */
  readonly length?: number | undefined;
  /** Of an upload under a client's key. */
  readonly customerKey?: Uint8Array | undefined;
}

/** What makes an upload an object. */
export interface Completion {
  readonly parts: readonly { readonly number: number; readonly etag: string }[];
  readonly conditions?: Conditions;
  /** Of an upload under a client's key. */
  readonly customerKey?: Uint8Array | undefined;
  /** Headers of the object besides the upload's, of its parts. Throws to refuse them. */
  readonly join?: (upload: Upload, parts: readonly UploadPart[]) => Promise<Readonly<Record<string, string>>>;
}

/**
 * The objects of a cluster as one request works with them: what a server of an object protocol stands on. A bucket's record is read once in
 * a request, and again only where a commit met another. Failures are those of {@link storageErrors} and of `objectError`.
 */
export interface ObjectStore {
  /** Whether there is a tenant of that name, shredded or not: a name is given once. */
  hasTenant(tenant: string): Promise<boolean>;
  /** The record of a bucket, whosever it is; `undefined` when there is none. */
  findBucket(name: string): Promise<Bucket | undefined>;
  /** A bucket of the tenant. Throws `NoSuchBucket`, `TenantAccessDenied`. */
  openBucket(tenant: string, name: string): Promise<Bucket>;
  /** The tenant's buckets by name. */
  listBuckets(tenant: string): Promise<readonly Bucket[]>;
  /**
   * Creates a bucket; an own existing one that is as asked for is no error. True when it was created now. `given`: what it begins with.
   * Throws `BucketAlreadyExists` for another's, and for an own one with other tags or without a lock, `BucketAlreadyOwnedByYou` for one
   * in another region than is named.
   */
  createBucket(
    tenant: string,
    name: string,
    region: string | undefined,
    given?: Pick<Bucket, "versioning" | "object_lock" | "tags">,
  ): Promise<boolean>;
  /**
   * Changes what is set for a bucket; `setting`: what the audit log calls it. Throws `OperationAborted` when others change it all the time,
   * and what `change` throws.
   */
  changeBucket(tenant: string, name: string, setting: string, change: (bucket: Bucket) => Bucket): Promise<Bucket>;
  /** Deletes an empty bucket. Throws `BucketNotEmpty`. */
  deleteBucket(tenant: string, name: string): Promise<void>;
  /** Whether buckets of the tenant may name the webhook. */
  mayNotify(tenant: string, webhook: string): boolean;
  /** Called before the first bucket names a webhook: nothing that it is to hear of lies before that. */
  placeWebhook(webhook: string): Promise<void>;
  /** Whether buckets of the tenant may be copied there, and if not, which of the two it may not name. */
  replicationTo(tenant: string, destination: ReplicationDestination): ReplicationLeave;

  /** A version that holds an object. Throws `NotFound`, `NoSuchVersion`, `MethodNotAllowed` for a delete marker. */
  headObject(tenant: string, bucket: string, key: string, version?: string): Promise<ObjectVersion>;
  /** A version of whatever kind; `undefined` when there is none. */
  findVersion(target: Pick<VersionTarget, "bucket" | "key" | "version">): Promise<ObjectVersion | undefined>;
  /** Bytes `start` to `end` (exclusive) of an object that this store gave. */
  readObject(object: ObjectVersion, start: number, end: number, options?: ReadOptions): AsyncGenerator<Uint8Array, void>;
  /** Stores an object; it is there, whole and durable, when this resolves. */
  putObject(draft: ObjectDraft): Promise<ObjectVersion>;
  /** Deletes a key, or one version of it; deleting what is not there is no error. */
  deleteObject(tenant: string, bucket: string, key: string, options: DeleteOptions): Promise<Deletion>;
  /** Changes what is told of a version, never its bytes. Returns it as it is then. */
  describeVersion(target: VersionTarget, change: (version: ObjectVersion) => ObjectVersion): Promise<ObjectVersion>;
  /** Keeps a version until a time, longer than it is kept already unless that may be bypassed; `undefined` ends it. */
  retain(target: VersionTarget, retention: Retention | undefined, by: RetentionChange): Promise<ObjectVersion>;
  /** Puts a version under a legal hold, or takes it off. */
  holdLegally(target: VersionTarget, on: boolean): Promise<ObjectVersion>;
  /** What is kept of an object under a client's key: enough to tell the key, not to have it. */
  customerEncryption(key: Uint8Array): ObjectEncryption & { readonly kind: "customer" };
  /** The key, where the version is under it; `undefined` where both are without. Throws `InvalidRequest` when one does not fit the other. */
  customerKeyFor(version: Pick<ObjectVersion, "encryption">, key: Uint8Array | undefined): Uint8Array | undefined;

  /** The current version of each key. */
  listKeys(query: KeyQuery): Promise<KeyPage<ObjectVersion>>;
  /** Every version of every key, the latest of a key first, delete markers too. `afterVersion`: of the key `after` only those before it. */
  listVersions(query: KeyQuery & { readonly afterVersion?: string | undefined }): Promise<KeyPage<ListedVersion>>;
  /** The uploads that are under way. `afterUpload`: of the key `after` only those behind this one. */
  listUploads(query: KeyQuery & { readonly afterUpload?: string | undefined }): Promise<KeyPage<ListedUpload>>;

  /** Begins an upload; returns its id. */
  createUpload(draft: UploadDraft): Promise<string>;
  /** The upload that a target names. Throws `NoSuchUpload`. */
  openUpload(target: UploadTarget): Promise<Upload>;
  /** Stores one part; sending a number again replaces it. */
  uploadPart(target: UploadTarget, number: number, body: PartBody): Promise<UploadPart>;
  /** The parts of an upload by number, those behind `after`. */
  listParts(
    target: UploadTarget,
    after: number,
    limit: number,
  ): Promise<{ readonly upload: Upload; readonly parts: readonly UploadPart[]; readonly more: boolean }>;
  /** Joins the named parts into the object. */
  completeUpload(target: UploadTarget, completion: Completion): Promise<ObjectVersion>;
  /** Ends an upload and its parts. `startedAt`: only when it was begun then, to the second. */
  abortUpload(target: UploadTarget, startedAt?: number): Promise<void>;
  /** Numbers and bytes of the parts that an object was made of, in their order; `undefined`: it was put at once. */
  partsOf(object: ObjectVersion): readonly { readonly number: number; readonly size: number }[] | undefined;
  /** The checksums of some of these parts, by number. */
  partChecksums(object: ObjectVersion, numbers: readonly number[]): Promise<ReadonlyMap<number, UploadPart["checksums"]>>;

  /** Waits for room in memory for so many bytes; what it gives takes them back. Throws `MemoryExhausted`. */
  reserve(bytes: number): Promise<() => void>;
  /** Throws `MaintenanceMode` while nothing may change. */
  refuseInMaintenance(): void;
}
