import { randomUUID } from "node:crypto";
import {
  type ApprovalDecision,
  type ApprovalRecord,
  decideApproval,
  type OperationRequest,
  requestApproval,
  revokeApproval,
} from "@seneschal/governance";
import type { JsonObject } from "@seneschal/kernel";
import type { DocumentStore, Stored } from "@seneschal/kernel/ports";
import { holderOf } from "./api-keys.ts";
import { auditOf, type Who } from "./audit/event.ts";
import { lostRace, notFound } from "./fault.ts";

/** Keeps a request for leave. */
export async function keepRequest(
  store: DocumentStore,
  asked: { readonly request: OperationRequest; readonly reason: string; readonly duration_seconds: number },
  by: Who,
): Promise<ApprovalRecord> {
  const approval = requestApproval({ id: randomUUID(), org: by.org, requested_key: by.apiKey ?? "", ...asked }, by.now);
  await write(store, approval, 0, by, "APPROVAL_REQUEST", "leave asked for");
  return approval;
}

/** Keeps what was decided of a request. Throws as {@link decideApproval}. */
export async function keepDecision(
  store: DocumentStore,
  id: string,
  decision: ApprovalDecision,
  by: Who,
): Promise<ApprovalRecord> {
  const stored = await approvalIn(store, id, by.org);
  const before = approvalOf(stored);
  const holders = { decider: await holderOf(store, by.apiKey ?? ""), asker: await holderOf(store, before.requested_key) };
  const approval = decideApproval(before, decision, holders, by.now);
  const [operation, reasoning] = decision.approve
    ? (["APPROVAL_GIVE", `leave given until ${approval.expires_at}`] as const)
    : (["APPROVAL_REJECT", "leave refused"] as const);
  await write(store, approval, stored.version, by, operation, reasoning);
  return approval;
}

/** Keeps that a leave is taken back. */
export async function keepRevocation(store: DocumentStore, id: string, by: Who): Promise<void> {
  const stored = await approvalIn(store, id, by.org);
  await write(store, revokeApproval(approvalOf(stored), by.now), stored.version, by, "APPROVAL_REVOKE", "leave taken back");
}

/** An approval of the organisation. Throws `not_found`. */
export async function approvalIn(store: DocumentStore, id: string, org: string): Promise<Stored> {
  const stored = await store.get("approvals", `${org}|${id}`);
  if (stored === undefined) throw notFound(id);
  return stored;
}

export function approvalOf(stored: Pick<Stored, "doc">): ApprovalRecord {
  return stored.doc as unknown as ApprovalRecord;
}

async function write(
  store: DocumentStore,
  approval: ApprovalRecord,
  ifVersion: number,
  by: Who,
  operation: string,
  reasoning: string,
): Promise<void> {
  const { id, org, request } = approval;
  const result = await store.commit({
    commitId: randomUUID(),
    puts: [{ coll: "approvals", id: `${org}|${id}`, doc: approval as unknown as JsonObject, ifVersion }],
    audit: [auditOf(by, { operation, resource: `approval/${id}`, resources: request.source_resources, reasoning })],
  });
  if (!result.ok) throw lostRace();
}
