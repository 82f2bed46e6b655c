import type { Principal } from "@seneschal/contract";
import {
  type ComputeNode,
  countedGpus,
  hasRole,
  ownerOf,
  type QuotaState,
  reachesTenant,
  stateOf,
  versionOf,
} from "@seneschal/quota";
import { iso, isoOrNull } from "./iso.ts";

/** A node. That it is in use everybody sees; by whom, only those who may see that work. */
export function nodeView(state: QuotaState, principal: Principal, node: ComputeNode) {
  const owner = ownerOf(state, node);
  const tenant = owner === null ? null : (state.allocations.get(owner)?.tenant ?? null);
  const mine = (of: string | null): boolean =>
    of !== null && (reachesTenant(state, principal, of) || (hasRole(principal, "agent") && node.agent === principal.id));
  return {
    id: node.id,
    state: stateOf(state, node),
    state_reason: node.stateReason ?? "",
    group: node.group,
    gpu_type: node.gpuType,
    gpu_count: countedGpus(node.gpuCount),
    gpu_count_known: node.gpuCount !== null,
    cpu_cores: node.cpuCores,
    memory_gb: node.memoryGb,
    agent_address: node.agentAddress,
    conformance: node.conformance,
    energy_price: node.energyPrice,
    datasets: [...node.datasets],
    last_heartbeat: isoOrNull(node.lastHeartbeat),
    owner: owner === null ? null : mine(tenant) ? { allocation_id: owner, tenant } : { allocation_id: null, tenant: null },
    claim:
      node.claim === null
        ? null
        : mine(node.claim.tenant)
          ? { claimant: node.claim.claimant, tenant: node.claim.tenant, claimed_at: iso(node.claim.at) }
          : { claimant: null, tenant: null, claimed_at: iso(node.claim.at) },
    version: versionOf(state, node),
  };
}
