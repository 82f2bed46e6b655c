import { contract } from "../contract.ts";
import { approvalRoutes } from "./approvals.ts";
import { auditRoutes } from "./audit.ts";
import { decisionRoutes } from "./decisions.ts";
import { healthRoutes } from "./health.ts";
import { keyRoutes } from "./keys.ts";
import { lineageRoutes } from "./lineage.ts";
import { redactionRoutes } from "./redaction.ts";

export { governanceCodes, governanceErrors } from "./errors.ts";
export { redactionRule } from "./redaction.ts";
export { API_SCOPES } from "./shapes.ts";

/** Every route of the data-governance service. */
export const governanceContract = contract({
  ...decisionRoutes,
  ...redactionRoutes,
  ...approvalRoutes,
  ...lineageRoutes,
  ...auditRoutes,
  ...keyRoutes,
  ...healthRoutes,
});

export type GovernanceContract = typeof governanceContract;
