import type { JsonObject } from "@seneschal/core";

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
  | { readonly kind: "parts"; readonly parts: readonly { readonly id: string; readonly size: number }[] };

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
}

export interface PartDoc extends JsonObject {
  readonly upload: string;
  readonly number: number;
  readonly size: number;
  readonly etag: string;
  readonly modified_at: number;
  readonly chunks: readonly ChunkRef[];
  /** Verified checksums, base64, by algorithm. */
  readonly checksums?: Readonly<Record<string, string>>;
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
}

export interface TenantDoc extends JsonObject {
  readonly id: string;
  /** `shredding`: cut off, but its key service has not confirmed yet that the key is destroyed. */
  readonly state: "active" | "shredding" | "shredded";
  /** The tenant's key-encryption key, sealed by the tenant's key service. */
  readonly kek: string;
  readonly dedup: boolean;
  readonly created_at: number;
}
