import type { Principal } from "@seneschal/contract";
import { emergencyStatus } from "@seneschal/core/keys";
import { type Reader, utf8 } from "../../ground/index.ts";
import { invalidToken } from "../identities/invalid-token.ts";
import { identityKinds } from "../identities/kinds.ts";
import type { PeopleServices } from "../services.ts";
import { subjectKey, users } from "../users/collections.ts";
import { emergencies, type StoredEmergency } from "./collections.ts";

/** How emergency tokens begin. */
export const emergencyTokenPrefix = "sene_";

/** What is kept of an emergency token. */
export function emergencyTokenHash({ crypto }: PeopleServices, token: string): string {
  return Buffer.from(crypto.hash("sha256", utf8(token))).toString("hex");
}

/** A fresh token of 256 bits. */
export function newEmergencyToken({ random }: PeopleServices): string {
  return `${emergencyTokenPrefix}${Buffer.from(random(32)).toString("base64url")}`;
}

/**
 * Whom an emergency token stands for: its requester, as super admin. Throws `invalid_token` for one that is unknown, over
 * or revoked, and for a requester who was disabled or removed meanwhile; it does not say which.
 */
export async function principalOfEmergencyToken(
  services: PeopleServices,
  token: string,
  now: number,
): Promise<{ readonly principal: Principal; readonly access: StoredEmergency }> {
  const { read } = services;
  const [access] = await read.list(emergencies, "by_token", [emergencyTokenHash(services, token)], { limit: 1 });
  if (access === undefined || emergencyStatus(access, now) !== "approved") throw invalidToken("emergency token");
  if (!(await mayAct(read, access, now))) throw invalidToken("emergency token");
  const principal: Principal = {
    id: access.requested_by,
    type: "emergency",
    org: access.org_id,
    roles: ["super_admin"],
    scopes: [],
    method: "token",
    emergencyId: access.id,
  };
  return { principal, access };
}

/** The requester is there and not disabled. A user may be known by its identity provider only. */
async function mayAct(
  read: Reader,
  { org_id: org, requested_by: id, requester_type: type }: StoredEmergency,
  now: number,
): Promise<boolean> {
  const [user] = await read.list(users, "by_subject", subjectKey(org, id), { limit: 1 });
  if (user?.active === false) return false;
  for (const [kind, finder] of Object.entries(identityKinds)) {
    const known = await finder?.find(read, id);
    if (known?.org === org ? !known.isActive(now) : kind === type && type !== "user") return false;
  }
  return true;
}
