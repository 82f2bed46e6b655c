import type { JsonObject } from "@seneschal/kernel";
import type { IndexSpec, IndexValue } from "@seneschal/kernel/ports";
import type { StoreSchema } from "@seneschal/kernel/store";
import { auditArchives, auditTiles, auditTrees } from "../platform/audit-log/index.ts";
import { auditSinkCollections, decisionCollections, idempotencyCollections, jobCollections } from "../platform/index.ts";

const by = (...fields: readonly string[]): IndexSpec => ({ key: (doc) => fields.map((field) => doc[field] as IndexValue) });
const event = (doc: JsonObject): JsonObject => doc["event"] as JsonObject;

/** What a store must be opened with to serve data governance. */
export const governanceSchema: StoreSchema = {
  collections: {
    resources: { indexes: { by_org: Object.assign(by("org"), { revision: 2 }) } },
    lineage_events: { indexes: { by_arrival: by("arrived_at") } },
    lineage_blocks: { indexes: { by_org: by("org") } },
    scanned_assets: { indexes: { by_source: by("org", "source") } },
    catalogue_versions: { indexes: { by_org: by("org", "at"), by_key: by("org", "coll", "key") } },
    approvals: { indexes: { by_org: by("org", "requested_at") } },
    api_keys: { indexes: { by_org: by("org", "created_at") } },
    [auditArchives.name]: auditArchives,
    [auditTiles.name]: auditTiles,
    [auditTrees.name]: auditTrees,
    audit_persons: { indexes: { by_commitment: by("org", "commitment") } },
    audit_checkpoints: {
      indexes: { by_size: by("stream", "size"), by_seq: { key: (doc) => [(doc["seq"] as number | undefined) ?? 0] } },
    },
    ...decisionCollections,
    ...jobCollections,
    ...auditSinkCollections,
    ...idempotencyCollections,
  },
  auditIndexes: {
    by_id: { key: (doc) => [event(doc)["id"] as string] },
    by_time: { key: (doc) => [doc["stream"] as string, event(doc)["timestamp"] as string] },
    by_user: { key: (doc) => [doc["stream"] as string, event(doc)["user_id"] as string, event(doc)["timestamp"] as string] },
  },
  auditTime: "timestamp",
};
