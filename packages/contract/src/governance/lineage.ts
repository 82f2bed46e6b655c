import * as z from "zod";
import { integerParam, limitParam, listParam, offsetParam, timeParam } from "../query.ts";
import type { Contract } from "../route.ts";
import { classification, column, edge, lineageEntry, resource, resourceName, tags, tier, time } from "./shapes.ts";

const params = z.strictObject({ resource_id: resourceName });
const depth = integerParam(0, 100)
  .optional()
  .transform((n) => n ?? 10)
  .meta({ parameter: { type: "integer", minimum: 0, maximum: 100, default: 10 } });
const warnings = z.array(z.strictObject({ code: z.string(), path: z.string(), message: z.string() }));
/** Of one OpenLineage event: the column lineage of some thousand columns. */
const event = { bodyLimit: 512 << 10, values: 16_384 } as const;
const read = { method: "GET", tag: "lineage", auth: "optional", action: "lineage:read", params, status: 200 } as const;
const period = { start_date: timeParam().optional(), end_date: timeParam().optional() };
const inOrder = ({ start_date, end_date }: z.output<z.ZodObject<typeof period>>): boolean =>
  start_date === undefined || end_date === undefined || start_date <= end_date;
const backwards = { path: ["end_date"], message: "expected a time not before start_date" };
const one = { resource_id: z.string(), classification, depth: z.int(), truncated: z.boolean() };
const RUN_STATES = ["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"] as const;
const columnType = z.strictObject({ column: z.string(), type: z.string().nullable() });
const effect = z.enum(["breaks", "retyped", "recomputed", "rows", "unknown"]);

const snapshotResource = z.strictObject({ resource_id: z.string(), classification, owners: z.array(z.string()) });
const differences = <T extends z.ZodType>(one: T) =>
  z.strictObject({ added: z.array(one), removed: z.array(one), changed: z.array(z.strictObject({ from: one, to: one })) });

