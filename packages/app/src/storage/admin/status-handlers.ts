import { type Handlers, withHeaders } from "@seneschal/contract";
import type { StorageContract } from "@seneschal/contract/storage";
import { storageError } from "@seneschal/core/storage";
import type { AdminServices } from "./services.ts";
import {
  clusterView,
  deviceViews,
  eventView,
  historyView,
  jobView,
  nodeViews,
  poolViews,
  repairView,
  shardViews,
} from "./views.ts";

type StatusRoute =
  | "health"
  | "ready"
  | "metrics"
  | "getCluster"
  | "listNodes"
  | "getHistory"
  | "listEvents"
  | "listDevices"
  | "listPools"
  | "listShards"
  | "listJobs"
  | "getJob"
  | "listRepairs"
  | "getTuning";

export const statusHandlers: Pick<Handlers<StorageContract, AdminServices>, StatusRoute> = {
  health: () => ({ mediaType: "text/plain; charset=utf-8", body: "ok" }),
  async ready({ health }) {
    const { ready } = await health();
    return withHeaders({}, { status: ready ? ("ready" as const) : ("not_ready" as const) }, ready ? 200 : 503);
  },
  async metrics({ node }) {
    const { registry } = node.metrics;
    return { mediaType: "text/plain; version=0.0.4; charset=utf-8", body: await registry.metrics() };
  },
  getCluster: ({ node }) => clusterView(node),
  listNodes: ({ node }) => nodeViews(node),
  getHistory: ({ node }, { query, now }) => ({
    hours: query.hours,
    points: node.monitor.history.query(query.hours, now).map(historyView),
  }),
  async listEvents({ node }, { query, now }) {
    const events = await node.clusterEvents({
      since: now - query.hours * 3_600_000,
      limit: query.limit,
      ...(query.severity && query.severity !== "all" && { severity: query.severity }),
      ...(query.category && query.category !== "all" && { category: query.category }),
    });
    return events.map(eventView);
  },
  listDevices: ({ node }) => deviceViews(node),
  listPools: ({ node }) => poolViews(node),
  listShards: ({ node }) => shardViews(node),
  async listJobs({ node }, { query }) {
    return (await node.jobs.list(query)).map(jobView);
  },
  async getJob({ node }, { params }) {
    const job = await node.jobs.get(params.job_id);
    if (job === undefined) throw storageError("NotFound", `no such job: ${params.job_id}`, { field: "job_id" });
    return jobView(job);
  },
  listRepairs: ({ node }) => node.repair.records().toReversed().map(repairView),
  getTuning: ({ node }) => ({ ...node.cluster.state.tuning }),
};
