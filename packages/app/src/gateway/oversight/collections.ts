import type { Backup, ReportFacts, ReportFormat, ReportSignature } from "@seneschal/core/keys";
import { type AnyCollection, collection } from "../ground/index.ts";

/** What is known of backups. The payloads lie outside of the database. */
export const backups = collection<Backup>("backups", { by_org: { key: (backup) => [backup.org_id, backup.created_at] } });

/** The signed digest of a report that was made; the report itself is not kept. */
export interface ReportSeal extends ReportFacts, ReportSignature {
  readonly completed_at: string;
  readonly format: ReportFormat;
  readonly size: number;
}

export const reportSeals = collection<ReportSeal>("report_seals", {
  by_org: { key: ({ org_id, completed_at }) => [org_id, completed_at] },
});

/** All that the floor stores. */
export const oversightCollections: readonly AnyCollection[] = [backups, reportSeals];