/** Lineage and the resources it is about. */
export const lineageRoutes = {
  getLineage: {
    ...read,
    path: "/api/v1/lineage/:resource_id",
    summary: "What a resource is made from and what is made from it",
    query: z.strictObject({
      depth,
      direction: z.enum(["upstream", "downstream", "both"]).default("both"),
      limit: limitParam(1000),
    }),
    reply: z
      .strictObject({ ...one, upstream: z.array(lineageEntry), downstream: z.array(lineageEntry), edges: z.array(edge) })
      .meta({ id: "LineageResponse" }),
  },
  getUpstream: {
    ...read,
    path: "/api/v1/lineage/:resource_id/upstream",
    summary: "Upstream dependencies of a resource",
    query: z.strictObject({ depth, limit: limitParam(1000) }),
    reply: z.strictObject({ ...one, dependencies: z.array(lineageEntry), total: z.int() }),
  },
  getDownstream: {
    ...read,
    path: "/api/v1/lineage/:resource_id/downstream",
    summary: "Downstream impact of a change to a resource",
    query: z.strictObject({ depth, limit: limitParam(1000) }),
    reply: z.strictObject({ ...one, impacted: z.array(lineageEntry), total: z.int(), by_tier: z.record(z.string(), z.int()) }),
  },
  getColumnImpact: {
    method: "GET",
    tag: "lineage",
    auth: "principal",
    action: "lineage:read",
    path: "/api/v1/lineage/:resource_id/impact",
    summary: "Columns, data sets and jobs downstream that dropping or retyping a column reaches",
    params,
    query: z.strictObject({
      column: z.string().min(1).max(256),
      change: z.enum(["drop", "retype"]).default("drop"),
      depth,
      limit: limitParam(1000),
    }),
    status: 200,
    reply: z
      .strictObject({
        ...one,
        column: z.string(),
        change: z.enum(["drop", "retype"]),
        columns: z.array(
          z.strictObject({
            resource_id: z.string(),
            column: z.string().optional().meta({ description: "Absent where the data set is reached as a whole" }),
            classification,
            effect,
            hop: z.int(),
            jobs: z.array(z.string()),
          }),
        ),
        datasets: z.array(z.strictObject({ resource_id: z.string(), effect, hop: z.int() })),
        jobs: z.array(z.strictObject({ job: z.string(), effect })),
      })
      .meta({ id: "ColumnImpact" }),
    extension: true,
  },
  getSchemaChanges: {
    method: "GET",
    tag: "lineage",
    auth: "principal",
    action: "lineage:read",
    path: "/api/v1/lineage/:resource_id/schema-changes",
    summary: "What changed in a data set's columns between two times, as events told them",
    params,
    query: z.strictObject(period).refine(inOrder, backwards),
    status: 200,
    reply: z
      .strictObject({
        resource_id: z.string(),
        versions: z.array(z.strictObject({ time, columns: z.record(z.string(), z.string().nullable()) })),
        added: z.array(columnType),
        removed: z.array(columnType),
        retyped: z.array(z.strictObject({ column: z.string(), from: z.string().nullable(), to: z.string().nullable() })),
      })
      .meta({ id: "SchemaChanges" }),
    extension: true,
  },
  listLineageRuns: {
    method: "GET",
    tag: "lineage",
    auth: "principal",
    action: "lineage:read",
    path: "/api/v1/lineage-runs",
    summary: "Runs of jobs, newest first",
    query: z
      .strictObject({
        job: resourceName.optional(),
        state: z.enum(RUN_STATES).optional(),
        ...period,
        limit: limitParam(100),
        offset: offsetParam(),
      })
      .refine(inOrder, backwards),
    status: 200,
    reply: z.strictObject({
      runs: z.array(
        z
          .strictObject({
            job: z.string(),
            run_id: z.string(),
            state: z.enum(RUN_STATES),
            started_at: time,
            ended_at: time.nullable(),
            updated_at: time,
            inputs: z.array(z.string()),
            outputs: z.array(z.string()),
            facets: z.record(z.string(), z.unknown()),
            truncated: z.boolean(),
          })
          .meta({ id: "LineageRun" }),
      ),
      count: z.int(),
      total: z.int(),
    }),
    extension: true,
  },
  getLineageDiff: {
    method: "GET",
    tag: "lineage",
    auth: "principal",
    action: "lineage:read",
    path: "/api/v1/lineage-diff",
    summary: "What became of the catalogue between two moments: resources, columns, edges, tiers",
    query: z
      .strictObject({ from: timeParam(), to: timeParam().optional(), limit: limitParam(1000) })
      .refine(({ from, to }) => to === undefined || from <= to, { path: ["to"], message: "expected a time not before from" }),
    status: 200,
    reply: z
      .strictObject({
        from: time,
        to: time,
        resources: differences(snapshotResource),
        columns: differences(
          z.strictObject({ resource_id: z.string(), column: z.string(), type: z.string().nullable(), classification }),
        ),
        edges: differences(edge),
        truncated: z.boolean(),
      })
      .meta({ id: "LineageDiff" }),
    extension: true,
  },
  viewLineage: {
    ...read,
    path: "/api/v1/lineage/:resource_id/view",
    summary: "The lineage as an interactive picture",
    query: z.strictObject({ depth, direction: z.enum(["upstream", "downstream", "both"]).default("both") }),
    produces: "text/html; charset=utf-8",
    extension: true,
  },
  lineageAsset: {
    method: "GET",
    tag: "lineage",
    auth: "public",
    path: "/lineage-assets/:file",
    summary: "A file of the lineage picture",
    uncounted: true,
    params: z.strictObject({ file: z.string().max(100) }),
    status: 200,
    produces: "application/octet-stream",
    extension: true,
  },
  ingestLineage: {
    method: "POST",
    tag: "lineage",
    auth: "principal",
    action: "lineage:write",
    path: "/api/v1/lineage",
    summary: "Take in one OpenLineage event",
    body: z.looseObject({}).meta({ id: "OpenLineageEvent" }),
    ...event,
    status: 201,
    reply: z.strictObject({ accepted: z.int(), warnings }),
    extension: true,
  },
  ingestLineageBatch: {
    method: "POST",
    tag: "lineage",
    auth: "principal",
    action: "lineage:write",
    path: "/api/v1/lineage/batch",
    summary: "Take in many OpenLineage events, each by itself",
    bodyLimit: 8 * 1024 * 1024,
    elements: { most: 1000, bytes: event.bodyLimit },
    values: event.values,
    body: z.array(z.looseObject({})).max(1000),
    status: 200,
    reply: z.strictObject({
      accepted: z.int(),
      rejected: z.array(z.strictObject({ index: z.int(), message: z.string() })),
      warnings: z.array(z.strictObject({ index: z.int(), code: z.string(), path: z.string(), message: z.string() })),
    }),
    extension: true,
  },
  blockEdge: {
    method: "PUT",
    tag: "lineage",
    auth: "principal",
    action: "resources:write",
    path: "/api/v1/lineage-edges",
    summary: "Let the tier pass over an edge, or not",
    body: z.strictObject({ source: resourceName, target: resourceName, blocked: z.boolean() }),
    status: 200,
    reply: z.strictObject({ source: z.string(), target: z.string(), blocked: z.boolean() }),
    extension: true,
  },
  putResource: {
    method: "PUT",
    tag: "resources",
    auth: "principal",
    action: "resources:write",
    path: "/api/v1/resources/:resource_id",
    summary: "Register a resource with its schema and tier, or replace what was declared",
    params,
    body: z.strictObject({
      tier: tier.optional(),
      tags: tags.optional(),
      columns: z.record(z.string().min(1).max(256), column).default({}),
      owners: z.array(z.string().min(1).max(256)).max(100).default([]),
      accepts_tier: tier.optional(),
    }),
    bodyLimit: 1 << 20,
    values: 16_384,
    status: 200,
    reply: resource,
    extension: true,
  },
  getResource: {
    method: "GET",
    tag: "resources",
    auth: "principal",
    action: "lineage:read",
    path: "/api/v1/resources/:resource_id",
    summary: "A resource with its effective classification",
    params,
    status: 200,
    reply: resource,
    extension: true,
  },
  listResources: {
    method: "GET",
    tag: "resources",
    auth: "principal",
    action: "lineage:read",
    path: "/api/v1/resources",
    summary: "Resources by id; those that have all that is asked for",
    query: z.strictObject({
      text: z.string().max(256).optional(),
      tier: listParam(tier).optional(),
      tag: listParam(z.string().min(1).max(64)).optional(),
      owner: z.string().min(1).max(256).optional(),
      limit: limitParam(100),
      offset: offsetParam(),
    }),
    status: 200,
    reply: z.strictObject({ resources: z.array(resource), count: z.int(), total: z.int() }),
    extension: true,
  },
  deleteResource: {
    method: "DELETE",
    tag: "resources",
    auth: "principal",
    action: "resources:write",
    path: "/api/v1/resources/:resource_id",
    summary: "Take back what was declared of a resource; what lineage knows of it stays",
    params,
    status: 204,
    extension: true,
  },
} as const satisfies Contract;
