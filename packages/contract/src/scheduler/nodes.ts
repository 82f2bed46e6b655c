import * as z from "zod";
import type { Contract } from "../route.ts";
import { datasets, idParams, name, remarkText, success, text, time } from "./nouns.ts";

const node = z
  .strictObject({
    id: z.string(),
    state: z.enum(["unknown", "booting", "ready", "degraded", "down", "draining", "drained", "failed"]),
    state_reason: z.string(),
    group: z.string(),
    gpu_type: z.string().nullable(),
    /** As it is counted: 1 where it is unknown. */
    gpu_count: z.int(),
    gpu_count_known: z.boolean(),
    cpu_cores: z.number(),
    memory_gb: z.number(),
    agent_address: z.string().nullable(),
    /** The fingerprint of its software that its agent declared. */
    conformance: z.string().nullable(),
    energy_price: z.number().nullable(),
    datasets: z.array(z.string()),
    last_heartbeat: time.nullable(),
    owner: z.strictObject({ allocation_id: z.string().nullable(), tenant: z.string().nullable() }).nullable(),
    claim: z.strictObject({ claimant: z.string().nullable(), tenant: z.string().nullable(), claimed_at: time }).nullable(),
    version: z.int(),
  })
  .meta({ id: "Node" });

const of = { tag: "nodes", auth: "principal", params: idParams } as const;
const operate = {
  ...of,
  method: "POST",
  status: 200,
  reply: success,
  errors: [409, 503],
  keyed: true,
  bodyOptional: true,
} as const;
const remark = z.strictObject({ reason: remarkText });

/** Machines: registered by their agents, operated by administrators. */
export const nodeRoutes = {
  listNodes: {
    tag: "nodes",
    auth: "principal",
    method: "GET",
    path: "/api/v1/nodes",
    summary: "All nodes; who works on them is shown to those whose work it is",
    action: "node:list",
    query: z.strictObject({}),
    status: 200,
    reply: z.array(node),
  },
  getNode: {
    ...of,
    method: "GET",
    path: "/api/v1/nodes/:id",
    summary: "One node",
    action: "node:read",
    status: 200,
    reply: node,
  },
  registerNode: {
    tag: "nodes",
    auth: "principal",
    method: "POST",
    path: "/api/v1/nodes",
    summary: "Register a node; a GPU count that is not given is unknown and counts as one",
    action: "node:register",
    keyed: true,
    body: z.strictObject({
      id: name,
      /** A name, or a number as clients send it that number their groups. */
      group: z.union([name, z.int().min(0).max(1_000_000).transform(String)]).default("0"),
      gpu_type: name.nullable().optional(),
      gpu_count: z.int().min(0).max(1024).nullable().optional(),
      cpu_cores: z.number().min(0).max(1e6).default(0),
      memory_gb: z.number().min(0).max(1e9).default(0),
      agent_address: text(256).nullable().optional(),
      conformance: text(256).nullable().optional(),
      energy_price: z.number().min(0).max(1e9).nullable().optional(),
      datasets: datasets(256).default([]),
    }),
    status: 201,
    reply: node,
    errors: [409, 503],
  },
  nodeHeartbeat: {
    ...operate,
    path: "/api/v1/nodes/:id/heartbeat",
    summary: "The agent is alive; with wiped=true a released sensitive node is fit for use again",
    action: "node:report",
    body: z.strictObject({ wiped: z.boolean().default(false) }),
  },
  drainNode: {
    ...operate,
    path: "/api/v1/nodes/:id/drain",
    summary: "Give it no new work; drained once its work has ended",
    action: "node:operate",
    body: remark,
  },
  undrainNode: {
    ...operate,
    path: "/api/v1/nodes/:id/undrain",
    summary: "Back into service",
    action: "node:operate",
    body: remark,
  },
  enableNode: {
    ...operate,
    path: "/api/v1/nodes/:id/enable",
    summary: "Ready again after down or failed",
    action: "node:operate",
    body: remark,
  },
  disableNode: {
    ...operate,
    path: "/api/v1/nodes/:id/disable",
    summary: "Down at once; its work fails or is requeued by its policy",
    action: "node:operate",
    body: remark,
  },
  claimNode: {
    ...operate,
    path: "/api/v1/nodes/:id/claim",
    summary: "Claim for sensitive use: counted while it stands, never reclaimed",
    action: "node:claim",
    body: z.strictObject({ tenant: name.optional(), reason: remarkText }),
  },
  releaseNode: {
    ...operate,
    path: "/api/v1/nodes/:id/release",
    summary: "Release a claim; only the claimant or an administrator may",
    action: "node:release",
    body: remark,
  },
} as const satisfies Contract;
