import * as z from "zod";
import type { Contract } from "../route.ts";
import { aliased, base64, idParam, listOf, name, organizationId, page, reference, timestamp } from "./shapes.ts";

const edgeStatuses = ["healthy", "unhealthy", "connected", "disconnected", "sealed"] as const;

const edge = z
  .object({
    id: z.uuid(),
    org_id: organizationId,
    name: z.string(),
    vault_address: z.string(),
    classification: z.string(),
    region: z.string(),
    tags: z.record(z.string(), z.string()),
    status: z.enum(edgeStatuses),
    last_heartbeat: timestamp.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "EdgeNode" });

const route = { tag: "edges", auth: "principal" } as const;
const base = "/api/v1/edges";

/** Vaults at the edge that get policies and wrapped keys pushed. */
export const edgeRoutes = {
  registerEdge: {
    ...route,
    method: "POST",
    path: base,
    summary: "An edge node; it is kept even when its first probe fails",
    action: "edge:write",
    body: aliased(
      z.strictObject({
        name,
        vault_address: z.url().max(2048),
        // It is sent as a header.
        vault_token: z
          .string()
          .max(4096)
          .regex(/^[\x21-\x7e]+$/, "a token is of visible ASCII characters"),
        vault_ca_cert: z.string().max(65_536).optional(),
        classification: z.enum(["CONFIDENTIAL", "SECRET"]).default("CONFIDENTIAL"),
        region: z.string().max(256).default(""),
        tags: z
          .record(z.string().min(1).max(128), z.string().max(1024))
          .refine((tags) => Object.keys(tags).length <= 64, "at most 64 tags")
          .meta({ maxProperties: 64 })
          .default({}),
      }),
      { vault_addr: "vault_address" },
    ),
    status: 201,
    reply: edge,
    errors: [409],
  },
  listEdges: {
    ...route,
    method: "GET",
    path: base,
    summary: "Edge nodes, newest first",
    action: "edge:read",
    query: page(),
    status: 200,
    reply: listOf("edges", edge),
  },
  getEdge: {
    ...route,
    method: "GET",
    path: `${base}/:id`,
    summary: "One edge node",
    action: "edge:read",
    entity: "edge",
    params: idParam,
    status: 200,
    reply: edge,
  },
  deleteEdge: {
    ...route,
    method: "DELETE",
    path: `${base}/:id`,
    summary: "Forget an edge node and its token",
    action: "edge:write",
    entity: "edge",
    params: idParam,
    status: 204,
  },
  edgeHealth: {
    ...route,
    method: "GET",
    path: `${base}/:id/health`,
    summary: "Asks the edge node's vault",
    action: "edge:read",
    changesOnRead: true,
    params: idParam,
    status: 200,
    reply: z
      .object({
        healthy: z.boolean(),
        status: z.enum(edgeStatuses),
        last_checked: timestamp,
        vault_sealed: z.boolean(),
        ha_enabled: z.boolean(),
        ha_mode: z.string(),
        cluster_nodes: z.int(),
        version: z.string(),
        latency_ms: z.number(),
        error_message: z.string(),
      })
      .meta({ id: "EdgeHealth" }),
  },
  syncEdgePolicies: {
    ...route,
    method: "POST",
    path: `${base}/:id/sync/policies`,
    summary: "Push policies: the named ones, or all of the organisation's",
    action: "edge:sync-policies",
    params: idParam,
    body: z.strictObject({ policies: z.array(reference).max(1000).optional() }),
    bodyOptional: true,
    status: 204,
    errors: [503],
  },
  syncEdgeKeys: {
    ...route,
    method: "POST",
    path: `${base}/:id/sync/keys`,
    summary: "Push a workspace's wrapped data key",
    action: "edge:sync-keys",
    params: idParam,
    body: z.strictObject({ workspace_id: reference, wrapped_dek: base64(1, 65_536) }),
    bodyLimit: 128 << 10,
    status: 204,
    errors: [503],
  },
  edgeSyncStatus: {
    ...route,
    method: "GET",
    path: `${base}/:id/sync/status`,
    summary: "What was pushed and what failed",
    action: "edge:read",
    params: idParam,
    status: 200,
    reply: z
      .object({
        last_synced_at: timestamp.nullable(),
        sync_in_progress: z.boolean(),
        policies_synced: z.int(),
        keys_synced: z.int(),
        error_count: z.int(),
        last_error: z.string(),
      })
      .meta({ id: "SyncStatus" }),
  },
} as const satisfies Contract;
