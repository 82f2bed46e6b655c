import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { schedulerContract } from "@seneschal/contract/scheduler";
import { serve } from "@seneschal/server-fastify";
import { holdRouteLaws, type Situation, type Subject } from "../platform/route-laws.ts";
import { type Person, startScheduler } from "./harness.ts";

async function open(): Promise<Subject> {
  const backups = mkdtempSync(join(tmpdir(), "route-laws-"));
  const s = await startScheduler(serve, { test_clock: true, storage: { backups } });
  await s.cluster(0);
  await s.ok("root", "PUT", "/api/v1/system/quotas", { sensitive_pool_size: 10 });
  let made = 0;
  const name = (of: string): string => {
    made += 1;
    return `${of}-${made}`;
  };
  /** A node that nobody works on. */
  const node = async (): Promise<string> => {
    const id = name("node");
    await s.ok("agent-1", "POST", "/api/v1/nodes", { id });
    return id;
  };
  const read = (what: string, id: string) => () => s.ok("root", "GET", `/api/v1/${what}/${id}`);
  const audited = () => s.ok("root", "GET", "/api/v1/audit?limit=1000");
  const onNode = async (...verbs: readonly string[]): Promise<Situation> => {
    const id = await node();
    for (const verb of verbs)
      await s.ok("root", "POST", `/api/v1/nodes/${id}/${verb}`, verb === "claim" ? { tenant: "physics" } : {});
    return { path: { id }, read: read("nodes", id) };
  };
  /** The newest entry of the audit log, which is where a reason stands that a state does not keep. */
  const withReason = async (situation: Promise<Situation>): Promise<Situation> => ({
    ...(await situation),
    read: async () => (await audited())[0],
  });
  /** Work that runs, on a node of its own. */
  const running = async (request: object = {}): Promise<Situation> => {
    await node();
    const id = await s.submit("ada", { ...request });
    await s.cycle();
    return { path: { id }, read: read("allocations", id) };
  };
  const then = async (situation: Promise<Situation>, verb: string, who: Person, body?: object): Promise<Situation> => {
    const { path, read: again } = await situation;
    await s.ok(who, "POST", `/api/v1/allocations/${path?.["id"]}/${verb}`, body);
    return { path: path as Record<string, string>, read: again as NonNullable<Situation["read"]> };
  };
  const backup = async (): Promise<string> => (await s.ok("root", "POST", "/api/v1/admin/backup")).backup_id;
  const tenant = async (): Promise<string> => (await s.ok("root", "POST", "/api/v1/tenants", { name: name("tenant") })).id;
  const byAgent = async (situation: Promise<Situation>): Promise<Situation> => ({ ...(await situation), by: "agent-1" });
  return {
    call: (by, method, path, body) => s.call(by as Person, method, path, body),
    audited: async () => (await s.ok("root", "GET", "/api/v1/audit/checkpoint")).entries,
    async close() {
      await s.stop();
      rmSync(backups, { recursive: true });
    },
    situations: {
      createTenant: async () => ({ body: { parent: await tenant() } }),
      updateTenant: async () => ({ path: { id: await tenant() } }),
      deleteTenant: async () => ({ path: { id: await tenant() } }),
      submitAllocation: async () => ({
        by: "ada",
        body: { tenant: "physics", nodes: 3, min_nodes: 2, lifecycle: "reactive", labels: { team: "red" } },
        read: (answer) => read("allocations", answer.id)(),
      }),
      cancelAllocation: () => running(),
      suspendAllocation: () => running({ checkpoint: "manual" }),
      resumeAllocation: () => then(then(running({ checkpoint: "manual" }), "suspend", "ada"), "checkpointed", "agent-1"),
      requeueAllocation: async () => ({
        ...(await then(running({ requeue_policy: "on_node_failure" }), "fail", "agent-1")),
        body: { expected_requeue_count: 0 },
      }),
      scaleAllocation: async () => ({
        ...(await running({ lifecycle: "reactive", nodes: 3, min_nodes: 1 })),
        body: { nodes: 2 },
      }),
      completeAllocation: () => byAgent(running()),
      failAllocation: () => byAgent(running()),
      checkpointedAllocation: () => byAgent(then(running({ checkpoint: "manual" }), "suspend", "ada")),
      registerNode: async () => ({ by: "agent-1" }),
      nodeHeartbeat: async () => ({ ...(await onNode()), by: "agent-1" }),
      drainNode: () => onNode(),
      undrainNode: () => withReason(onNode("drain")),
      enableNode: () => withReason(onNode("disable")),
      disableNode: () => onNode(),
      claimNode: async () => ({ ...(await withReason(onNode())), by: "ada", body: { tenant: "physics" } }),
      releaseNode: () => withReason(onNode("claim")),
      updateSystemQuotas: async () => ({ body: { sensitive_pool_size: 11, budget_period_days: 31 } }),
      restoreBackup: async () => {
        // Only where nothing runs.
        for (const { id, state } of await s.ok("root", "GET", "/api/v1/allocations?limit=1000"))
          if (!["completed", "failed", "cancelled"].includes(state))
            await s.ok("root", "POST", `/api/v1/allocations/${id}/cancel`);
        for (const { id, claim } of await s.ok("root", "GET", "/api/v1/nodes"))
          if (claim !== null) await s.ok("root", "POST", `/api/v1/nodes/${id}/release`);
        return { body: { backup_id: await backup() } };
      },
    },
  };
}

const asState = "of the allocation, which its events and its record tell; the audit log is of administrators' acts";
const why = ({ read }: { read: { details: { why?: string } } }) => read.details.why;

holdRouteLaws({
  contract: schedulerContract,
  open,
  by: "root",
  otherwise: {
    createTenant: { reason: ({ answer }) => answer.update_reason },
    updateTenant: { reason: ({ answer }) => answer.update_reason },
    updateSystemQuotas: { reason: ({ answer }) => answer.update_reason },
    submitAllocation: Object.fromEntries(
      ["walltime_hours", "gpu_type", "gpus_per_node", "datasets"].map((name) => [
        name,
        ({ read }: { read: { requested_resources: Record<string, unknown> } }) => read.requested_resources[name],
      ]),
    ),
    cancelAllocation: { message: ({ read }) => read.status_reason },
    requeueAllocation: { expected_requeue_count: "what the caller saw: a condition" },
    scaleAllocation: { nodes: ({ read }) => read.desired_nodes },
    nodeHeartbeat: { wiped: "of a node that was released: beyond.test.ts" },
    drainNode: { reason: ({ read }) => read.state_reason },
    disableNode: { reason: ({ read }) => read.state_reason },
    undrainNode: { reason: why },
    enableNode: { reason: why },
    claimNode: { tenant: ({ read }) => read.details.tenant, reason: why },
    releaseNode: { reason: why },
    advanceClock: { advance_seconds: "the time that it comes to is answered" },
  },
  unsaid: {
    submitAllocation: asState,
    suspendAllocation: asState,
    resumeAllocation: asState,
    scaleAllocation: asState,
    completeAllocation: asState,
    failAllocation: asState,
    checkpointedAllocation: asState,
    nodeHeartbeat: "that a node was heard of",
    runCycle: "what it did with work, which its events tell",
    advanceClock: "the test's time",
    backup: "it changes nothing of the state",
  },
  elsewhere: { forwardProposals: "between processes of one log: http.test.ts" },
  endless: ["watchAllocation", "watchEvents"],
  aims: async (subject) => {
    const { path } = (await subject.situations["cancelAllocation"]?.()) ?? {};
    return { id: path?.["id"] ?? "", "?user": "ada", "?hash": "true" };
  },
});
