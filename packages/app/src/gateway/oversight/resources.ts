import type { AnyCollection } from "../ground/index.ts";
import { auditHandlers } from "./audit-views/handlers.ts";
import { backups } from "./backups/collections.ts";
import { backupHandlers } from "./backups/handlers.ts";
import { reportSeals } from "./compliance/collections.ts";
import { complianceHandlers } from "./compliance/handlers.ts";
import { healthHandlers } from "./health/handlers.ts";
import { rotationPolicyHandlers } from "./rotation/handlers.ts";

export const oversightHandlers = {
  ...healthHandlers,
  ...auditHandlers,
  ...rotationPolicyHandlers,
  ...backupHandlers,
  ...complianceHandlers,
};

export const oversightCollections: readonly AnyCollection[] = [backups, reportSeals];
