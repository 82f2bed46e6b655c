import { checkArgument } from "@seneschal/kernel";
import { refusal } from "./codes.ts";
import { lifetimes } from "./lifetimes.ts";
import { areTwoPeople, type Person } from "./person.ts";
import { isPast, type Timestamp, timestamp } from "./time.ts";
import { nextStatus, type Step, type TransitionTable, to, wrongState } from "./transition.ts";

export const emergencyStatuses = ["pending", "approved", "denied", "expired", "completed"] as const;
export type EmergencyStatus = (typeof emergencyStatuses)[number];

/** A break-glass request. The token that an approval yields is never part of it. */
export interface EmergencyAccess {
  readonly id: string;
  readonly org_id: string;
  readonly reason: string;
  readonly requested_by: string;
  readonly status: EmergencyStatus;
  /** Persons, each once. */
  readonly approved_by: readonly string[];
  readonly denied_by: string | null;
  readonly required_approvals: number;
  readonly requested_at: Timestamp;
  readonly expires_at: Timestamp;
  readonly resolved_at: Timestamp | null;
  readonly token_expiry: Timestamp | null;
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
}

export type EmergencyInput =
  | { readonly kind: "approve"; readonly by: string }
  /** By a valid signature of the organisation's root key, in place of all approvals. */
  | { readonly kind: "verify" }
  | { readonly kind: "deny"; readonly by: string }
  | { readonly kind: "complete" }
  | { readonly kind: "void_approvals"; readonly by: string }
  | { readonly kind: "expire" };

export type EmergencyEffect =
  | { readonly kind: "issue_token"; readonly expires_at: Timestamp }
  | { readonly kind: "revoke_token" };

/** `approve` in `pending` means "the last approval that was missing"; {@link stepEmergency} counts before it asks the table. */
export const emergencyTable: TransitionTable<EmergencyStatus, EmergencyInput["kind"]> = {
  pending: {
    approve: to("approved"),
    verify: to("approved"),
    deny: to("denied"),
    complete: wrongState,
    void_approvals: to("pending"),
    expire: to("expired"),
  },
  approved: {
    approve: wrongState,
    verify: wrongState,
    deny: wrongState,
    complete: to("completed"),
    void_approvals: to("approved"),
    expire: to("expired"),
  },
  denied: over(),
  expired: over(),
  completed: over(),
};

function over() {
  return {
    approve: wrongState,
    verify: wrongState,
    deny: wrongState,
    complete: wrongState,
    void_approvals: wrongState,
    expire: wrongState,
  } as const;
}

export interface EmergencyNew {
  readonly id: string;
  readonly org: string;
  readonly reason: string;
  readonly by: string;
}

/**
 * A pending request.
 *
 * @example
 * ```ts
 * import { requestEmergency } from "@seneschal/core/keys";
 * console.log(requestEmergency({ id: "e1", org: "acme", reason: "fire", by: "ada" }, 0).required_approvals); // 2
 * ```
 */
export function requestEmergency(
  input: EmergencyNew,
  now: number,
  lifetime: number = lifetimes.emergencyRequest,
): EmergencyAccess {
  checkArgument("input", input, "object");
  checkArgument("now", now, "number");
  const at = timestamp(now);
  return {
    id: input.id,
    org_id: input.org,
    reason: input.reason,
    requested_by: input.by,
    status: "pending",
    approved_by: [],
    denied_by: null,
    required_approvals: 2,
    requested_at: at,
    expires_at: timestamp(now + lifetime),
    resolved_at: null,
    token_expiry: null,
    created_at: at,
    updated_at: at,
  };
}

/**
 * When it ends by itself: what is pending with the request, what is approved with its token; `null`: never.
 *
 * @example
 * ```ts
 * import { emergencyEnd, requestEmergency } from "@seneschal/core/keys";
 * const asked = requestEmergency({ id: "e1", org: "acme", reason: "fire", by: "ada" }, 0, 1000);
 * console.log(emergencyEnd(asked)); // 1970-01-01T00:00:01.000Z
 * ```
 */
export function emergencyEnd(access: EmergencyAccess): Timestamp | null {
  checkArgument("access", access, "object");
  if (access.status === "pending") return access.expires_at;
  return access.status === "approved" ? access.token_expiry : null;
}

/**
 * The status at a moment.
 *
 * @example
 * ```ts
 * import { emergencyStatus, requestEmergency } from "@seneschal/core/keys";
 * const asked = requestEmergency({ id: "e1", org: "acme", reason: "fire", by: "ada" }, 0, 1000);
 * console.log(emergencyStatus(asked, 999), emergencyStatus(asked, 1000)); // pending expired
 * ```
 */
export function emergencyStatus(access: EmergencyAccess, now: number): EmergencyStatus {
  checkArgument("access", access, "object");
  checkArgument("now", now, "number");
  return isPast(emergencyEnd(access), now) ? "expired" : access.status;
}

