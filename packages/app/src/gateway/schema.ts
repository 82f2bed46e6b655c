import type { Collections } from "@seneschal/kernel/ports";
import type { StoreSchema } from "@seneschal/kernel/store";
import { auditSinkCollections } from "../platform/audit-sinks/places.ts";
import { decisionCollections } from "../platform/decision-log/documents.ts";
import { idempotencyCollections } from "../platform/idempotency.ts";
import { auditIndexes } from "./ground/index.ts";
import { gatewayCollectionList } from "./resources.ts";

const own: Collections = Object.fromEntries(gatewayCollectionList.map((declared) => [declared.name, declared]));

/** What a store must be opened with to serve the gateway: its collections, the platform's, and the audit indexes. */
export const gatewaySchema: StoreSchema = {
  collections: { ...own, ...idempotencyCollections, ...auditSinkCollections, ...decisionCollections },
  auditIndexes,
  auditTime: "timestamp",
};
