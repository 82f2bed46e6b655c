import { type Allocation, isTerminal } from "@seneschal/quota";
import { iso, isoOrNull } from "./iso.ts";

/** The allocation under the field names that clients know; both `tenant` and `tenant_id`, `id` and `allocation_id`. */
export function allocationView(allocation: Allocation, burst: boolean) {
  const reason = allocation.statusReason ?? "";
  const ended = isTerminal(allocation.state);
  const nodes = ended ? allocation.lastAssigned : allocation.assigned;
  return {
    id: allocation.id,
    allocation_id: allocation.id,
    tenant: allocation.tenant,
    tenant_id: allocation.tenant,
    user: allocation.user,
    user_id: allocation.user,
    project: allocation.project ?? "",
    vcluster: allocation.vcluster,
    state: allocation.state,
    status_reason: reason,
    message: reason,
    entrypoint: allocation.entrypoint,
    nodes: allocation.nodes,
    min_nodes: allocation.minNodes,
    desired_nodes: allocation.desiredNodes,
    // Of ended work those that it ended on.
    assigned_nodes: [...nodes],
    nodes_allocated: [...nodes],
    per_node_gpus: [...(ended ? allocation.lastPerNodeGpus : allocation.perNodeGpus)],
    created_at: iso(allocation.createdAt),
    started_at: isoOrNull(allocation.startedAt),
    completed_at: isoOrNull(allocation.completedAt),
    exit_code: allocation.exitCode,
    labels: { ...allocation.labels },
    annotations: {},
    priority_class: allocation.priorityClass,
    requested_resources: {
      nodes: allocation.nodes,
      walltime_hours: allocation.walltimeHours,
      gpu_type: allocation.gpuType,
      gpus_per_node: allocation.gpusPerNode,
      datasets: [...allocation.datasets],
    },
    lifecycle: allocation.lifecycle,
    requeue_policy: allocation.requeuePolicy,
    requeue_count: allocation.requeues,
    max_requeue: allocation.maxRequeue,
    checkpoint: allocation.checkpoint,
    image: allocation.image,
    sensitive: allocation.sensitive,
    burst,
    version: allocation.version,
  };
}
