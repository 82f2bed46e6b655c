import { timestamp } from "@seneschal/core/keys";
import type { GatewayUnit } from "../call.ts";
import { type CertificateRecord, certificates } from "./collections.ts";

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
