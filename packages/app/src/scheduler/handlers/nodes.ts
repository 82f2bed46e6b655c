import type { Handlers, Principal } from "@seneschal/contract";
import type { SchedulerContract } from "@seneschal/contract/scheduler";
import { CodedError } from "@seneschal/kernel";
import { type ComputeNode, hasRole, type OperateNode, type QuotaState } from "@seneschal/quota";
import { forbidden, requireTenant } from "../auth/roles.ts";
import { proposeTraced } from "../quotas.ts";
import type { SchedulerServices } from "../services.ts";
import { type Asked, stamp } from "../stamp.ts";
import { asOf } from "../views/as-of.ts";
import { nodeView } from "../views/node.ts";

type NodeRoutes =
  | "listNodes"
  | "getNode"
  | "registerNode"
  | "nodeHeartbeat"
  | "drainNode"
  | "undrainNode"
  | "enableNode"
  | "disableNode"
  | "claimNode"
  | "releaseNode";

const success = { success: true } as const;

function existing(state: QuotaState, id: string): ComputeNode {
  const node = state.nodes.get(id);
  if (node === undefined) throw new CodedError("not_found", `node not found: ${id}`, { node: id });
  return node;
}

/** An agent speaks for the nodes that it registered, and for no other. */
function requireAgent(principal: Principal, node: ComputeNode): void {
  if (!hasRole(principal, "system-admin") && node.agent !== principal.id) throw forbidden("the node is not yours");
}

interface OperateInput extends Asked {
  readonly params: { readonly id: string };
  readonly body: { readonly reason?: string | undefined };
}

function operator(verb: OperateNode["verb"]) {
  return async ({ quotas, random }: SchedulerServices, input: OperateInput): Promise<typeof success> => {
    const { id } = input.params;
    await quotas.propose({
      kind: "node.operate",
      ...stamp(random, `${verb} ${id}`, input, input.body.reason),
      node: id,
      verb,
    });
    return success;
  };
}

export const nodeHandlers: Pick<Handlers<SchedulerContract, SchedulerServices>, NodeRoutes> = {
  listNodes(services, { principal }) {
    const state = services.quotas.state();
    return asOf(
      services,
      [...state.nodes.values()].map((node) => nodeView(state, principal, node)),
    );
  },

  async getNode({ quotas }, { params, principal }) {
    const state = await quotas.read();
    return nodeView(state, principal, existing(state, params.id));
  },

  async registerNode({ quotas, random, heartbeats, clock }, input) {
    const { body, principal } = input;
    await quotas.propose({
      kind: "node.register",
      ...stamp(random, "registerNode", input),
      node: body.id,
      inventory: {
        group: body.group,
        gpuType: body.gpu_type ?? null,
        gpuCount: body.gpu_count ?? null,
        cpuCores: body.cpu_cores,
        memoryGb: body.memory_gb,
        agentAddress: body.agent_address ?? null,
        conformance: body.conformance ?? null,
        energyPrice: body.energy_price ?? null,
        datasets: body.datasets,
      },
      agent: hasRole(principal, "agent") ? principal.id : null,
    });
    heartbeats.beat(body.id, clock.now());
    const state = quotas.state();
    return nodeView(state, principal, existing(state, body.id));
  },

  async nodeHeartbeat({ quotas, random, heartbeats, clock }, input) {
    const node = existing(quotas.state(), input.params.id);
    requireAgent(input.principal, node);
    // A key that cannot be one is refused, needed or not.
    const stamped = stamp(random, `wiped ${node.id}`, input);
    heartbeats.beat(node.id, clock.now());
    if (input.body.wiped && node.state === "booting")
      await quotas.propose({ kind: "node.operate", ...stamped, node: node.id, verb: "wiped" });
    return success;
  },

  drainNode: operator("drain"),
  undrainNode: operator("undrain"),
  enableNode: operator("enable"),
  disableNode: operator("disable"),

  async claimNode({ quotas, random }, input) {
    const tenant = input.body.tenant ?? input.principal.org;
    requireTenant(quotas.state(), input.principal, tenant);
    const { id } = input.params;
    const claim = { kind: "node.claim" as const, ...stamp(random, `claim ${id}`, input, input.body.reason), node: id, tenant };
    await proposeTraced(quotas, claim, input.requestId);
    return success;
  },

  async releaseNode({ quotas, random }, input) {
    const { id } = input.params;
    await quotas.propose({
      kind: "node.release",
      ...stamp(random, `release ${id}`, input, input.body.reason),
      node: id,
      asAdmin: hasRole(input.principal, "system-admin"),
      wipe: true,
    });
    return success;
  },
};
