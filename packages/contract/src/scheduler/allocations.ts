import * as z from "zod";
import { jsonValue } from "../json-value.ts";
import { flagParam, integerParam, limitParam, offsetParam } from "../query.ts";
import type { Contract } from "../route.ts";
import { count, datasets, idParams, labels, name, state, success, text, time, userName } from "./nouns.ts";

const request = z
  .strictObject({
    tenant: name,
    project: text(256).optional(),
    vcluster: name.default("default"),
    entrypoint: text(8192).default(""),
    nodes: z.int().min(1).max(1_000_000).default(1),
    min_nodes: z.int().min(1).max(1_000_000).optional(),
    walltime_hours: z.number().positive().max(87_600).default(1),
    lifecycle: z.enum(["bounded", "unbounded", "reactive"]).default("bounded"),
    requeue_policy: z.enum(["never", "on_node_failure", "always"]).default("never"),
    max_requeue: z.int().min(0).max(100).default(3),
    image: text(512).nullable().optional(),
    sensitive: z.boolean().default(false),
    priority_class: z.int().min(0).max(10).default(5),
    checkpoint: z.enum(["auto", "manual", "none"]).default("none"),
    gpu_type: name.nullable().optional(),
    gpus_per_node: z.int().min(0).max(1024).nullable().optional(),
    datasets: datasets(64).default([]),
    labels: labels.default({}),
  })
  .refine((asked) => (asked.min_nodes ?? asked.nodes) <= asked.nodes, {
    path: ["min_nodes"],
    message: "expected at most nodes",
  });

const nodeCount = z.number().nullable();

const allocation = z
  .strictObject({
    id: z.string(),
    allocation_id: z.string(),
    tenant: z.string(),
    tenant_id: z.string(),
    user: z.string(),
    user_id: z.string(),
    project: z.string(),
    vcluster: z.string(),
    state,
    status_reason: z.string(),
    message: z.string(),
    entrypoint: z.string(),
    nodes: z.int(),
    min_nodes: z.int(),
    /** What it asks for now: `nodes`, but for reactive work that is scaled. */
    desired_nodes: z.int(),
    assigned_nodes: z.array(z.string()),
    /** The same as `assigned_nodes`, under the name that other clients read. */
    nodes_allocated: z.array(z.string()),
    per_node_gpus: z.array(nodeCount),
    created_at: time,
    started_at: time.nullable(),
    completed_at: time.nullable(),
    exit_code: z.int().nullable(),
    labels: z.record(z.string(), z.string()),
    annotations: z.record(z.string(), z.string()),
    priority_class: z.int(),
    requested_resources: z.strictObject({
      nodes: z.int(),
      walltime_hours: z.number(),
      gpu_type: z.string().nullable(),
      gpus_per_node: z.int().nullable(),
      datasets: z.array(z.string()),
    }),
    lifecycle: z.string(),
    requeue_policy: z.string(),
    requeue_count: z.int(),
    max_requeue: z.int(),
    checkpoint: z.string(),
    image: z.string().nullable(),
    sensitive: z.boolean(),
    burst: z.boolean(),
    version: z.int(),
  })
  .meta({ id: "Allocation" });

const reason = z.strictObject({ code: z.string(), message: z.string(), details: z.record(z.string(), jsonValue) });

/** What would be decided, and why; nothing is stored. */
const dryRun = z
  .strictObject({
    dry_run: z.literal(true),
    decision: z.enum(["accepted", "rejected"]),
    would_start: z.boolean(),
    nodes: z.array(z.string()),
    reasons: z.array(reason),
    score: z.number().nullable(),
  })
  .meta({ id: "DryRun" });

const submitted = z.strictObject({ allocation_id: z.string(), id: z.string() });
const of = { tag: "allocations", auth: "principal", params: idParams } as const;
const moved = {
  ...of,
  method: "POST",
  status: 200,
  reply: success,
  errors: [409, 503],
  keyed: true,
  bodyOptional: true,
} as const;
const ended = z.strictObject({ exit_code: z.int().min(-1).max(255).default(0), message: text(1024).optional() });
const remark = z.strictObject({ message: text(1024).optional() });

