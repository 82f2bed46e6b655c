import type { Handlers } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import type { JsonObject } from "@seneschal/core";
import { invalidField, timestamp } from "@seneschal/core/keys";
import { canonicalJson } from "@seneschal/crypto";
import { ownOrganization } from "../auth/own-organization.ts";
import { base64, utf8 } from "../bytes.ts";
import type { Call } from "../call.ts";
import type { GatewayServices } from "../services.ts";
import { accessReview, type Period, subjectAccess, summary } from "./figures.ts";
import { reportCsv, reportHtml } from "./render.ts";

type Routes = Pick<GatewayContract, "summaryReport" | "subjectAccessReport" | "accessReviewReport" | "exportReport">;
type ReportType = "summary" | "gdpr-dsar" | "access-review";

interface ReportRequest {
  readonly type: ReportType;
  readonly org_id?: string | undefined;
  readonly subject_id?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

const PERIOD = 30 * 86_400_000;

/** 30 days by default; about a person, everything there is. */
function periodOf({ type, since, until }: ReportRequest, now: number): Period {
  const end = until ?? timestamp(now);
  if (type === "gdpr-dsar") return { since: since ?? timestamp(0), until: end };
  const period = { since: since ?? timestamp(Date.parse(end) - PERIOD), until: end };
  if (period.since > period.until) throw invalidField("since", "must not be after until");
  return period;
}

async function figures(services: GatewayServices, org: string, request: ReportRequest, period: Period): Promise<JsonObject> {
  switch (request.type) {
    case "summary":
      return summary(services, org, period);
    case "access-review":
      return accessReview(services, org, period);
    case "gdpr-dsar":
      if (request.subject_id === undefined) throw invalidField("subject_id", "required");
      return subjectAccess(services, org, request.subject_id, period);
    default:
      return request.type satisfies never;
  }
}

/** Computes a report from the records, and signs the digest of what it says with the organisation's key. */
async function report(services: GatewayServices, call: Call, request: ReportRequest) {
  const org = ownOrganization(call.principal, request.org_id);
  const period = periodOf(request, call.now);
  const data = await figures(services, org, request, period);
  const content = { type: request.type, org_id: org, period: { ...period }, data };
  const hash = services.crypto.hash("sha256", utf8(canonicalJson(content)));
  const digest = Buffer.from(hash).toString("hex");
  await services.organizationKeys.ensureKek(org);
  return services.transact(call, async (unit) => {
    const signed = await services.organizationKeys.sign(unit, org, utf8(`seneschal/compliance-report/v1\0${digest}`));
    const { signing } = await services.organizationKeys.publicKeys(unit, org);
    unit.record({ type: "audit.export", metadata: { report: request.type, digest } });
    return {
      id: services.newId(call.now),
      generated_at: timestamp(call.now),
      generated_by: call.principal.id,
      ...content,
      // The same JSON; the contract's type knows no readonly.
      data: data as Record<string, never>,
      digest,
      digest_signature: base64(signed),
      digest_key: base64(signing),
    };
  });
}

export const complianceHandlers: Handlers<Routes, GatewayServices> = {
  summaryReport: (services, { principal, body, now, requestId }) =>
    report(services, { principal, now, requestId }, { type: "summary", ...body }),

  subjectAccessReport: (services, { principal, body, now, requestId }) =>
    report(services, { principal, now, requestId }, { type: "gdpr-dsar", ...body }),

  accessReviewReport: (services, { principal, body, now, requestId }) =>
    report(services, { principal, now, requestId }, { type: "access-review", ...body }),

  async exportReport(services, { principal, body, now, requestId }) {
    const { format, ...request } = body;
    const made = await report(services, { principal, now, requestId }, request);
    const filename = `report-${made.type}.${format}`;
    if (format === "csv") return { filename, mediaType: "text/csv; charset=utf-8", body: reportCsv(made) };
    const title = `${made.type} of ${made.org_id}`;
    return {
      filename,
      mediaType: "text/html; charset=utf-8",
      headers: { "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'" },
      body: reportHtml(title, made),
    };
  },
};
