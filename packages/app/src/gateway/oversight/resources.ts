import { auditHandlers } from "./audit-views.ts";
import { backupHandlers } from "./backups/handlers.ts";
import { complianceHandlers } from "./compliance/handlers.ts";
import { healthHandlers } from "./health.ts";
import { rotationPolicyHandlers } from "./rotation.ts";

export const oversightHandlers = {
  ...healthHandlers,
  ...auditHandlers,
  ...rotationPolicyHandlers,
  ...backupHandlers,
  ...complianceHandlers,
};
