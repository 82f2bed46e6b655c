import * as z from "zod";
import { limitParam, offsetParam } from "../query.ts";
import type { Contract } from "../route.ts";
import { time } from "./shapes.ts";

const source = z.string().min(1).max(40);
const one = z.strictObject({ source, id: z.string().min(1).max(64) });
const common = { tag: "sources", auth: "principal", extension: true } as const;
const scan = z
  .strictObject({
    id: z.string(),
    source: z.string(),
    state: z.enum(["queued", "running", "succeeded", "failed", "cancelled"]),
    progress: z.number().meta({ description: "0 to 1" }),
    created_by: z.string().meta({ description: "The id of a key, or `schedule`" }),
    created_at: time,
    started_at: time.nullable(),
    finished_at: time.nullable(),
    error: z.string().nullable(),
    result: z
      .strictObject({
        assets: z.int(),
        scanned: z.int(),
        unchanged: z.int(),
        failed: z.int().meta({ description: "Could not be read: what no scan ever read is of the highest tier" }),
        skipped: z.int().meta({ description: "Of formats that are not read: not registered" }),
        dropped: z.int().meta({ description: "Not there any more" }),
        truncated: z.boolean(),
        failures: z.array(z.strictObject({ resource_id: z.string(), reason: z.string() })),
      })
      .nullable()
      .meta({ description: "Null until the scan has ended" }),
  })
  .meta({ id: "Scan" });

/** Databases and buckets of the configuration, and their scans. */
export const sourceRoutes = {
  listSources: {
    ...common,
    method: "GET",
    path: "/api/v1/sources",
    action: "lineage:read",
    summary: "Databases and buckets that are scanned, with their last scans",
    status: 200,
    reply: z.strictObject({
      sources: z.array(
        z.strictObject({
          name: z.string(),
          kind: z.enum(["postgres", "s3"]),
          last_scan: scan.nullable(),
          next_scan_at: time.nullable().meta({ description: "Null where the first one begins now" }),
        }),
      ),
      count: z.int(),
    }),
  },
  startScan: {
    ...common,
    method: "POST",
    path: "/api/v1/sources/:source/scans",
    action: "resources:write",
    summary: "Scan a source now",
    params: z.strictObject({ source }),
    status: 202,
    reply: scan,
    errors: [409],
  },
  listScans: {
    ...common,
    method: "GET",
    path: "/api/v1/sources/:source/scans",
    action: "lineage:read",
    summary: "Scans of a source, newest first",
    params: z.strictObject({ source }),
    query: z.strictObject({ limit: limitParam(100), offset: offsetParam() }),
    status: 200,
    reply: z.strictObject({ scans: z.array(scan), count: z.int(), total: z.int() }),
  },
  getScan: {
    ...common,
    method: "GET",
    path: "/api/v1/sources/:source/scans/:id",
    action: "lineage:read",
    summary: "A scan",
    params: one,
    status: 200,
    reply: scan,
  },
  cancelScan: {
    ...common,
    method: "DELETE",
    path: "/api/v1/sources/:source/scans/:id",
    action: "resources:write",
    summary: "End a scan; what it wrote stands",
    params: one,
    status: 202,
    reply: scan,
    errors: [409],
  },
} as const satisfies Contract;
