import { randomUUID } from "node:crypto";
import { type Approval, isSameHolder, type OperationRequest } from "@seneschal/governance";
import { CodedError, type JsonObject } from "@seneschal/kernel";
import type { DocumentStore, Stored } from "@seneschal/kernel/ports";
import { holderOf } from "./api-keys.ts";
import { auditOf, type Who } from "./audit/event.ts";
import { lostRace, notFound } from "./fault.ts";

/** An approval as it is kept. What is over by the clock is not written: it is told from `expires_at`. */
export interface ApprovalDoc {
  readonly id: string;
  readonly org: string;
  readonly status: "pending" | "approved" | "rejected" | "revoked";
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

/** Keeps a request for leave. */
export async function requestApproval(
  store: DocumentStore,
  asked: { readonly request: OperationRequest; readonly reason: string; readonly durationSeconds: number },
  by: Who,
): Promise<ApprovalDoc> {
  const { approval_id: _, ...request } = asked.request;
  const doc: ApprovalDoc = {
    id: randomUUID(),
    org: by.org,
    status: "pending",
    request,
    reason: asked.reason,
    duration_seconds: asked.durationSeconds,
    requested_by: request.user_context.user_id,
    requested_key: by.apiKey ?? "",
    requested_at: instant(by.now),
    decided_by: null,
    decided_at: null,
    expires_at: instant(by.now + WAITING_MS),
  };
  await write(store, doc, 0, by, "APPROVAL_REQUEST", "leave asked for");
  return doc;
}

/** Gives or refuses the leave that was asked for. Throws `forbidden` to the one who asked, `conflict` once it is decided or over. */
export async function decideApproval(
  store: DocumentStore,
  id: string,
  decision: { readonly approve: boolean; readonly person: string; readonly durationSeconds: number | undefined },
  by: Who,
): Promise<ApprovalDoc> {
  const stored = await approvalIn(store, id, by.org);
  const before = approvalDoc(stored);
  if (statusAt(before, by.now) !== "pending") throw new CodedError("conflict", `the approval is ${statusAt(before, by.now)}`);
  const decider = await holderOf(store, by.apiKey ?? "");
  if (decider.person !== undefined && decider.person !== decision.person) {
    throw new CodedError("forbidden", "the API key was made for another person");
  }
  const asker = await holderOf(store, before.requested_key);
  const unrecorded = decider.unrecorded ?? asker.unrecorded;
  if (unrecorded !== undefined) {
    throw new CodedError("forbidden", `release 0.1 made the API key ${unrecorded} and did not keep for whom: rotate it first`);
  }
  const asked = isSameHolder(decider, asker);
  if (asked || before.requested_by === decision.person)
    throw new CodedError("forbidden", "somebody else than the one who asked decides, with a key that is not from the same hand");
  // The approver may give less time than was asked for, not more.
  const seconds = Math.min(before.duration_seconds, decision.durationSeconds ?? before.duration_seconds);
  const doc: ApprovalDoc = {
    ...before,
    status: decision.approve ? "approved" : "rejected",
    duration_seconds: seconds,
    decided_by: decision.person,
    decided_at: instant(by.now),
    ...(decision.approve ? { expires_at: instant(by.now + seconds * 1000) } : {}),
  };
  const operation = decision.approve ? "APPROVAL_GIVE" : "APPROVAL_REJECT";
  await write(
    store,
    doc,
    stored.version,
    by,
    operation,
    decision.approve ? `leave given until ${doc.expires_at}` : "leave refused",
  );
  return doc;
}

/** Takes a leave back. */
export async function revokeApproval(store: DocumentStore, id: string, by: Who): Promise<void> {
  const stored = await approvalIn(store, id, by.org);
  const before = approvalDoc(stored);
  const status = statusAt(before, by.now);
  if (status !== "pending" && status !== "approved") throw new CodedError("conflict", `the approval is ${status}`);
  await write(store, { ...before, status: "revoked" }, stored.version, by, "APPROVAL_REVOKE", "leave taken back");
}

/** What it is at a time: what nobody decided or what was given is over at `expires_at`. */
export function statusAt(doc: ApprovalDoc, now: number): ApprovalDoc["status"] | "expired" {
  const ends = doc.status === "pending" || doc.status === "approved";
  return ends && Date.parse(doc.expires_at) <= now ? "expired" : doc.status;
}

/** An approval of the organisation. Throws `not_found`. */
export async function approvalIn(store: DocumentStore, id: string, org: string): Promise<Stored> {
  const stored = await store.get("approvals", `${org}|${id}`);
  if (stored === undefined) throw notFound(id);
  return stored;
}

export function approvalDoc(stored: Pick<Stored, "doc">): ApprovalDoc {
  return stored.doc as unknown as ApprovalDoc;
}

/** What evaluation sees of a given approval. */
export function givenApproval(doc: ApprovalDoc | undefined): Approval | undefined {
  if (doc?.status !== "approved") return undefined;
  return { id: doc.id, expiresAt: Date.parse(doc.expires_at), approvedBy: doc.decided_by ?? "", covers: doc.request };
}

async function write(
  store: DocumentStore,
  doc: ApprovalDoc,
  ifVersion: number,
  by: Who,
  operation: string,
  reasoning: string,
): Promise<void> {
  const result = await store.commit({
    commitId: randomUUID(),
    puts: [{ coll: "approvals", id: `${doc.org}|${doc.id}`, doc: doc as unknown as JsonObject, ifVersion }],
    audit: [auditOf(by, { operation, resource: `approval/${doc.id}`, resources: doc.request.source_resources, reasoning })],
  });
  if (!result.ok) throw lostRace();
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}
