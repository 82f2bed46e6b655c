import type { Handlers } from "@seneschal/contract";
import type { GovernanceContract } from "@seneschal/contract/governance";
import { type ApprovalRecord, approvalStatus } from "@seneschal/governance";
import { approvalIn, approvalOf, keepDecision, keepRequest, keepRevocation } from "../approvals.ts";
import { operationRequest, wireRequest } from "../operation-request.ts";
import type { GovernanceServices } from "../services.ts";
import { whoOf } from "../who.ts";

type Routes = Pick<GovernanceContract, "requestApproval" | "listApprovals" | "getApproval" | "decideApproval" | "revokeApproval">;

export const approvalHandlers: Handlers<Routes, GovernanceServices> = {
  async requestApproval({ store }, input) {
    const { request, reason, duration_seconds } = input.body;
    const asked = { request: operationRequest(request), reason, duration_seconds };
    return view(await keepRequest(store, asked, whoOf(input, request.user_context.user_id)), input.now);
  },

  async listApprovals({ store }, { principal, query, now }) {
    const [total, page] = await Promise.all([
      store.count("approvals", "by_org", [principal.org]),
      store.list("approvals", "by_org", [principal.org], { limit: query.limit, offset: query.offset, reverse: true }),
    ]);
    return { approvals: page.items.map((item) => view(approvalOf(item), now)), count: page.items.length, total };
  },

  async getApproval({ store }, { params, principal, now }) {
    return view(approvalOf(await approvalIn(store, params.id, principal.org)), now);
  },

  async decideApproval({ store }, input) {
    const { decision, user_id, duration_seconds } = input.body;
    const given = { approve: decision === "approve", person: user_id, durationSeconds: duration_seconds };
    return view(await keepDecision(store, input.params.id, given, whoOf(input, user_id)), input.now);
  },

  async revokeApproval({ store }, input) {
    await keepRevocation(store, input.params.id, whoOf(input));
  },
};

function view(doc: ApprovalRecord, now: number) {
  const { id, request, reason, duration_seconds, requested_by, requested_at, decided_by, decided_at, expires_at } = doc;
  return {
    id,
    reason,
    duration_seconds,
    requested_by,
    requested_at,
    decided_by,
    decided_at,
    expires_at,
    status: approvalStatus(doc, now),
    request: wireRequest(request),
  };
}
