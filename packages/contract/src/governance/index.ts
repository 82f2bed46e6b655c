import { contract } from "../contract.ts";
import type { OpenApiInfo } from "../openapi.ts";
import { approvalRoutes } from "./approvals.ts";
import { auditRoutes } from "./audit.ts";
import { decisionRoutes } from "./decisions.ts";
import { governanceErrors } from "./errors.ts";
import { healthRoutes } from "./health.ts";
import { keyRoutes } from "./keys.ts";
import { lineageRoutes } from "./lineage.ts";
import { modelRoutes } from "./models.ts";
import { redactionRoutes } from "./redaction.ts";
import { sourceRoutes } from "./sources.ts";

export { governanceCodes, governanceErrors } from "./errors.ts";
export { redactionRule } from "./redaction.ts";
export { API_SCOPES } from "./shapes.ts";

/** Every route of the data-governance service. */
export const governanceContract = contract({
  ...decisionRoutes,
  ...redactionRoutes,
  ...approvalRoutes,
  ...lineageRoutes,
  ...sourceRoutes,
  ...auditRoutes,
  ...keyRoutes,
  ...healthRoutes,
});

export type GovernanceContract = typeof governanceContract;

/** The routes in front of language models, below a path of the configuration: there only where an upstream is configured. */
export function modelContract(prefix = "/v1") {
  return contract(modelRoutes(prefix));
}

export type ModelContract = ReturnType<typeof modelContract>;

/** What its OpenAPI document says of the service as a whole. */
export const governanceInfo: Omit<OpenApiInfo, "version"> = {
  title: "Seneschal data governance",
  errors: governanceErrors,
  keepsAnswers: true,
};
