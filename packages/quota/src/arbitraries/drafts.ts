import type { CommandDraft } from "../command.ts";
import type { AllocationRequest } from "../state/allocation.ts";
import { allocationRequest } from "../state/allocation-request.ts";
import type { NodeInventory } from "../state/node.ts";

/** A command that may do without its id and who gave it. */
export type Draft = CommandDraft & { id?: string; by?: string };

/** A node with nothing special about it, to be spread and changed. */
export const INVENTORY: NodeInventory = {
  group: "g1",
  gpuType: null,
  gpuCount: 0,
  cpuCores: 8,
  memoryGb: 32,
  agentAddress: null,
  conformance: null,
  energyPrice: null,
  datasets: [],
};

/** A request for one node for an hour, to be spread and changed. */
export const REQUEST: AllocationRequest = allocationRequest({ tenant: "physics", user: "ada", entrypoint: "true" });
