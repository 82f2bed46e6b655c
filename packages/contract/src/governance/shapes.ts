import * as z from "zod";

export const tier = z.string().min(1).max(64);
export const tags = z.array(z.string().max(64)).max(200);
export const time = z.string();
/** Names of data sets, tables, buckets: any text of a line. */
export const resourceName = z
  .string()
  .min(1)
  .max(1024)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  .regex(/^[^\u0000-\u001f\u007f]+$/, "no control characters");

export const classification = z.strictObject({ tier: z.string(), tags: z.array(z.string()) }).meta({ id: "Classification" });

export const finding = z
  .strictObject({
    entity: z.string(),
    start: z.int(),
    end: z.int(),
    path: z.string().optional(),
    column: z.string().optional(),
    score: z.number(),
    validator: z.enum(["passed", "none"]),
    pattern: z.string(),
    country: z.string().optional(),
    context_word: z.string().optional(),
    context_delta: z.number().optional(),
    probability: z
      .number()
      .optional()
      .meta({ description: "How likely this reading is, where the value can be read in several ways that nothing tells apart" }),
    alternatives: z
      .array(z.strictObject({ entity: z.string(), country: z.string().optional(), probability: z.number() }))
      .optional()
      .meta({ description: "The other readings, likeliest first; those of one in four and more count for `tier` and `tags`" }),
    tier: z.string(),
    tags: z.array(z.string()),
  })
  .meta({ id: "Finding", description: "Offsets are UTF-16 code units of the query, or of the value at `path` or `column`." });

const transformation = z
  .strictObject({
    type: z.enum(["mask", "pseudonymize", "drop", "aggregate", "row_filter", "sample"]),
    columns: z.array(z.string().min(1).max(256)).min(1).max(1000).optional(),
    k: z.int().min(1).max(1_000_000).optional(),
    column: z.string().min(1).max(256).optional(),
    equals: z.string().max(256).optional(),
    rows: z.int().min(1).max(1_000_000_000).optional(),
  })
  .superRefine(({ type, column, equals, rows }, context) => {
    const lacking =
      type === "row_filter" ? (column === undefined ? "column" : equals === undefined ? "equals" : undefined) : undefined;
    const path = lacking ?? (type === "sample" && rows === undefined ? "rows" : undefined);
    if (path !== undefined) context.addIssue({ code: "custom", path: [path], message: `a ${type} needs it` });
  })
  .meta({ id: "Transformation" });

export const evaluateRequest = z
  .strictObject({
    operation_type: z.string().min(1).max(64),
    source_resources: z.array(resourceName).max(100),
    destination_resource: resourceName.optional(),
    user_context: z.strictObject({
      user_id: z.string().min(1).max(256),
      role: z.string().max(128).default(""),
      department: z.string().max(128).default(""),
    }),
    transformations: z.array(transformation).max(20).optional(),
    purpose: z.string().max(256).optional(),
    approval_id: z.string().min(1).max(64).optional(),
  })
  .meta({ id: "EvaluateRequest" });

/** Who acts, as the caller names them. */
export const person = z.string().min(1).max(256);

/** Somebody's leave for one operation. */
export const approval = z
  .strictObject({
    id: z.string(),
    status: z.enum(["pending", "approved", "rejected", "revoked", "expired"]),
    request: evaluateRequest,
    reason: z.string(),
    duration_seconds: z.int(),
    requested_by: z.string(),
    requested_at: time,
    decided_by: z.string().nullable(),
    decided_at: time.nullable(),
    expires_at: time,
  })
  .meta({ id: "Approval" });

export const obligation = z
  .strictObject({ type: z.string(), id: z.string(), properties: z.record(z.string(), z.unknown()) })
  .meta({ id: "Obligation" });

export const lineageEntry = z
  .strictObject({
    resource_id: z.string(),
    classification,
    operation: z.string(),
    timestamp: time,
    hop: z.int(),
    propagated_from: z.array(z.string()).optional(),
  })
  .meta({ id: "LineageEntry" });

export const edge = z
  .strictObject({
    source: z.string(),
    target: z.string(),
    operation: z.string(),
    jobs: z.array(z.string()),
    masking: z.boolean(),
    blocked: z.boolean(),
    columns: z.array(
      z.strictObject({
        from: z.string(),
        to: z.string().optional(),
        type: z.string(),
        subtype: z.string(),
        masking: z.boolean(),
      }),
    ),
  })
  .meta({ id: "LineageEdge" });

export const column = z.strictObject({ type: z.string().max(256).optional(), tier: tier.optional(), tags: tags.optional() });

export const resource = z
  .strictObject({
    resource_id: z.string(),
    classification,
    declared: classification.nullable(),
    columns: z.record(z.string(), z.strictObject({ type: z.string().optional(), tier: z.string(), tags: z.array(z.string()) })),
    owners: z.array(z.string()),
    accepts_tier: z.string().nullable(),
    updated_at: time,
  })
  .meta({ id: "Resource" });

export const auditRecord = z
  .strictObject({
    id: z.string(),
    timestamp: time,
    user_id: z.string(),
    operation_type: z.string(),
    resource: z.string(),
    allowed: z.boolean(),
    classification,
    reasoning: z.string(),
    resources: z.array(z.string()).optional(),
    request_id: z.string().optional(),
    decision_id: z.string().optional(),
    policy_revision: z.string().optional(),
    policy_id: z.string().optional(),
    approval_id: z.string().optional(),
    api_key_id: z.string().optional(),
    log_index: z.int().optional(),
  })
  .meta({ id: "AuditRecord" });

export const apiKey = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    scopes: z.array(z.string()),
    user_id: z.string().nullable(),
    issuers: z.array(z.string()).meta({ description: "Keys that were shown its secret, having made or rotated it" }),
    created_at: time,
    expires_at: time.nullable(),
    last_used_at: time.nullable(),
    revoked_at: time.nullable(),
  })
  .meta({ id: "ApiKey" });

/** What a key may do. `admin` includes everything. */
export const API_SCOPES = [
  "classify",
  "redact",
  "restore",
  "evaluate",
  "approve",
  "models",
  "lineage:read",
  "lineage:write",
  "resources:write",
  "audit:read",
  "admin",
] as const;
