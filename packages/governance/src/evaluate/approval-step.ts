import { checkArgument } from "@seneschal/kernel";
import { governanceError } from "../errors.ts";
import { isSameHolder, isSamePerson, type KeyHolder } from "./key-holder.ts";
import type { Approval, OperationRequest } from "./types.ts";

export const approvalStatuses = ["pending", "approved", "rejected", "revoked"] as const;
export type ApprovalStatus = (typeof approvalStatuses)[number];

/** A leave that was asked for, and what became of it. What is over by the clock is not written: it is told from `expires_at`. Times are RFC 3339. */
export interface ApprovalRecord {
  readonly id: string;
  readonly org: string;
  readonly status: ApprovalStatus;
  readonly request: OperationRequest;
  readonly reason: string;
  readonly duration_seconds: number;
  /** The person that it is for and the key that asked. */
  readonly requested_by: string;
  readonly requested_key: string;
  readonly requested_at: string;
  readonly decided_by: string | null;
  readonly decided_at: string | null;
  /** A request waits this long for its decision; a given approval holds this long. */
  readonly expires_at: string;
}

/** How long a request waits for somebody to decide it. */
const WAITING_MS = 7 * 86_400_000;

/** A leave that somebody asks for, which waits a week for a decision. */
export function requestApproval(
  asked: Pick<ApprovalRecord, "id" | "org" | "request" | "reason" | "duration_seconds" | "requested_key">,
  now: number,
): ApprovalRecord {
  checkArgument("asked", asked, "object");
  checkArgument("now", now, "number");
  const { approval_id: _, ...request } = asked.request;
  const { id, org, reason, duration_seconds, requested_key } = asked;
  return {
    id,
    org,
    status: "pending",
    request,
    reason,
    duration_seconds,
    requested_by: request.user_context.user_id,
    requested_key,
    requested_at: instant(now),
    decided_by: null,
    decided_at: null,
    expires_at: instant(now + WAITING_MS),
  };
}

/** What it is at a time: what nobody decided or what was given is over at `expires_at`. */
export function approvalStatus(approval: Pick<ApprovalRecord, "status" | "expires_at">, now: number): ApprovalStatus | "expired" {
  checkArgument("approval", approval, "object");
  checkArgument("now", now, "number");
  const { status, expires_at } = approval;
  return (status === "pending" || status === "approved") && Date.parse(expires_at) <= now ? "expired" : status;
}

/** What is decided, in whose name, and for how long at most. */
export interface ApprovalDecision {
  readonly approve: boolean;
  readonly person: string;
  /** Less than was asked for, if given. */
  readonly durationSeconds?: number | undefined;
}

/**
 * Gives or refuses the leave that was asked for: by somebody else than who asked, with a key that is not from the same hand, and for no longer than
 * was asked. `decider`, `asker`: who holds the key that decides, and the one that asked. Throws `conflict` once it is decided or over,
 * `forbidden` to the one who asked, for another person's key, and where release 0.1 kept nobody for a key.
 *
 * @example
 * ```ts
 * import { decideApproval, requestApproval } from "@seneschal/governance";
 * const request = { user_context: { user_id: "ada", role: "analyst", department: "sales" }, operation_type: "EXPORT", source_resources: ["crm.customers"] };
 * const asked = { id: "p1", org: "acme", request, reason: "audit", duration_seconds: 3600, requested_key: "k1" };
 * const holders = { asker: { id: "k1", person: "ada", issuers: new Set<string>() }, decider: { id: "k2", person: "bob", issuers: new Set<string>() } };
 * const given = decideApproval(requestApproval(asked, 0), { approve: true, person: "bob" }, holders, 1000);
 * console.log(given.status, given.expires_at); // approved 1970-01-01T01:00:01.000Z
 * ```
 */
export function decideApproval(
  approval: ApprovalRecord,
  decision: ApprovalDecision,
  holders: { readonly decider: KeyHolder; readonly asker: KeyHolder },
  now: number,
): ApprovalRecord {
  checkArgument("approval", approval, "object");
  checkArgument("decision", decision, "object");
  checkArgument("holders", holders, "object");
  checkArgument("now", now, "number");
  const status = approvalStatus(approval, now);
  if (status !== "pending") throw governanceError("conflict", `the approval is ${status}`);
  const { decider, asker } = holders;
  const { approve, person, durationSeconds } = decision;
  if (decider.person !== undefined && decider.person !== person)
    throw governanceError("forbidden", "the API key was made for another person");
  const unrecorded = decider.unrecorded ?? asker.unrecorded;
  if (unrecorded !== undefined)
    throw governanceError("forbidden", `release 0.1 made the API key ${unrecorded} and did not keep for whom: rotate it first`);
  if (isSameHolder(decider, asker) || isSamePerson(approval.requested_by, person))
    throw governanceError("forbidden", "somebody else than the one who asked decides, with a key that is not from the same hand");
  // The approver may give less time than was asked for, not more.
  const duration_seconds = Math.min(approval.duration_seconds, durationSeconds ?? approval.duration_seconds);
  return {
    ...approval,
    status: approve ? "approved" : "rejected",
    duration_seconds,
    decided_by: person,
    decided_at: instant(now),
    ...(approve && { expires_at: instant(now + duration_seconds * 1000) }),
  };
}

/** Takes a leave, or the request for one, back. Throws `conflict` for one that is over. */
export function revokeApproval(approval: ApprovalRecord, now: number): ApprovalRecord {
  const status = approvalStatus(approval, now);
  if (status !== "pending" && status !== "approved") throw governanceError("conflict", `the approval is ${status}`);
  return { ...approval, status: "revoked" };
}

/** What evaluation sees of a given approval. */
export function givenApproval(approval: ApprovalRecord | undefined): Approval | undefined {
  if (approval?.status !== "approved") return undefined;
  const { id, expires_at, decided_by, request } = approval;
  return { id, expiresAt: Date.parse(expires_at), approvedBy: decided_by ?? "", covers: request };
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}
