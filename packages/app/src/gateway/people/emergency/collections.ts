import { type EmergencyAccess, type Person, stepEmergency } from "@seneschal/core/keys";
import { collection, type GatewayUnit } from "../../ground/index.ts";

/** A request, who asked and who approved, and the hash of the token that it yielded. */
export interface StoredEmergency extends EmergencyAccess {
  readonly requester_type: string;
  readonly requester: Person;
  /** As they were known when they approved; those of them count who still stand in `approved_by`. */
  readonly approvers: readonly Person[];
  /** Hex SHA-256; `null` before the requester fetched the token and after it was revoked. */
  readonly token_hash: string | null;
}

export const emergencies = collection<StoredEmergency>("emergency_access", {
  by_org: { key: (access) => [access.org_id, access.created_at] },
  by_requester: { key: (access) => [access.org_id, access.requested_by, access.created_at] },
  /** What a person's disabling must go through. */
  pending: { key: (access) => (access.status === "pending" ? [access.org_id, access.expires_at] : undefined) },
  by_token: { key: (access) => (access.token_hash === null ? undefined : [access.token_hash]), unique: "token" },
  open_until: {
    key: (access) =>
      access.status === "pending"
        ? [access.expires_at]
        : access.status === "approved" && access.token_expiry !== null
          ? [access.token_expiry]
          : undefined,
  },
});

/** Carries out `void_approvals`: a person who was disabled has approved nothing that is still undecided. */
export async function voidApprovals(unit: GatewayUnit, org: string, person: string): Promise<void> {
  for (const { id, approved_by } of await unit.list(emergencies, "pending", [org])) {
    if (!approved_by.includes(person)) continue;
    const access = await unit.get(emergencies, id);
    if (access?.status !== "pending" || Date.parse(access.expires_at) <= unit.call.now) continue;
    const { state } = stepEmergency(access, { kind: "void_approvals", by: person }, unit.call.now);
    unit.put(emergencies, id, { ...access, ...state });
  }
}
