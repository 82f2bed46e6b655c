import * as z from "zod";
import { jsonValue } from "../json-value.ts";
import type { Contract } from "../route.ts";
import { narrowing } from "./redaction.ts";
import { classification, evaluateRequest, finding, obligation } from "./shapes.ts";

/** Classify and evaluate. */
export const decisionRoutes = {
  classify: {
    method: "POST",
    path: "/api/v1/classify",
    summary: "Classify a query or data by sensitivity",
    tag: "classification",
    auth: "optional",
    action: "classify",
    bodyLimit: 1_600_000,
    body: z
      .strictObject({ query: z.string().max(524_288), context: z.record(z.string(), jsonValue).default({}), ...narrowing })
      .meta({ id: "ClassifyRequest" }),
    status: 200,
    reply: z
      .strictObject({
        tier: z.string(),
        confidence: z.number().min(0).max(1),
        tags: z.array(z.string()),
        reasoning: z.string(),
        classifier_used: z.string(),
        form: z.string().optional(),
        operation: z.string().optional(),
        scope: z.string().optional(),
        findings: z.array(finding).optional(),
        findings_omitted: z
          .int()
          .optional()
          .meta({ description: "Findings beyond the 8,192 that are told; tier and tags are of all" }),
      })
      .meta({ id: "ClassifyResponse" }),
  },
  listTiers: {
    method: "GET",
    path: "/api/v1/tiers",
    summary: "The tiers in force, lowest first, and what every entity means in them",
    tag: "classification",
    auth: "public",
    status: 200,
    reply: z.strictObject({
      tiers: z.array(z.strictObject({ tier: z.string(), rank: z.int() })),
      entities: z.record(z.string(), classification),
    }),
    extension: true,
  },
  evaluate: {
    method: "POST",
    path: "/api/v1/evaluate",
    summary: "Is this data operation allowed, by which policy, and what would be allowed instead",
    tag: "evaluation",
    auth: "optional",
    action: "evaluate",
    body: evaluateRequest,
    bodyLimit: 512 << 10,
    values: 8192,
    status: 200,
    reply: z
      .strictObject({
        allowed: z.boolean(),
        reasoning: z.string(),
        classification,
        policy_evaluation: z.strictObject({ policy_id: z.string(), policy_name: z.string() }),
        alternatives: z.array(z.string()),
        decision_id: z.string(),
        obligations: z.array(obligation),
        alternative_requests: z.array(
          z.strictObject({ description: z.string(), request: evaluateRequest, obligations: z.array(obligation) }),
        ),
        approval_request: z.strictObject({ description: z.string(), path: z.string(), request: evaluateRequest }).optional(),
      })
      .meta({ id: "EvaluateResponse" }),
  },
  enforce: {
    method: "POST",
    path: "/api/v1/enforce",
    summary: "A query with the obligations of its decision carried out: rows filtered, columns masked",
    tag: "evaluation",
    auth: "principal",
    action: "evaluate",
    safe: true,
    body: z
      .strictObject({
        sql: z.string().min(1).max(16_384),
        dialect: z.enum(["postgres", "bigquery", "snowflake"]),
        resources: z.record(z.string().max(1024), z.string().min(1).max(1024)).default({}).meta({
          description:
            "Table as the database keeps its name -> resource id; without an entry it is the resource of that name, or the scanned one that the name alone may mean",
        }),
        view_schema: z
          .string()
          .max(128)
          .regex(/^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*$/)
          .optional()
          .meta({ description: "Tell also a view of each table in this schema, which shows the same" }),
        user_context: evaluateRequest.shape.user_context,
        purpose: evaluateRequest.shape.purpose,
        approval_id: evaluateRequest.shape.approval_id,
        transformations: evaluateRequest.shape.transformations,
      })
      .meta({ id: "EnforceRequest" }),
    status: 200,
    reply: z
      .strictObject({
        allowed: z.boolean(),
        reasoning: z.string(),
        classification,
        policy_evaluation: z.strictObject({ policy_id: z.string(), policy_name: z.string() }),
        decision_id: z.string(),
        tables: z.array(z.string()),
        obligations: z.array(obligation),
        sql: z
          .string()
          .optional()
          .meta({ description: "The query that may run in place of the one that was given; only when it is allowed" }),
        views: z.array(z.string()).optional(),
      })
      .meta({ id: "EnforceResponse" }),
    extension: true,
  },
  filterRows: {
    method: "POST",
    path: "/api/v1/filters",
    summary: "The rows for which a document of the policy holds: as a condition, or as SQL with parameters",
    tag: "evaluation",
    auth: "principal",
    action: "evaluate",
    safe: true,
    body: z
      .strictObject({
        query: z
          .string()
          .max(512)
          .regex(/^data(?:\.[A-Za-z_][A-Za-z0-9_]*){1,16}$/)
          .meta({ description: "The document that says whether one row is shown", examples: ["data.orders.include"] }),
        rows: z
          .array(
            z
              .string()
              .max(256)
              .regex(/^input(?:\.[A-Za-z_][A-Za-z0-9_]*){1,8}$/),
          )
          .min(1)
          .max(16)
          .default(["input.row"])
          .meta({ description: "Where rows stand in the policy's input: their members are columns", examples: [["input.row"]] }),
        user_context: evaluateRequest.shape.user_context.meta({ description: "What the policy reads as `input.user`" }),
        input: z
          .record(z.string().max(256), jsonValue)
          .default({})
          .meta({ description: "What else the policy's input holds; `user` and rows are none of it" }),
        dialect: z
          .enum(["postgres", "bigquery", "snowflake"])
          .optional()
          .meta({ description: "Writes the condition as SQL of this database; goes with `columns`" }),
        columns: z
          .record(
            z.string().max(512),
            z.strictObject({
              column: z.string().min(1).max(512),
              type: z.enum(["text", "integer", "numeric", "boolean"]),
            }),
          )
          .optional()
          .meta({
            description: "What fields of the condition are in the database: `input.row.owner` -> its column and type",
            examples: [{ "input.row.owner": { column: "owner", type: "text" } }],
          }),
      })
      .meta({ id: "FilterRequest" }),
    status: 200,
    reply: z
      .strictObject({
        decision_id: z.string(),
        condition: jsonValue.optional().meta({ description: "In the form of UCAST; without `dialect`" }),
        sql: z.string().optional().meta({ description: "True for the rows that pass, false or NULL for others" }),
        parameters: z.array(z.string()).optional().meta({ description: "In the order of their placeholders, all as texts" }),
      })
      .meta({ id: "FilterResponse" }),
    extension: true,
  },
} as const satisfies Contract;
