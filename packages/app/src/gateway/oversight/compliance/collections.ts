import { collection } from "../../ground/index.ts";
import type { Period } from "../audit-views/figures.ts";

/** What a report says about itself; the digest covers it. */
export interface ReportFacts {
  readonly id: string;
  readonly org_id: string;
  readonly type: "summary" | "gdpr-dsar" | "access-review";
  readonly generated_at: string;
  readonly generated_by: string;
  readonly period: Period;
  /** Sequence of the last event of the organisation's log that the report knows. */
  readonly log_size: number;
  /** What of the period is in the archive, and not in the report. */
  readonly archived?: { readonly through: number; readonly until: string };
}

/** The signed digest of a report that was made; the report itself is not kept. */
export interface ReportSeal extends ReportFacts {
  readonly completed_at: string;
  readonly format: "json" | "csv" | "html";
  readonly size: number;
  readonly digest: string;
  readonly digest_signature: string;
  readonly digest_key: string;
}

export const reportSeals = collection<ReportSeal>("report_seals", {
  by_org: { key: ({ org_id, completed_at }) => [org_id, completed_at] },
});
