import { type Admin, isPast, refusal, timestamp } from "@seneschal/core/keys";
import { type GatewayUnit, type Reader, utf8 } from "../ground/index.ts";
import { admins, type EnrollmentToken, enrollmentTokens } from "./collections.ts";
import type { PeopleServices } from "./services.ts";

const hash = (services: PeopleServices, token: string): string =>
  Buffer.from(services.crypto.hash("sha256", utf8(token))).toString("hex");

/** Carries out `issue_enrollment_token`: older tokens of the admin stop working. The token is shown once, its hash is kept. */
export async function issueEnrollmentToken(
  services: PeopleServices,
  unit: GatewayUnit,
  admin: { readonly id: string; readonly org_id: string },
): Promise<string> {
  await voidEnrollmentTokens(unit, admin.id);
  const token = `senr_${Buffer.from(services.random(32)).toString("base64url")}`;
  const id = hash(services, token);
  unit.insert(enrollmentTokens, id, {
    id,
    admin_id: admin.id,
    org_id: admin.org_id,
    expires_at: timestamp(unit.call.now + services.config.lifetimes.enrollment_token),
  });
  return token;
}

/** Carries out `void_tokens`. */
export async function voidEnrollmentTokens(unit: GatewayUnit, adminId: string): Promise<void> {
  for (const { id } of await unit.list(enrollmentTokens, "by_admin", [adminId])) unit.delete(enrollmentTokens, id);
}

/**
 * The token's record and whom it lets in, when it is good for this admin now; `UNAUTHORIZED` otherwise, without saying why, nor whether
 * there is such an admin.
 */
export async function tokenHolder(
  services: PeopleServices,
  read: Reader,
  adminId: string,
  token: string,
  now: number,
): Promise<{ readonly token: EnrollmentToken; readonly admin: Admin }> {
  const record = await read.get(enrollmentTokens, hash(services, token));
  const good = record !== undefined && record.admin_id === adminId && !isPast(record.expires_at, now);
  const admin = good ? await read.get(admins, adminId) : undefined;
  if (!good || admin === undefined) throw refusal("UNAUTHORIZED", "the enrollment token is not valid");
  return { token: record, admin };
}
