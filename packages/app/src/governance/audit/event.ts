import { randomUUID } from "node:crypto";
import type { AuditDraft } from "@seneschal/kernel/ports";

/** On whose behalf and when. */
export interface Who {
  readonly org: string;
  readonly user: string;
  readonly now: number;
  readonly requestId?: string;
  readonly apiKey?: string;
}

/** What an audit record says; never a value of data, never the text of a query. */
export interface AuditFacts {
  readonly id?: string;
  readonly operation: string;
  readonly resource: string;
  readonly resources?: readonly string[];
  readonly allowed?: boolean;
  readonly tier?: string;
  readonly tags?: readonly string[];
  readonly reasoning: string;
  readonly policyId?: string;
  readonly policyRevision?: string;
  readonly approvalId?: string;
}

/** The draft of a record in the log of the caller's organisation. */
export function auditOf(who: Who, facts: AuditFacts): AuditDraft {
  const id = facts.id ?? randomUUID();
  return {
    stream: who.org,
    event: {
      id,
      timestamp: new Date(who.now).toISOString(),
      user_id: who.user,
      operation_type: facts.operation,
      resource: facts.resource,
      allowed: facts.allowed ?? true,
      classification: { tier: facts.tier ?? "INTERNAL", tags: [...(facts.tags ?? [])] },
      reasoning: facts.reasoning,
      decision_id: id,
      ...(facts.resources === undefined ? {} : { resources: [...facts.resources] }),
      ...(facts.policyId === undefined ? {} : { policy_id: facts.policyId }),
      ...(facts.policyRevision === undefined ? {} : { policy_revision: facts.policyRevision }),
      ...(facts.approvalId === undefined ? {} : { approval_id: facts.approvalId }),
      ...(who.requestId === undefined ? {} : { request_id: who.requestId }),
      ...(who.apiKey === undefined ? {} : { api_key_id: who.apiKey }),
    },
  };
}
