import type {
  BucketQuota,
  BucketUsage,
  CorsRule,
  DefaultRetention,
  LifecycleRule,
  NotificationRule,
  ObjectNotice,
  Retention,
  Website,
} from "@seneschal/core/storage";
import type { JsonObject } from "@seneschal/kernel";

/** One fragment of a chunk: the device and the extent that hold it. */
export interface FragmentRecord extends JsonObject {
  readonly device: string;
  readonly extent: string;
}

/** A stored chunk. `sealed` is the true length of the ciphertext before padding to the stripe. */
export interface ChunkDoc extends JsonObject {
  readonly pool: string;
  readonly size: number;
  readonly sealed: number;
  readonly epoch: number;
  readonly nonce: string;
  readonly data: number;
  readonly parity: number;
  /** By fragment index; `null` where the fragment has no home at the moment. */
  readonly fragments: readonly (FragmentRecord | null)[];
  readonly refs: number;
  readonly created_at: number;
  /** Since when it is known that fewer than `data` fragments are left; absent while the chunk can be read. */
  readonly lost_at?: number;
}

/** A use of a chunk by an object: the wrapped derivation parameters open it for one tenant. */
export interface ChunkRef extends JsonObject {
  readonly id: string;
  readonly size: number;
  readonly key: string;
}

/** Where the bytes of an object are. */
export type Body =
  | {
      readonly kind: "inline";
      readonly id: string;
      readonly key: string;
      readonly epoch: number;
      readonly nonce: string;
      readonly sealed: string;
    }
  | { readonly kind: "chunks"; readonly chunks: readonly ChunkRef[] }
  | { readonly kind: "parts"; readonly parts: readonly { readonly id: string; readonly size: number }[] }
  /** A delete marker's. */
  | { readonly kind: "none" };

/** A version of a key: the current one lies in `storage_objects`, those before it in `storage_versions`. */
export interface ObjectDoc extends JsonObject {
  readonly bucket: string;
  readonly key: string;
  readonly tenant: string;
  readonly size: number;
  readonly etag: string;
  readonly content_type: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly meta: Readonly<Record<string, string>>;
  readonly modified_at: number;
  readonly body: Body & JsonObject;
  /** Absent: the version `null`, of a bucket that had no versions when it was written. */
  readonly version_id?: string;
  /** Orders the versions of a key, the latest has the greatest; absent: `modified_at`. */
  readonly ordinal?: number;
  readonly delete_marker?: boolean;
  /** Since when it is not the current version. */
  readonly superseded_at?: number;
  readonly tags?: Tags;
  readonly retention?: Retention & JsonObject;
  readonly legal_hold?: boolean;
  /** Absent: by keys of the cluster and the tenant alone. */
  readonly encryption?: ObjectEncryption & JsonObject;
}

/** In the order of their keys. */
export type Tags = readonly (JsonObject & { readonly key: string; readonly value: string })[];

/** What a client asked for besides the encryption that everything has. */
export type ObjectEncryption =
  /** With the name of the tenant's key, which every object of the tenant is under. */
  | { readonly kind: "aws:kms"; readonly key_id: string }
  /** Under a key that the client keeps: `check` tells whether a key is the one. */
  | { readonly kind: "customer"; readonly salt: string; readonly check: string };

export interface PartDoc extends JsonObject {
  readonly upload: string;
  readonly number: number;
  readonly size: number;
  readonly etag: string;
  readonly modified_at: number;
  readonly chunks: readonly ChunkRef[];
  /** Verified checksums, base64, by algorithm. */
  readonly checksums?: Readonly<Record<string, string>>;
  /** Of a part under a client's key: what its key stream is derived from. */
  readonly salt?: string;
}

/** What a multipart upload begins with. */
export interface UploadDraft {
  readonly bucket: string;
  readonly key: string;
  readonly tenant: string;
  readonly content_type: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly meta: Readonly<Record<string, string>>;
  /** What was asked for: an algorithm by its header suffix, and what the object's checksum is made of. */
  readonly checksum?: UploadChecksum;
  readonly tags?: Tags;
  readonly retention?: Retention & JsonObject;
  readonly legal_hold?: boolean;
  readonly encryption?: ObjectEncryption & JsonObject;
}

export interface UploadChecksum extends JsonObject {
  readonly algorithm: string;
  readonly type: "COMPOSITE" | "FULL_OBJECT";
}

export interface UploadDoc extends UploadDraft, JsonObject {
  readonly bucket: string;
  readonly key: string;
  readonly tenant: string;
  readonly content_type: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly meta: Readonly<Record<string, string>>;
  readonly started_at: number;
}

export interface BucketDoc extends JsonObject {
  readonly name: string;
  readonly tenant: string;
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
}

/** What a webhook has not heard of yet; it is made with the change that it tells of, and goes when it was heard of. */
export type NoticeDoc = ObjectNotice & JsonObject & { readonly webhook: string };

/** How far a webhook has been told of the changes of the store, and since when it does not answer. */
export interface WebhookDoc extends JsonObject {
  readonly seq: number;
  readonly failing_since?: number;
  /** What waits for it goes an hour after this. */
  readonly unconfigured_since?: number;
}

/** What a bucket with a quota holds: it moves in the commits that move its objects. */
export interface UsageDoc extends BucketUsage, JsonObject {
  readonly bytes: number;
  readonly objects: number;
  /** Present while what was there before the quota is counted: what lies behind this place is not in the figures yet. */
  readonly counting?: JsonObject & {
    readonly coll: "storage_objects" | "storage_versions";
    /** Where the next page of the collection begins; absent: at its beginning. */
    readonly cursor?: string;
    /** The last that was counted, as its index sorts: leading bytes of the key, order among the versions of a key, id. */
    readonly last?: readonly [lead: string, order: number, id: string];
  };
}

export type Versioning = "Enabled" | "Suspended";

export interface TenantDoc extends JsonObject {
  readonly id: string;
  /** `shredding`: cut off, but its key service has not confirmed yet that the key is destroyed. */
  readonly state: "active" | "shredding" | "shredded";
  /** The tenant's key-encryption key, sealed by the tenant's key service. */
  readonly kek: string;
  readonly dedup: boolean;
  readonly created_at: number;
}

/** A time that a client set, seconds and nanoseconds. */
export type SetTime = readonly [seconds: number, nanoseconds: number];

/** What the network file system keeps of a key; of a directory the key ends with `/`, of the root it is empty. */
export interface FileDoc extends JsonObject {
  readonly bucket: string;
  readonly key: string;
  /** The file id, 16 hex digits: what handles name, also after a rename. */
  readonly file: string;
  /** Absent: what the export says of files that nobody owns. */
  readonly mode?: number;
  readonly uid?: number;
  readonly gid?: number;
  readonly accessed?: SetTime;
  /** Set by a client, of the content that was there then (`of`): a later write is later. */
  readonly modified?: JsonObject & { readonly at: SetTime; readonly of: string };
  /** When the record, or an entry of the directory, last changed by NFS. */
  readonly changed_at: number;
  /** Of a file that was made exclusively: what the client called it by. */
  readonly exclusive?: string;
}
