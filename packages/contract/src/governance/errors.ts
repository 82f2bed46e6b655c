import { type ErrorTable, errorTable } from "../error-table.ts";
import { usualSituations } from "../usual-situations.ts";

/** Wire code to status: the catalogue of the data-governance service. */
export const governanceCodes = {
  VALIDATION_ERROR: 400,
  AUTHENTICATION_REQUIRED: 401,
  FORBIDDEN: 403,
  RESOURCE_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  REPLY_NOT_KEPT: 409,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  IDEMPOTENCY_MISMATCH: 422,
  RATE_LIMIT_EXCEEDED: 429,
  CLASSIFICATION_FAILED: 500,
  POLICY_EVALUATION_FAILED: 500,
  INTERNAL_ERROR: 500,
  UPSTREAM_FAILED: 502,
  SERVICE_UNAVAILABLE: 503,
} as const satisfies Readonly<Record<string, number>>;

/** Codes that few operations give. */
const only = {
  CLASSIFICATION_FAILED: [
    ...[
      "classify",
      "redact",
      "classifyFile",
      "redactFile",
      "restoreFile",
      "evaluate",
      "enforce",
      "ingestLineage",
      "ingestLineageBatch",
    ],
    ...["chatCompletions", "completions", "embeddings"],
  ],
  POLICY_EVALUATION_FAILED: ["evaluate", "enforce", "filterRows", "chatCompletions", "completions", "embeddings"],
};

/** The only place where data governance's failures meet HTTP. */
export const governanceErrors: ErrorTable = errorTable(
  governanceCodes,
  {
    ...usualSituations,
    classification_failed: "CLASSIFICATION_FAILED",
    policy_evaluation_failed: "POLICY_EVALUATION_FAILED",
    upstream_failed: "UPSTREAM_FAILED",
    outcome_unknown: "SERVICE_UNAVAILABLE",
    store_closed: "SERVICE_UNAVAILABLE",
    store_failed: "SERVICE_UNAVAILABLE",
    store_unavailable: "SERVICE_UNAVAILABLE",
  },
  only,
);
