import type { Handlers, Payload } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import {
  type GrowingObject,
  invalidField,
  type ReportFormat,
  type ReportType,
  reportFacts,
  reportPeriod,
} from "@seneschal/core/keys";
import { type Call, findOwn, listed, ownOrganization } from "../../ground/index.ts";
import type { PartnerServices } from "../../partners/index.ts";
import { lengthOf } from "../audit-query.ts";
import { type ReportSeal, reportSeals } from "../collections.ts";
import { accessReview, type Scope, subjectAccess, summary } from "./figures.ts";
import { reportBytes } from "./report.ts";

type Routes = Pick<
  GatewayContract,
  "summaryReport" | "subjectAccessReport" | "accessReviewReport" | "exportReport" | "listReportSeals" | "getReportSeal"
>;

interface ReportRequest {
  readonly type: ReportType;
  readonly org_id?: string | undefined;
  readonly subject_id?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

function figures(services: PartnerServices, request: ReportRequest, scope: Scope): Promise<GrowingObject> {
  switch (request.type) {
    case "summary":
      return summary(services, scope);
    case "access-review":
      return accessReview(services, scope);
    case "gdpr-dsar":
      if (request.subject_id === undefined) throw invalidField("subject_id", "required");
      return subjectAccess(services, scope, request.subject_id);
    default:
      return request.type satisfies never;
  }
}

/** Begins a report. That it was asked for is audited before the first byte leaves, its digest when the last one did. */
async function begin(services: PartnerServices, call: Call, request: ReportRequest, format: ReportFormat) {
  const org = ownOrganization(call.principal, request.org_id);
  const scope = { org, period: reportPeriod(request, call.now), size: await lengthOf(services.store, org) };
  const data = await figures(services, request, scope);
  const { type } = request;
  const id = services.newId(call.now);
  await services.organizationKeys.ensureKek(org);
  await services.transact(call, async (unit) => {
    // What cannot be signed is not begun.
    await services.organizationKeys.publicKeys(unit, org);
    unit.record({ type: "audit.export", metadata: { report: type, report_id: id, format } });
  });
  const archived = await services.audit.archived(org);
  const { period, size: log_size } = scope;
  const made = { id, type, org_id: org, generated_by: call.principal.id, period, log_size };
  const facts = reportFacts({ ...made, ...(archived && { archived }) }, call.now);
  return reportBytes(services, call, facts, data, format);
}

async function answered(services: PartnerServices, call: Call, request: ReportRequest): Promise<Payload> {
  return { body: await begin(services, call, request, "json") };
}

export const complianceHandlers: Handlers<Routes, PartnerServices> = {
  summaryReport: (services, { principal, body, now, requestId }) =>
    answered(services, { principal, now, requestId }, { type: "summary", ...body }),

  subjectAccessReport: (services, { principal, body, now, requestId }) =>
    answered(services, { principal, now, requestId }, { type: "gdpr-dsar", ...body }),

  accessReviewReport: (services, { principal, body, now, requestId }) =>
    answered(services, { principal, now, requestId }, { type: "access-review", ...body }),

  async exportReport(services, { principal, body, now, requestId }) {
    const { format, ...request } = body;
    const bytes = await begin(services, { principal, now, requestId }, request, format);
    return {
      filename: `report-${request.type}.${format}`,
      mediaType: format === "csv" ? "text/csv; charset=utf-8" : "text/html; charset=utf-8",
      headers: { "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'" },
      body: bytes,
    };
  },

  listReportSeals: async ({ read }, { principal, query }) =>
    listed("reports", await read.page(reportSeals, "by_org", [principal.org], query), view),

  async getReportSeal({ read }, { principal, params }) {
    return view(await findOwn(read, reportSeals, params.id, principal.org, "report"));
  },
};

const view = (seal: ReportSeal) => ({ ...seal, period: { ...seal.period } });
