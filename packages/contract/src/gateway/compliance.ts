import { z } from "zod";
import type { Contract } from "../route.ts";
import { inOrder, moment, organizationId, timestamp } from "./shapes.ts";

const reportTypes = ["summary", "gdpr-dsar", "access-review"] as const;

const complianceReport = z
  .object({
    id: z.uuid(),
    org_id: organizationId,
    type: z.enum(reportTypes),
    generated_at: timestamp,
    generated_by: z.string(),
    period: z.object({ since: timestamp, until: timestamp }),
    data: z.record(z.string(), z.json()),
    digest: z.string().meta({ description: "hex SHA-256 of the canonical JSON of type, org_id, period and data" }),
    digest_signature: z.string().meta({
      description: "base64 Ed25519 over `seneschal/compliance-report/v1`, a zero byte and the digest, by digest_key",
    }),
    digest_key: z.string().meta({ description: "the organisation's public signing key, base64" }),
  })
  .meta({ id: "ComplianceReport" });

const subject = z.string().min(1).max(256);
const range = { org_id: organizationId.optional(), since: moment.optional(), until: moment.optional() };
const route = {
  tag: "compliance",
  auth: "principal",
  method: "POST",
  action: "compliance:report",
  status: 200,
  reply: complianceReport,
} as const;
const base = "/api/v1/compliance/reports";

/** Reports computed from the records themselves. */
export const complianceRoutes = {
  summaryReport: {
    ...route,
    path: `${base}/summary`,
    summary: "What happened in a period, by default 30 days",
    body: z.strictObject(range).refine(...inOrder),
    bodyOptional: true,
  },
  subjectAccessReport: {
    ...route,
    path: `${base}/gdpr-dsar`,
    summary: "Everything held about one person (GDPR Art. 15)",
    body: z.strictObject({ org_id: organizationId.optional(), subject_id: subject }),
  },
  accessReviewReport: {
    ...route,
    path: `${base}/access-review`,
    summary: "Who can reach which workspace, and when they last did",
    body: z.strictObject(range).refine(...inOrder),
    bodyOptional: true,
  },
  exportReport: {
    tag: "compliance",
    auth: "principal",
    method: "POST",
    action: "compliance:report",
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
    status: 200,
    produces: ["text/html", "text/csv"],
    extension: true,
  },
} as const satisfies Contract;
