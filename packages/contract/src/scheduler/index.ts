import { contract } from "../contract.ts";
import type { OpenApiInfo } from "../openapi.ts";
import { allocationRoutes } from "./allocations.ts";
import { schedulerErrors } from "./errors.ts";
import { nodeRoutes } from "./nodes.ts";
import { systemRoutes } from "./system.ts";
import { tenantRoutes } from "./tenants.ts";

export { schedulerCodes, schedulerErrors } from "./errors.ts";
export type {
  AdminServiceCall,
  AdminServiceHandler,
  AdminServiceHandlers,
  AdminServiceOptions,
  AdminServiceServer,
  ServeAdminService,
} from "./serve-admin-service.ts";

/** Every route of the scheduler service. */
export const schedulerContract = contract({ ...tenantRoutes, ...allocationRoutes, ...nodeRoutes, ...systemRoutes });

export type SchedulerContract = typeof schedulerContract;

/** What its OpenAPI document says of the service as a whole. */
export const schedulerInfo: Omit<OpenApiInfo, "version"> = {
  title: "Seneschal scheduler",
  errors: schedulerErrors,
  keepsAnswers: false,
};
