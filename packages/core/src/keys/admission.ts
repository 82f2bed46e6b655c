import { checkArgument } from "@seneschal/kernel";
import { refusal } from "./codes.ts";
import type { Classification, IdentityType } from "./enums.ts";
import { type Timestamp, timestamp } from "./time.ts";
import { nextStatus, type TransitionTable, to, wrongState } from "./transition.ts";

export const admissionStatuses = ["active", "revoked"] as const;
export type AdmissionStatus = (typeof admissionStatuses)[number];

/** One identity let into one workspace by its own organisation. Revoked is final; a new grant is a new record. */
export interface Admission {
  readonly id: string;
  readonly org_id: string;
  readonly workspace_id: string;
  readonly identity_id: string;
  readonly identity_type: IdentityType;
  readonly status: AdmissionStatus;
  readonly granted_by: string;
  /** The group through whose membership it came, and with which it goes. Absent in records of release 0.1. */
  readonly via_group?: string | null;
  readonly granted_at: Timestamp;
  readonly revoked_by: string | null;
  readonly revoked_at: Timestamp | null;
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
}

export const admissionTable: TransitionTable<AdmissionStatus, "revoke"> = {
  active: { revoke: to("revoked") },
  revoked: { revoke: wrongState },
};

export interface Grant {
  readonly id: string;
  readonly workspace_id: string;
  readonly org: string;
  readonly identity_id: string;
  readonly identity_type: IdentityType;
  readonly by: string;
  readonly via_group?: string;
}

/** Who grants what membership alone opens: such an admission says how somebody came in, and opens nothing by itself. */
export const byMembership = "system:group";

/**
 * Whether an active admission counts as somebody's decision to let the identity in. One that came through a group counts while
 * that group is the one bound to the workspace and the identity is in it: a right ends with what gave it.
 *
 * @example
 * ```ts
 * import { admissionCounts } from "@seneschal/core/keys";
 * const through = { granted_by: "ada", via_group: "g1" };
 * console.log(admissionCounts(through, { bound: "g1", member: true }), admissionCounts(through, { bound: "g2", member: true })); // true false
 * ```
 */
export function admissionCounts(
  given: Pick<Admission, "granted_by" | "via_group">,
  group: { readonly bound: string | undefined; readonly member: boolean },
): boolean {
  checkArgument("given", given, "object");
  checkArgument("group", group, "object");
  const { granted_by, via_group = null } = given;
  if (granted_by === byMembership) return false;
  return via_group === null || (via_group === group.bound && group.member);
}

/**
 * Whether somebody's decision lets in an identity that has an active admission: one that stands by itself is in the way of a `grant`, any that somebody
 * gave in the way of a `request`; what membership alone opened, and for a grant what came through a group, gives way and ends. Throws `CONFLICT`.
 *
 * @example
 * ```ts
 * import { requireGivesWay } from "@seneschal/core/keys";
 * requireGivesWay({ granted_by: "ada", via_group: "g1" }, "grant");
 * try {
 *   requireGivesWay({ granted_by: "ada", via_group: null }, "grant");
 * } catch (error) {
 *   console.log((error as Error).message); // the identity is already admitted
 * }
 * ```
 */
export function requireGivesWay(known: Pick<Admission, "granted_by" | "via_group"> | undefined, to: "grant" | "request"): void {
  checkArgument("to", to, "string");
  if (known === undefined || known.granted_by === byMembership) return;
  if (to === "grant" && (known.via_group ?? null) !== null) return;
  throw refusal("CONFLICT", "the identity is already admitted");
}

/**
 * A SECRET workspace to which the organisation has bound a group lets its members in and nobody else. Throws `NOT_ADMITTED`.
 *
 * @example
 * ```ts
 * import { requireMember } from "@seneschal/core/keys";
 * requireMember("CONFIDENTIAL", { bound: true, member: false });
 * try {
 *   requireMember("SECRET", { bound: true, member: false });
 * } catch (error) {
 *   console.log((error as Error).message); // a SECRET workspace with a group admits its members only
 * }
 * ```
 */
export function requireMember(
  classification: Classification,
  group: { readonly bound: boolean; readonly member: boolean },
): void {
  checkArgument("classification", classification, "string");
  checkArgument("group", group, "object");
  if (classification !== "SECRET" || !group.bound || group.member) return;
  throw refusal("NOT_ADMITTED", "a SECRET workspace with a group admits its members only");
}

/**
 * An active admission.
 *
 * @example
 * ```ts
 * import { admit } from "@seneschal/core/keys";
 * const grant = { id: "a1", workspace_id: "w1", org: "acme", identity_id: "bob", identity_type: "user", by: "ada" } as const;
 * console.log(admit(grant, 0).status); // active
 * ```
 */
export function admit(grant: Grant, now: number): Admission {
  checkArgument("grant", grant, "object");
  checkArgument("now", now, "number");
  const at = timestamp(now);
  return {
    id: grant.id,
    org_id: grant.org,
    workspace_id: grant.workspace_id,
    identity_id: grant.identity_id,
    identity_type: grant.identity_type,
    status: "active",
    granted_by: grant.by,
    via_group: grant.via_group ?? null,
    granted_at: at,
    revoked_by: null,
    revoked_at: null,
    created_at: at,
    updated_at: at,
  };
}

/**
 * Ends an admission; the identity's own organisation or the workspace's owner may, another may not (`FORBIDDEN`).
 *
 * @example
 * ```ts
 * import { admit, revokeAdmission } from "@seneschal/core/keys";
 * const grant = { id: "a1", workspace_id: "w1", org: "acme", identity_id: "bob", identity_type: "user", by: "ada" } as const;
 * console.log(revokeAdmission(admit(grant, 0), { id: "ada", org: "acme", ownsWorkspace: true }, 1).status); // revoked
 * ```
 */
export function revokeAdmission(
  admission: Admission,
  by: { readonly id: string; readonly org: string; readonly ownsWorkspace: boolean },
  now: number,
): Admission {
  checkArgument("admission", admission, "object");
  checkArgument("by", by, "object");
  checkArgument("now", now, "number");
  if (admission.org_id !== by.org && !by.ownsWorkspace) {
    throw refusal("FORBIDDEN", "only the identity's organisation or the owner may revoke an admission");
  }
  const at = timestamp(now);
  return {
    ...admission,
    status: nextStatus("admission", admissionTable, admission.status, "revoke"),
    revoked_by: by.id,
    revoked_at: at,
    updated_at: at,
  };
}
