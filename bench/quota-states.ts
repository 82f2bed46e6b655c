/** States of the quota machine that benches and plots begin with. */
import { type AllocationRequest, apply, type Command, emptyState, type QuotaState } from "@seneschal/quota";

/** One node for an hour. */
export const REQUEST: AllocationRequest = {
  tenant: "t0",
  user: "ada",
  project: null,
  vcluster: "default",
  entrypoint: "true",
  nodes: 1,
  minNodes: 1,
  walltimeHours: 1,
  lifecycle: "bounded",
  requeuePolicy: "never",
  maxRequeue: 0,
  image: null,
  sensitive: false,
  priorityClass: 5,
  checkpoint: "none",
  gpuType: null,
  gpusPerNode: null,
  datasets: [],
  labels: {},
};

export const nodeId = (i: number): string => `n${String(i).padStart(6, "0")}`;

/** The commands that set up tenants `t0`.. and nodes in groups of 32. */
export function* cluster(nodes: number, tenants: number): IterableIterator<Command> {
  for (let t = 0; t < tenants; t++)
    yield {
      kind: "tenant.create",
      id: `tenant-${t}`,
      by: "bench",
      tenant: `t${t}`,
      settings: { maxNodes: nodes, gpuHoursBudget: 1e6 },
    };
  for (let i = 0; i < nodes; i++)
    yield {
      kind: "node.register",
      id: `node-${i}`,
      by: "bench",
      node: nodeId(i),
      inventory: {
        group: `g${i >> 5}`,
        gpuType: i % 3 === 0 ? null : "a100",
        gpuCount: i % 3 === 0 ? 0 : 4,
        cpuCores: 64,
        memoryGb: 512,
        agentAddress: null,
        conformance: null,
        energyPrice: null,
        datasets: [],
      },
      agent: null,
    };
}

/** The state after a command that must be accepted. */
export function must(state: QuotaState, command: Command, at: number): QuotaState {
  const outcome = apply(state, command, at);
  if (!outcome.ok) throw new Error(outcome.message);
  return outcome.state;
}

/** A cluster of idle nodes and so many tenants. */
export function built(nodes: number, tenants: number): QuotaState {
  let state = emptyState();
  for (const command of cluster(nodes, tenants)) state = must(state, command, 1);
  return state;
}

/** The state with so many allocations of 1 to 16 nodes waiting. */
export function queue(state: QuotaState, pending: number, from: number): QuotaState {
  let next = state;
  for (const tenant of [...state.tenants.keys()])
    next = must(next, { kind: "tenant.update", id: `raise-${tenant}`, by: "bench", tenant, settings: { maxNodes: 1e8 } }, from);
  for (let i = 0; i < pending; i++) {
    const nodes = 1 + (i % 16);
    const request = { ...REQUEST, tenant: `t${i % 20}`, nodes, minNodes: nodes, priorityClass: i % 10 };
    const allocation = `p${String(i).padStart(8, "0")}`;
    next = must(next, { kind: "allocation.submit", id: `q${i}`, by: "bench", allocation, request }, 1000 + i);
  }
  return next;
}