/**
 * One open request of a requester at a time: those that wait, and those whose token is good. Throws `CONFLICT` with the open one's id.
 *
 * @example
 * ```ts
 * import { requestEmergency, requireNoneOpen } from "@seneschal/core/keys";
 * const asked = requestEmergency({ id: "e1", org: "acme", reason: "fire", by: "ada" }, 0, 1000);
 * requireNoneOpen([asked], 1000);
 * try {
 *   requireNoneOpen([asked], 999);
 * } catch (error) {
 *   console.log((error as Error).message); // the requester has an open request
 * }
 * ```
 */
export function requireNoneOpen(requests: readonly EmergencyAccess[], now: number): void {
  checkArgument("requests", requests, "array");
  checkArgument("now", now, "number");
  for (const access of requests) {
    const status = emergencyStatus(access, now);
    if (status !== "pending" && status !== "approved") continue;
    throw refusal("CONFLICT", "the requester has an open request", { id: access.id, status });
  }
}

/**
 * Approvals are counted by people: one person's certificate and token are one voice. `approvers`: those whose approvals count. Throws `CONFLICT`.
 *
 * @example
 * ```ts
 * import { requireNewVoice } from "@seneschal/core/keys";
 * const bob = { id: "bob", emails: ["bob@acme.example"], accounts: "people" };
 * try {
 *   requireNewVoice({ ...bob, id: "serial 01" }, [bob]);
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // CONFLICT
 * }
 * ```
 */
export function requireNewVoice(caller: Person, approvers: readonly Person[]): void {
  checkArgument("caller", caller, "object");
  checkArgument("approvers", approvers, "array");
  if (approvers.every((approver) => areTwoPeople(caller, approver))) return;
  throw refusal("CONFLICT", "this person has approved already, or cannot be told from one who has", {
    reason: "approve with a certificate, or with a token whose subject is a registered user or that names an e-mail address",
  });
}

/**
 * One step. Approvals count per person and never from the requester (`FORBIDDEN`); the same person twice is `CONFLICT`.
 * `tokenLifetime` in milliseconds.
 *
 * @example
 * ```ts
 * import { requestEmergency, stepEmergency } from "@seneschal/core/keys";
 * const asked = requestEmergency({ id: "e1", org: "acme", reason: "fire", by: "ada" }, 0);
 * const once = stepEmergency(asked, { kind: "approve", by: "bob" }, 1);
 * const twice = stepEmergency(once.state, { kind: "approve", by: "eve" }, 2);
 * console.log(once.state.status, twice.state.status, twice.effects[0]?.kind); // pending approved issue_token
 * ```
 */
export function stepEmergency(
  access: EmergencyAccess,
  input: EmergencyInput,
  now: number,
  tokenLifetime: number = lifetimes.emergencyToken,
): Step<EmergencyAccess, EmergencyEffect> {
  checkArgument("access", access, "object");
  checkArgument("input", input, "object");
  checkArgument("now", now, "number");
  const current = emergencyStatus(access, now);
  const status = nextStatus("request", emergencyTable, current, input.kind);
  const at = timestamp(now);
  const token_expiry = timestamp(now + tokenLifetime);
  const approved = (approved_by: readonly string[]): Step<EmergencyAccess, EmergencyEffect> => ({
    state: { ...access, status, approved_by, resolved_at: at, token_expiry, updated_at: at },
    effects: [{ kind: "issue_token", expires_at: token_expiry }],
  });
  switch (input.kind) {
    case "approve": {
      notTheRequester(access, input.by);
      if (access.approved_by.includes(input.by)) throw refusal("CONFLICT", "this person has approved already");
      const approved_by = [...access.approved_by, input.by];
      if (approved_by.length >= access.required_approvals) return approved(approved_by);
      return { state: { ...access, approved_by, updated_at: at }, effects: [] };
    }
    case "verify":
      return approved(access.approved_by);
    case "deny":
      notTheRequester(access, input.by);
      return { state: { ...access, status, denied_by: input.by, resolved_at: at, updated_at: at }, effects: [] };
    case "complete":
      return { state: { ...access, status, updated_at: at }, effects: [{ kind: "revoke_token" }] };
    case "void_approvals":
      return current === "pending"
        ? {
            state: { ...access, approved_by: access.approved_by.filter((person) => person !== input.by), updated_at: at },
            effects: [],
          }
        : { state: access, effects: [] };
    case "expire":
      return {
        state: { ...access, status, resolved_at: access.resolved_at ?? at, updated_at: at },
        effects: access.status === "approved" ? [{ kind: "revoke_token" }] : [],
      };
    default:
      return input satisfies never;
  }
}

function notTheRequester(access: EmergencyAccess, by: string): void {
  if (access.requested_by === by) throw refusal("FORBIDDEN", "nobody decides their own request");
}
