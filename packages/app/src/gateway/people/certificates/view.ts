import { isPast } from "@seneschal/core/keys";
import type { CertificateRecord } from "../../ground/index.ts";

/** A certificate as callers see it; `expired` is derived, and revoked outlives it. */
export function certificateView(record: CertificateRecord, now: number) {
  const status = record.status === "active" && isPast(record.expiration, now) ? ("expired" as const) : record.status;
  return { ...record, status, ca_chain: [...record.ca_chain] };
}
