import { contract } from "../contract.ts";
import { allocationRoutes } from "./allocations.ts";
import { nodeRoutes } from "./nodes.ts";
import { systemRoutes } from "./system.ts";
import { tenantRoutes } from "./tenants.ts";

export { schedulerCodes, schedulerErrors } from "./errors.ts";

/** Every route of the scheduler service. */
export const schedulerContract = contract({ ...tenantRoutes, ...allocationRoutes, ...nodeRoutes, ...systemRoutes });

export type SchedulerContract = typeof schedulerContract;
