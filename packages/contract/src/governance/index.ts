import { contract } from "../contract.ts";
import type { OpenApiInfo } from "../openapi.ts";
import { approvalRoutes } from "./approvals.ts";
import { auditRoutes } from "./audit.ts";
import { decisionRoutes } from "./decisions.ts";
import { governanceErrors } from "./errors.ts";
import { fileRoutes } from "./files.ts";
import { healthRoutes } from "./health.ts";
import { keyRoutes } from "./keys.ts";
import { lineageRoutes } from "./lineage.ts";
import { modelRoutes } from "./models.ts";
import { redactionRoutes } from "./redaction.ts";
import { sourceRoutes } from "./sources.ts";

export { governanceCodes, governanceErrors } from "./errors.ts";
export { FILE_MEDIA_TYPES } from "./files.ts";
export { redactionRule } from "./redaction.ts";
export { API_SCOPES } from "./shapes.ts";

/** Bytes of a file where the configuration says nothing. */
const FILE_BYTES = 8 << 20;

/** The routes that take files, of at most so many bytes (64 MiB at most). */
export function fileContract(bytes: number = FILE_BYTES) {
  return contract(fileRoutes(bytes));
}

export type FileContract = ReturnType<typeof fileContract>;

/** Every route of the data-governance service. */
export const governanceContract = contract({
  ...decisionRoutes,
  ...redactionRoutes,
  ...fileContract(),
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
