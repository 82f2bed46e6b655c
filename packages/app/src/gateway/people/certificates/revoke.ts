import { timestamp } from "@seneschal/core/keys";
import { type CertificateRecord, certificates, type GatewayUnit } from "../../ground/index.ts";

/** Revokes every certificate that stands for somebody: what the right was ends on every road to it. */
export async function revokeCertificatesOf(
  unit: GatewayUnit,
  org: string,
  subject: Pick<CertificateRecord, "subject_type" | "subject_id">,
): Promise<void> {
  const known = await unit.list(certificates, "by_subject", [org, subject.subject_type, subject.subject_id]);
  for (const { serial_number } of known) await revokeCertificate(unit, serial_number);
}

/** Revokes a certificate from now on. Doing it again changes nothing. Answers the record, `undefined` for an unknown serial. */
export async function revokeCertificate(unit: GatewayUnit, serial: string): Promise<CertificateRecord | undefined> {
  const record = await unit.get(certificates, serial);
  if (record === undefined || record.status === "revoked") return record;
  const at = timestamp(unit.call.now);
  const revoked: CertificateRecord = { ...record, status: "revoked", revoked_at: at, updated_at: at };
  unit.put(certificates, serial, revoked);
  unit.record({ type: "certificate.revoke", org: record.org_id, metadata: { serial_number: serial } });
  return revoked;
}
