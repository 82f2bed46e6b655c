import { checkArgument } from "@seneschal/kernel";
import { type KeysCode, type KeysError, notFound, refusal } from "./codes.ts";
import type { Classification } from "./enums.ts";
import { deniedByPolicy, type PolicyVerdict } from "./policy.ts";
import { type WorkspaceOperation, type WorkspaceStatus, workspaceRefusal } from "./workspace.ts";

/** Everything that the answer depends on, as plain facts. */
export interface AccessFacts {
  readonly operation: Extract<WorkspaceOperation, "encrypt" | "decrypt">;
  readonly status: WorkspaceStatus;
  /** The caller's organisation owns the workspace or takes part in it. */
  readonly participates: boolean;
  readonly classification: Classification;
  readonly crkProtected: boolean;
  /** An active admission names the caller. */
  readonly admitted: boolean;
  /** The caller's organisation has bound a group to the workspace. */
  readonly groupBound: boolean;
  /** The caller is a member of that group. */
  readonly groupMember: boolean;
  readonly policies: readonly PolicyVerdict[];
}

export type AccessDecision =
  | { readonly allowed: true; readonly through: "admission" | "group" }
  | { readonly allowed: false; readonly code: KeysCode; readonly reason: string };

/**
 * Whether a caller may use a workspace's key. Participation first (an outsider learns nothing), then admission, then the
 * workspace's status, then the policies, which can only restrict.
 *
 * @example
 * ```ts
 * import { decideAccess } from "@seneschal/core/keys";
 * const facts = { operation: "encrypt", status: "active", participates: true, classification: "CONFIDENTIAL", crkProtected: false } as const;
 * const member = { admitted: false, groupBound: true, groupMember: true, policies: [] };
 * console.log(decideAccess({ ...facts, ...member })); // { allowed: true, through: 'group' }
 * console.log(decideAccess({ ...facts, ...member, groupMember: false }).allowed); // false
 * ```
 */
export function decideAccess(facts: AccessFacts): AccessDecision {
  checkArgument("facts", facts, "object");
  if (!facts.participates) return { allowed: false, code: "NOT_FOUND", reason: "workspace not found" };
  const through = accessBasis(facts);
  if (through === undefined)
    return { allowed: false, code: "NOT_ADMITTED", reason: "the identity is not admitted to the workspace" };
  const refused = workspaceRefusal(facts.status, facts.operation);
  if (refused !== undefined) return { allowed: false, code: refused, reason: `the workspace is ${facts.status}` };
  const denial = facts.policies.find((verdict) => !verdict.allowed);
  if (denial !== undefined) return { allowed: false, code: "POLICY_VIOLATION", reason: denial.reason };
  return { allowed: true, through };
}

/**
 * The refusal of a decision, and what the audit log calls it where it is more than an operation that was denied.
 *
 * @example
 * ```ts
 * import { accessRefusal } from "@seneschal/core/keys";
 * const { error, event } = accessRefusal({ code: "NOT_ADMITTED", reason: "the identity is not admitted to the workspace" });
 * console.log(error.code, event); // NOT_ADMITTED workspace.admission.denied
 * ```
 */
export function accessRefusal(denied: { readonly code: KeysCode; readonly reason: string }): {
  readonly error: KeysError;
  readonly event?: "policy.violation" | "workspace.admission.denied";
} {
  checkArgument("denied", denied, "object");
  const { code, reason } = denied;
  if (code === "NOT_FOUND") return { error: notFound("workspace") };
  if (code === "POLICY_VIOLATION") return { error: deniedByPolicy(reason), event: "policy.violation" };
  const error = refusal(code, reason);
  return code === "NOT_ADMITTED" ? { error, event: "workspace.admission.denied" } : { error };
}

/**
 * How an identity comes in: SECRET and CRK-protected workspaces need an admission, SECRET with a group membership as well.
 *
 * @example
 * ```ts
 * import { accessBasis } from "@seneschal/core/keys";
 * const facts = { classification: "CONFIDENTIAL", crkProtected: false, admitted: false, groupBound: true, groupMember: true } as const;
 * console.log(accessBasis(facts), accessBasis({ ...facts, classification: "SECRET" })); // group undefined
 * ```
 */
export function accessBasis(
  facts: Pick<AccessFacts, "classification" | "crkProtected" | "admitted" | "groupBound" | "groupMember">,
): "admission" | "group" | undefined {
  checkArgument("facts", facts, "object");
  if (facts.admitted) {
    if (facts.classification === "SECRET" && facts.groupBound && !facts.groupMember) return undefined;
    return "admission";
  }
  if (facts.classification === "SECRET" || facts.crkProtected) return undefined;
  return facts.groupMember ? "group" : undefined;
}
