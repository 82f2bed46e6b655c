import { checkArgument } from "@seneschal/kernel";
import type { AllocationRequest } from "./allocation.ts";

/** What an allocation request must say; the rest has the defaults of the scheduler's interface. */
export type AllocationAsked = Pick<AllocationRequest, "tenant" | "user"> & Partial<AllocationRequest>;

/**
 * A whole request for an allocation: one node for an hour, unless it is said otherwise; `minNodes` is as many as `nodes`.
 *
 * @example
 * ```ts
 * import { allocationRequest } from "@seneschal/quota";
 * const request = allocationRequest({ tenant: "physics", user: "ada", nodes: 3 });
 * console.log(request.minNodes, request.walltimeHours); // 3 1
 * ```
 */
export function allocationRequest(asked: AllocationAsked): AllocationRequest {
  checkArgument("asked", asked, "object");
  checkArgument("asked.tenant", asked.tenant, "string");
  checkArgument("asked.user", asked.user, "string");
  return {
    project: null,
    vcluster: "default",
    entrypoint: "",
    nodes: 1,
    minNodes: asked.nodes ?? 1,
    walltimeHours: 1,
    lifecycle: "bounded",
    requeuePolicy: "never",
    maxRequeue: 3,
    image: null,
    sensitive: false,
    priorityClass: 5,
    checkpoint: "none",
    gpuType: null,
    gpusPerNode: null,
    datasets: [],
    labels: {},
    ...asked,
  };
}
