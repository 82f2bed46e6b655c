import { reportTypes } from "@seneschal/core/keys";
import * as z from "zod";
import { archivedPart } from "../archived-part.ts";
import { jsonValue } from "../json-value.ts";
import type { Contract } from "../route.ts";
import { idParam, inOrder, listOf, moment, organizationId, page, timestamp } from "./shapes.ts";

const formats = ["json", "csv", "html"] as const;

const facts = {
  id: z.uuid(),
  org_id: organizationId,
  type: z.enum(reportTypes),
  generated_at: timestamp.meta({ description: "when the reading began" }),
  generated_by: z.string(),
  period: z.object({ since: timestamp, until: timestamp }),
  log_size: z.int().meta({
    description:
      "events are those up to this sequence of the organisation's audit log, whatever happens while the report is read",
  }),
  archived: archivedPart.optional().meta({ description: "what of the period is in the archive, and not in the report" }),
  completed_at: timestamp.meta({ description: "when the last record was read; records are as they stood between the two times" }),
};

const seal = {
  digest: z.string().meta({
    description:
      "hex SHA-256 of every byte of the report before its last line, which holds the digest, its signature and the key",
  }),
  digest_signature: z.string().meta({
    description: "base64 Ed25519 over `seneschal/compliance-report/v2`, a zero byte and the digest, by digest_key",
  }),
  digest_key: z.string().meta({ description: "the organisation's public signing key, base64" }),
};

const complianceReport = z.object({ ...facts, data: z.record(z.string(), jsonValue), ...seal }).meta({ id: "ComplianceReport" });

const reportSeal = z
  .object({ ...facts, format: z.enum(formats), size: z.int().meta({ description: "bytes that the digest covers" }), ...seal })
  .meta({ id: "ComplianceReportSeal" });

const subject = z.string().min(1).max(256);
const range = { org_id: organizationId.optional(), since: moment.optional(), until: moment.optional() };
const route = { tag: "compliance", auth: "principal", action: "compliance:report", status: 200 } as const;
const report = { ...route, method: "POST", reply: complianceReport, streamed: true } as const;
const base = "/api/v1/compliance/reports";

/** Reports computed from the records themselves, streamed and sealed by a signed digest. */
export const complianceRoutes = {
  summaryReport: {
    ...report,
    path: `${base}/summary`,
    summary: "What happened in a period, by default 30 days",
    body: z.strictObject(range).refine(...inOrder),
    bodyOptional: true,
  },
  subjectAccessReport: {
    ...report,
    path: `${base}/gdpr-dsar`,
    summary: "Everything held about one person (GDPR Art. 15)",
    body: z.strictObject({ org_id: organizationId.optional(), subject_id: subject }),
  },
  accessReviewReport: {
    ...report,
    path: `${base}/access-review`,
    summary: "Who can reach which workspace, and when they last did",
    body: z.strictObject(range).refine(...inOrder),
    bodyOptional: true,
  },
  exportReport: {
    ...route,
    method: "POST",
    path: `${base}/export`,
    summary: "A report as a file: CSV, or HTML for people",
    body: z
      .strictObject({
        ...range,
        type: z.enum(reportTypes),
        subject_id: subject.optional(),
        format: z.enum(["csv", "html"]).default("html"),
      })
      .refine(...inOrder),
    produces: ["text/html", "text/csv"],
    extension: true,
  },
  listReportSeals: {
    ...route,
    method: "GET",
    path: base,
    summary: "The signed digests of the reports that were made, newest first",
    query: page(),
    reply: listOf("reports", reportSeal),
    extension: true,
  },
  getReportSeal: {
    ...route,
    method: "GET",
    path: `${base}/:id`,
    summary: "The signed digest of one report, to hold a file against",
    params: idParam,
    reply: reportSeal,
    extension: true,
  },
} as const satisfies Contract;
