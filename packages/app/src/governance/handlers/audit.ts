import type { Handlers } from "@seneschal/contract";
import type { GovernanceContract } from "@seneschal/contract/governance";
import type { JsonObject } from "@seneschal/kernel";
import { archivedHeader, archivedIn } from "../../platform/audit-log/index.ts";
import { type AuditFilter, type Log, pageAudit, type RecordWire, recordOf, scanAudit } from "../audit/query.ts";
import { invalid, notFound } from "../fault.ts";
import type { GovernanceServices } from "../services.ts";
import { whoOf } from "../who.ts";

type Routes = Pick<
  GovernanceContract,
  | "queryAudit"
  | "listAudit"
  | "verifyAudit"
  | "auditCheckpoint"
  | "auditProof"
  | "auditConsistency"
  | "erasePerson"
  | "exportDecisionLog"
>;

/** Without a zone a time is UTC. */
const instantOf = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Date.parse(/(?:Z|[+-]\d{2}:?\d{2})$/i.test(text) ? text : `${text}Z`);

/** What of a log is archived, and of a period that begins then. */
async function archivedOf({ audit }: Pick<GovernanceServices, "audit">, org: string, from?: number) {
  return archivedIn(await audit.archived(org), from === undefined ? undefined : new Date(from).toISOString());
}

export const auditHandlers: Handlers<Routes, GovernanceServices> = {
  async queryAudit(log, { principal, body }) {
    const filter: AuditFilter = {
      user: body.user_id,
      from: instantOf(body.start_date),
      to: instantOf(body.end_date),
      operations: body.operation_types,
      allowedOnly: body.allowed_only,
    };
    return { ...(await pageAudit(log, principal.org, filter, body)), ...(await archivedOf(log, principal.org, filter.from)) };
  },

  async listAudit(log, { principal, query }) {
    const filter: AuditFilter = {
      user: query.user_id,
      from: query.start_date,
      to: query.end_date,
      operations: query.operation_type === undefined ? undefined : [query.operation_type],
      allowedOnly: query.allowed_only ?? false,
    };
    return { ...(await pageAudit(log, principal.org, filter, query)), ...(await archivedOf(log, principal.org, filter.from)) };
  },

  async verifyAudit({ audit }, { principal, body }) {
    const own = body.size === undefined || body.root === undefined ? undefined : { size: body.size, root: body.root };
    return {
      ...(await audit.verify(principal.org, own)),
      checked_client_checkpoint: own !== undefined,
      ...(await archivedOf({ audit }, principal.org)),
    };
  },

  async auditCheckpoint({ audit }, { principal, now }) {
    const checkpoint = await audit.checkpoint(principal.org, now);
    if (checkpoint === undefined) throw notFound("checkpoint");
    return {
      size: checkpoint.size,
      root: checkpoint.root,
      checkpoint: checkpoint.note,
      verifier_key: audit.verifierKey,
      timestamp: checkpoint.timestamp,
    };
  },

  async auditProof({ audit, persons, store }, { principal, params }) {
    const { items } = await store.list("audit", "by_id", [params.id], { limit: 1 });
    const doc = items[0]?.doc;
    if (doc === undefined || doc["stream"] !== principal.org) throw notFound(params.id);
    const [record = recordOf(doc)] = await persons.named(principal.org, [recordOf(doc)]);
    const event = doc["event"] as JsonObject;
    const commitment = String(event["user_id"]);
    const salt = await persons.saltOf(principal.org, commitment);
    return {
      record,
      person: { commitment, salt: salt ?? null },
      ...(await audit.proof(principal.org, doc["stream_seq"] as number, event)),
    };
  },

  async auditConsistency({ audit }, { principal, query: { first, second } }) {
    const { size, proven } = await audit.consistency(principal.org, first, second);
    if (proven !== undefined) return proven;
    if (second !== undefined && second > size) throw invalid("second", `expected a size up to ${size}`);
    throw invalid("first", `expected a size up to ${second ?? size}`);
  },

  async erasePerson({ store, persons }, input) {
    await persons.erase(store, input.principal.org, input.params.user_id, whoOf(input));
  },

  async exportDecisionLog({ store, persons, audit, version, policyRevision }, { principal, query }) {
    return {
      filename: "decision-log.ndjson",
      headers: archivedHeader(await archivedOf({ audit }, principal.org, query.start_date)),
      body: decisions(
        { store, persons },
        principal.org,
        { from: query.start_date, to: query.end_date, allowedOnly: false },
        { version, policyRevision },
      ),
    };
  },
};

/** Decisions only, in OPA's decision log shape. */
async function* decisions(
  log: Log,
  org: string,
  filter: AuditFilter,
  labels: { readonly version: string; readonly policyRevision: string },
): AsyncGenerator<Uint8Array> {
  for await (const record of scanAudit(log, org, filter)) {
    if (record.policy_id === undefined) continue;
    yield Buffer.from(`${JSON.stringify(decisionLine(record, labels))}\n`);
  }
}

function decisionLine(record: RecordWire, labels: { readonly version: string; readonly policyRevision: string }) {
  return {
    labels: { app: "seneschal", version: labels.version },
    decision_id: record.decision_id ?? record.id,
    bundles: { governance: { revision: record.policy_revision ?? labels.policyRevision } },
    path: "governance/decision",
    input: {
      operation_type: record.operation_type,
      source_resources: record.resources ?? [record.resource],
      user: { user_id: record.user_id },
      classification: record.classification,
    },
    result: { allowed: record.allowed, policy_id: record.policy_id, reasoning: record.reasoning },
    requested_by: record.api_key_id ?? "anonymous",
    timestamp: record.timestamp,
    req_id: record.request_id,
  };
}
