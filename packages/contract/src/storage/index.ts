import { contract } from "../contract.ts";
import { dashboardRoutes } from "./dashboard-routes.ts";
import { operationRoutes } from "./operation-routes.ts";
import { statusRoutes } from "./status-routes.ts";

export { storageCodes, storageHttpErrors } from "./errors.ts";

/** Every route of a storage node's admin interface. */
export const storageContract = contract({ ...statusRoutes, ...operationRoutes, ...dashboardRoutes });

export type StorageContract = typeof storageContract;
