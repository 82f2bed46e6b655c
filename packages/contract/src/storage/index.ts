import { contract } from "../contract.ts";
import type { OpenApiInfo } from "../openapi.ts";
import { dashboardRoutes } from "./dashboard-routes.ts";
import { storageHttpErrors } from "./errors.ts";
import { operationRoutes } from "./operation-routes.ts";
import { statusRoutes } from "./status-routes.ts";

export { storageCodes, storageHttpErrors } from "./errors.ts";
export { type NewPool, newDevice, newPool } from "./nouns.ts";

/** Every route of a storage node's admin interface. */
export const storageContract = contract({ ...statusRoutes, ...operationRoutes, ...dashboardRoutes });

export type StorageContract = typeof storageContract;

/** What its OpenAPI document says of the service as a whole. */
export const storageInfo: Omit<OpenApiInfo, "version"> = {
  title: "Seneschal storage node",
  errors: storageHttpErrors,
  keepsAnswers: true,
};
