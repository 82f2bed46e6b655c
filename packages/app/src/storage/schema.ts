import type { Body, ChunkRef, KeptAttributes, ObjectNotice, ObjectVersion, Tenant, UploadPart } from "@seneschal/core/storage";
import type { Json, JsonObject } from "@seneschal/kernel";
import type { StoreSchema } from "@seneschal/kernel/store";
import { auditSinkCollections, idempotencyCollections, jobCollections } from "../platform/index.ts";

/** Keys are indexed by their first bytes only: index key and id share 1 KiB, an S3 key alone may take it all. */
export const indexedKeyBytes = 600;

/** The leading part of a key that the store sorts by: at most {@link indexedKeyBytes} of UTF-8, whole characters. */
export function indexedKey(key: string): string {
  if (Buffer.byteLength(key) <= indexedKeyBytes) return key;
  const cut = Buffer.from(key).subarray(0, indexedKeyBytes);
  let end = cut.length;
  while (end > 0 && ((cut[end] ?? Buffer.from(key)[end]) as number) >> 6 === 2) end--;
  return cut.toString("utf8", 0, end);
}

const text = (value: Json | undefined): string => value as string;
const number = (value: Json | undefined): number => value as number;

/** The collections of a storage node on the DocumentStore port. */
export const storageSchema: StoreSchema = {
  collections: {
    storage_cluster: { indexes: {} },
    storage_masters: { indexes: { by_epoch: { key: (d) => [number(d["epoch"])] } } },
    storage_tenants: {
      indexes: { by_id: { key: () => [] }, shredding: { key: (d) => (d["state"] === "shredding" ? [] : undefined) } },
    },
    storage_credentials: { indexes: { by_tenant: { key: (d) => [text(d["tenant"])] } } },
    storage_buckets: {
      indexes: {
        by_tenant: { key: (d) => [text(d["tenant"]), text(d["name"])] },
        replicated: { key: (d) => (d["replication"] === undefined ? undefined : [text(d["name"])]) },
      },
    },
    /** The current version of each key; delete markers are in `all` only. */
    storage_objects: {
      indexes: {
        by_key: {
          key: (d) => (d["delete_marker"] === true ? undefined : [text(d["bucket"]), indexedKey(text(d["key"]))]),
        },
        all: { key: (d) => [text(d["bucket"]), indexedKey(text(d["key"]))] },
      },
    },
    /** Versions that are not current any more, the latest of a key first. */
    storage_versions: {
      indexes: {
        by_key: {
          key: (d) => [text(d["bucket"]), indexedKey(text(d["key"])), -number(d["ordinal"] ?? d["modified_at"])],
        },
      },
    },
    storage_uploads: { indexes: { by_key: { key: (d) => [text(d["bucket"]), indexedKey(text(d["key"]))] } } },
    storage_parts: { indexes: { by_upload: { key: (d) => [text(d["upload"]), number(d["number"])] } } },
    storage_chunks: {
      indexes: {
        by_id: { key: () => [] },
        by_pool: { key: (d) => [text(d["pool"])] },
        under_replicated: { key: (d) => ((d["fragments"] as readonly Json[]).includes(null) ? [] : undefined) },
        lost: { key: (d) => (d["lost_at"] === undefined ? undefined : []) },
        unreferenced: { key: (d) => (d["refs"] === 0 ? [] : undefined) },
      },
    },
    storage_staged: { indexes: { by_time: { key: (d) => [number(d["at"])] }, by_stage: { key: (d) => [text(d["stage"])] } } },
    /** What the network file system keeps of a key that was seen there: by the id of its object, and by the id of the file. */
    storage_files: { indexes: { by_file: { key: (d) => [text(d["file"])], unique: true } } },
    storage_trash: { indexes: { by_due: { key: (d) => [number(d["due"])] } } },
    /** What buckets with a quota hold, by their names. */
    storage_usage: { indexes: { counting: { key: (d) => (d["counting"] === undefined ? undefined : []) } } },
    /** What waits to be copied, by where it goes and where it comes from, in the order of the versions. */
    storage_replications: {
      indexes: {
        by_queue: {
          key: (d) => [text(d["destination"]), text(d["bucket"]), text(d["into"]), number(d["ordinal"])],
        },
      },
    },
    /** By the names of buckets. */
    storage_replication_scans: { indexes: {} },
    storage_notices: { indexes: { by_webhook: { key: (d) => [text(d["webhook"])] } } },
    /** By the names of webhooks. */
    storage_webhooks: {
      indexes: { all: { key: () => [] }, failing: { key: (d) => (d["failing_since"] === undefined ? undefined : []) } },
    },
    storage_orphans: { indexes: { by_device: { key: (d) => [text(d["device"])] } } },
    storage_simulated_smart: { indexes: {} },
    storage_counters: { indexes: {} },
    ...auditSinkCollections,
    ...idempotencyCollections,
    ...jobCollections,
  },
};

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
