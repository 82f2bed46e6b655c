import { checkArgument } from "@seneschal/kernel";
import { refusal } from "./codes.ts";
import { type Timestamp, timestamp } from "./time.ts";
import { nextStatus, type TransitionTable, to, wrongState } from "./transition.ts";

export const joinRequestStatuses = ["pending", "approved", "denied"] as const;
export type JoinRequestStatus = (typeof joinRequestStatuses)[number];

/** Someone asks to be let in: to a group, or through a group to a workspace. */
export interface JoinRequest {
  readonly id: string;
  readonly org_id: string;
  readonly workspace_id: string | null;
  readonly group_id: string;
  readonly requester_id: string;
  readonly requester_type: string;
  readonly reason: string;
  readonly status: JoinRequestStatus;
  readonly admission_id: string | null;
  readonly reviewed_by: string | null;
  readonly reviewed_at: Timestamp | null;
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
}

const decided = { approve: wrongState, deny: wrongState } as const;

export const joinRequestTable: TransitionTable<JoinRequestStatus, "approve" | "deny"> = {
  pending: { approve: to("approved"), deny: to("denied") },
  approved: decided,
  denied: decided,
};

export interface Asking {
  readonly id: string;
  readonly org: string;
  readonly workspace_id: string | null;
  readonly group_id: string;
  readonly requester_id: string;
  readonly requester_type: string;
  readonly reason: string;
}

/**
 * A pending request.
 *
 * @example
 * ```ts
 * import { ask } from "@seneschal/core/keys";
 * const asking = { id: "r1", org: "acme", workspace_id: "w1", group_id: "g1", requester_id: "bob", requester_type: "user", reason: "" };
 * console.log(ask(asking, 0).status); // pending
 * ```
 */
export function ask(input: Asking, now: number): JoinRequest {
  checkArgument("input", input, "object");
  checkArgument("now", now, "number");
  const at = timestamp(now);
  return {
    id: input.id,
    org_id: input.org,
    workspace_id: input.workspace_id,
    group_id: input.group_id,
    requester_id: input.requester_id,
    requester_type: input.requester_type,
    reason: input.reason,
    status: "pending",
    admission_id: null,
    reviewed_by: null,
    reviewed_at: null,
    created_at: at,
    updated_at: at,
  };
}

/**
 * Approves or denies; never by the requester (`FORBIDDEN`), never twice (`STATE_CONFLICT`).
 *
 * @example
 * ```ts
 * import { ask, decideJoinRequest } from "@seneschal/core/keys";
 * const asking = { id: "r1", org: "acme", workspace_id: "w1", group_id: "g1", requester_id: "bob", requester_type: "user", reason: "" };
 * console.log(decideJoinRequest(ask(asking, 0), { kind: "approve", by: "ada", admission_id: "a1" }, 1).status); // approved
 * ```
 */
export function decideJoinRequest(
  request: JoinRequest,
  decision: { readonly kind: "approve" | "deny"; readonly by: string; readonly admission_id?: string },
  now: number,
): JoinRequest {
  checkArgument("request", request, "object");
  checkArgument("decision", decision, "object");
  checkArgument("now", now, "number");
  const status = nextStatus("request", joinRequestTable, request.status, decision.kind);
  if (decision.by === request.requester_id) throw refusal("FORBIDDEN", "nobody decides their own request");
  const at = timestamp(now);
  return {
    ...request,
    status,
    admission_id: decision.admission_id ?? request.admission_id,
    reviewed_by: decision.by,
    reviewed_at: at,
    updated_at: at,
  };
}