/** Work: submitted by users, started by the cycle, ended by agents or by its users. */
export const allocationRoutes = {
  submitAllocation: {
    tag: "allocations",
    auth: "principal",
    method: "POST",
    path: "/api/v1/allocations",
    summary: "Submit work; what breaks a hard quota is refused at once. dry_run answers what would be decided",
    action: "allocation:submit",
    keyed: true,
    query: z.strictObject({ dry_run: flagParam().optional() }),
    body: request,
    status: 201,
    reply: z.union([submitted, dryRun]),
    errors: [409, 422, 503],
  },
  listAllocations: {
    tag: "allocations",
    auth: "principal",
    method: "GET",
    path: "/api/v1/allocations",
    summary: "Work that the caller may see, newest first",
    action: "allocation:list",
    query: z.strictObject({
      tenant: name.optional(),
      tenant_id: name.optional(),
      user: userName.optional(),
      state: state.optional(),
      vcluster: name.optional(),
      limit: limitParam(100),
      offset: offsetParam(),
    }),
    status: 200,
    reply: z.array(allocation),
  },
  getAllocation: {
    ...of,
    method: "GET",
    path: "/api/v1/allocations/:id",
    summary: "One allocation",
    action: "allocation:read",
    status: 200,
    reply: allocation,
    errors: [503],
  },
  cancelAllocation: {
    ...moved,
    path: "/api/v1/allocations/:id/cancel",
    summary: "Cancel; its nodes are free at once. Ended work is a conflict",
    action: "allocation:cancel",
    body: remark,
  },
  suspendAllocation: {
    ...moved,
    path: "/api/v1/allocations/:id/suspend",
    summary: "Ask running work to write a checkpoint and give its nodes back",
    action: "allocation:suspend",
    body: remark,
    extension: true,
  },
  resumeAllocation: {
    ...moved,
    path: "/api/v1/allocations/:id/resume",
    summary: "Put suspended work back into the queue",
    action: "allocation:resume",
    body: remark,
    extension: true,
  },
  requeueAllocation: {
    ...moved,
    path: "/api/v1/allocations/:id/requeue",
    summary: "Put failed work back into the queue, where its policy allows it",
    action: "allocation:requeue",
    body: z.strictObject({ expected_requeue_count: count.optional() }),
    extension: true,
  },
  scaleAllocation: {
    ...moved,
    path: "/api/v1/allocations/:id/scale",
    summary: "Reactive work asks for another number of nodes, from min_nodes to nodes: fewer at once, more with the next cycles",
    action: "allocation:scale",
    body: z.strictObject({ nodes: z.int().min(1).max(1_000_000) }),
    bodyOptional: false,
    extension: true,
  },
  completeAllocation: {
    ...moved,
    path: "/api/v1/allocations/:id/complete",
    summary: "The agent reports the end; an exit code other than 0 is a failure",
    action: "allocation:report",
    body: ended,
  },
  failAllocation: {
    ...moved,
    path: "/api/v1/allocations/:id/fail",
    summary: "The agent reports a failure",
    action: "allocation:report",
    body: z.strictObject({ exit_code: z.int().min(-1).max(255).optional(), message: text(1024).optional() }),
    extension: true,
  },
  checkpointedAllocation: {
    ...moved,
    path: "/api/v1/allocations/:id/checkpointed",
    summary: "The agent reports that the checkpoint is written and the work has stopped",
    action: "allocation:report",
    body: remark,
    extension: true,
  },
  diagnoseAllocation: {
    ...of,
    method: "GET",
    path: "/api/v1/allocations/:id/diagnostics",
    summary: "Why it waits or where it runs: every term of its score, with weight and value",
    action: "allocation:read",
    status: 200,
    reply: z.strictObject({
      allocation_id: z.string(),
      state,
      node_assignments: z.array(z.strictObject({ node: z.string(), gpus: nodeCount })),
      scheduler_decisions: z.array(
        z.strictObject({
          timestamp: time,
          code: z.string(),
          message: z.string(),
          details: z.record(z.string(), jsonValue),
          score: z
            .strictObject({
              total: z.number(),
              penalty: z.number(),
              terms: z.record(z.string(), z.strictObject({ weight: z.number(), value: z.number() })),
            })
            .nullable(),
        }),
      ),
      resource_utilization: z.strictObject({
        node_hours: z.number(),
        gpu_hours: z.number(),
        attempts: z.array(z.strictObject({ started_at: time, ended_at: time.nullable(), nodes: z.int(), gpus: z.int() })),
      }),
      warnings: z.array(z.string()),
    }),
  },
  watchAllocation: {
    ...of,
    method: "GET",
    path: "/api/v1/allocations/:id/watch",
    summary: "Server-sent events: one per change, until it has ended",
    action: "allocation:read",
    status: 200,
    produces: "text/event-stream",
  },
  allocationLogs: {
    ...of,
    method: "GET",
    path: "/api/v1/allocations/:id/logs",
    summary: "Output of work that the local runner executes: an array, or with follow=true server-sent events",
    action: "allocation:read",
    query: z.strictObject({ lines: integerParam(1, 10_000).optional(), follow: flagParam().optional() }),
    status: 200,
    produces: "application/json",
  },
} as const satisfies Contract;
