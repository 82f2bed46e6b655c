import { eventCategories, severities } from "@seneschal/core/storage";
import * as z from "zod";
import { limitParam, offsetParam } from "../query.ts";
import type { Contract } from "../route.ts";
import { cluster, device, event, historyPoint, hoursParam, id, job, node, pool, repair, shard, tuning } from "./nouns.ts";

const open = { auth: "public", status: 200, tag: "probes", method: "GET" } as const;
/** Open or for authenticated readers, as configured. */
const read = { auth: "optional", action: "storage:read", status: 200, tag: "status", method: "GET" } as const;

/** Spec 3 A: liveness, metrics and the JSON status API. */
export const statusRoutes = {
  health: { ...open, uncounted: true, path: "/health", summary: "Liveness: `ok` while the server runs", produces: "text/plain" },
  ready: {
    ...open,
    path: "/ready",
    uncounted: true,
    summary: "Readiness probe",
    reply: z.strictObject({ status: z.enum(["ready", "not_ready"]) }),
    alsoStatus: [503],
    extension: true,
  },
  metrics: { ...open, uncounted: true, path: "/metrics", summary: "Metrics, Prometheus text format", produces: "text/plain" },
  getCluster: { ...read, path: "/ui/api/cluster", summary: "Cluster summary", reply: cluster },
  listNodes: { ...read, path: "/ui/api/nodes", summary: "Nodes", reply: z.array(node) },
  getHistory: {
    ...read,
    path: "/ui/api/history",
    summary: "Metric snapshots: 10 s apart for 3 hours, 60 s for 24",
    query: z.strictObject({ hours: hoursParam(3) }),
    reply: z.object({ hours: z.number(), points: z.array(historyPoint) }),
  },
  listEvents: {
    ...read,
    path: "/ui/api/events",
    summary: "Events, newest first",
    query: z.strictObject({
      severity: z.enum(["all", ...severities]).optional(),
      category: z.enum(["all", ...eventCategories]).optional(),
      hours: hoursParam(3),
      limit: limitParam(1000),
    }),
    reply: z.array(event),
  },
  listDevices: { ...read, path: "/ui/api/devices", summary: "Devices", reply: z.array(device), extension: true },
  listPools: {
    ...read,
    path: "/ui/api/pools",
    summary: "Pools with their effective thresholds",
    reply: z.array(pool),
    extension: true,
  },
  listShards: { ...read, path: "/ui/api/shards", summary: "Shards", reply: z.array(shard), extension: true },
  listJobs: {
    ...read,
    path: "/ui/api/jobs",
    summary: "Jobs, newest first",
    query: z.strictObject({ limit: limitParam(100), offset: offsetParam() }),
    reply: z.array(job),
    extension: true,
  },
  getJob: {
    ...read,
    path: "/ui/api/jobs/:job_id",
    summary: "One job",
    params: z.object({ job_id: id }),
    reply: job,
    extension: true,
  },
  listRepairs: {
    ...read,
    path: "/ui/api/repairs",
    summary: "The last repairs, newest first",
    reply: z.array(repair),
    extension: true,
  },
  getTuning: { ...read, path: "/ui/api/tuning", summary: "Tuning parameters in force", reply: tuning, extension: true },
} as const satisfies Contract;
