import type { Body, ChunkRef, KeptAttributes, ObjectNotice, ObjectVersion, Tenant, UploadPart } from "@seneschal/core/storage";
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

/** A version of a key: the current one lies in `storage_objects`, those before it in `storage_versions`. */
export interface ObjectDoc extends ObjectVersion {
  readonly body: Body & JsonObject;
}

export interface PartDoc extends UploadPart {
  readonly chunks: readonly ChunkRef[];
  /** Of a part under a client's key: what its key stream is derived from. */
  readonly salt?: string;
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

export type TenantDoc = Tenant & JsonObject;

/** What the network file system keeps of a key; of a directory the key ends with `/`, of the root it is empty. */
export interface FileDoc extends KeptAttributes {
  readonly bucket: string;
  readonly key: string;
  /** The file id, 16 hex digits: what handles name, also after a rename. */
  readonly file: string;
  /** Of a file that was made exclusively: what the client called it by. */
  readonly exclusive?: string;
}
