import type { Handlers, Payload, Principal } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import {
  activityColumns,
  activityOf,
  exportText,
  invalidField,
  notFound,
  refusal,
  seesActivityOf,
  timestamp,
} from "@seneschal/core/keys";
import type { LogClaim } from "@seneschal/crypto/merkle";
import { archivedHeader, archivedIn } from "../../platform/audit-log/index.ts";
import { type AuditRecord, auditLeaf, type GroundServices, ownOrganization } from "../ground/index.ts";
import { cosignedCheckpoints, type PartnerServices } from "../partners/index.ts";
import { type AuditFilter, auditFigures, pageAudit, scanAudit } from "./audit-query.ts";

const CHUNK = 64 * 1024;

/** Gathers text into chunks of bytes, so that a million rows are not a million writes. */
export async function* chunks(parts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  let text = "";
  for await (const part of parts) {
    text += part;
    if (text.length < CHUNK) continue;
    yield new Uint8Array(Buffer.from(text));
    text = "";
  }
  if (text !== "") yield new Uint8Array(Buffer.from(text));
}

/** A streamed attachment `<name>.json` or `<name>.csv`. */
function download(
  name: string,
  format: "json" | "csv",
  columns: readonly string[],
  rows: AsyncIterable<Readonly<Record<string, unknown>>>,
): Payload {
  return {
    filename: `${name}.${format}`,
    mediaType: format === "csv" ? "text/csv; charset=utf-8" : "application/json; charset=utf-8",
    body: chunks(exportText(format, columns, rows)),
  };
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/**
 * Audit records as callers see them. Hashes are computed from what is stored, neighbours are read in runs, not one by one. Field by field, as a spread of a hundred
 * events costs as much as all else here.
 */
async function presentEvents({ store, crypto, audit }: GroundServices, records: readonly AuditRecord[]) {
  const sha256 = (data: Uint8Array): Uint8Array => crypto.hash("sha256", data);
  const hashes = new Map<string, string>();
  for (const record of records) hashes.set(`${record.stream_seq} ${record.stream}`, hex(auditLeaf(record, sha256)));
  const missing = records.filter(({ stream, stream_seq }) => stream_seq > 1 && !hashes.has(`${stream_seq - 1} ${stream}`));
  for (const [first, last, stream] of runs(missing)) {
    const { items } = await store.list("audit", "stream", [stream], { from: [first], to: [last], limit: 1000 });
    for (const { doc } of items) {
      const before = doc as unknown as AuditRecord;
      hashes.set(`${before.stream_seq} ${stream}`, hex(auditLeaf(before, sha256)));
    }
  }
  for (const { stream, stream_seq } of missing) {
    const before = `${stream_seq - 1} ${stream}`;
    if (hashes.has(before) || stream_seq - 1 > ((await audit.archived(stream))?.through ?? 0)) continue;
    const leaf = await audit.leafOf(stream, stream_seq - 1);
    if (leaf !== undefined) hashes.set(before, hex(leaf));
  }
  return records.map(({ event, stream, stream_seq: sequence }) => ({
    id: event.id,
    org_id: event.org_id,
    sequence,
    timestamp: event.timestamp,
    workspace: event.workspace,
    event_type: event.event_type,
    actor: event.actor,
    actor_type: event.actor_type,
    purpose: event.purpose,
    result: event.result,
    data_hash: hashes.get(`${sequence} ${stream}`) ?? "",
    prev_hash: hashes.get(`${sequence - 1} ${stream}`) ?? "",
    metadata: event.metadata,
    request_id: event.request_id,
  }));
}

/** Sequences of predecessors, gathered into ranges that one read answers: gaps up to 50 are read over. */
function runs(records: readonly AuditRecord[]): readonly (readonly [number, number, string])[] {
  const out: [number, number, string][] = [];
  const wanted = records.map(({ stream, stream_seq }) => ({ stream, at: stream_seq - 1 }));
  wanted.sort((a, b) => (a.stream < b.stream ? -1 : a.stream > b.stream ? 1 : a.at - b.at));
  for (const { stream, at } of wanted) {
    const last = out[out.length - 1];
    if (last !== undefined && last[2] === stream && at - last[1] <= 50 && at - last[0] < 900) last[1] = at;
    else out.push([at, at, stream]);
  }
  return out;
}

type Routes = Pick<
  GatewayContract,
  | "listAudit"
  | "auditStats"
  | "getAuditEvent"
  | "exportAudit"
  | "verifyAudit"
  | "auditCheckpoint"
  | "auditProof"
  | "auditConsistency"
  | "listActivity"
  | "exportActivity"
>;

const DAY = 86_400_000;
const exportColumns = [
  "id",
  "timestamp",
  "org_id",
  "workspace",
  "event_type",
  "actor",
  "result",
  "purpose",
  "data_hash",
] as const;

const sha256 =
  ({ crypto }: PartnerServices) =>
  (data: Uint8Array): Uint8Array =>
    crypto.hash("sha256", data);

const iso = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : timestamp(ms));

async function* presented(services: PartnerServices, stream: string, filter: AuditFilter) {
  let batch: AuditRecord[] = [];
  for await (const record of scanAudit(services.store, stream, filter)) {
    batch.push(record);
    if (batch.length < 200) continue;
    yield* await presentEvents(services, batch);
    batch = [];
  }
  yield* await presentEvents(services, batch);
}

/** What of a log is archived and of a period that begins then, or of all; nothing where it is not, so that it is not told. */
async function archivedOf({ audit }: PartnerServices, stream: string, since?: string) {
  return archivedIn(await audit.archived(stream), since);
}

/** An event of the caller's organisation: no other's is told from one that is not there. */
async function ownRecord({ store }: PartnerServices, { org }: Principal, id: string): Promise<AuditRecord> {
  const { items } = await store.list("audit", "by_id", [id], { limit: 1 });
  const record = items[0]?.doc as unknown as AuditRecord | undefined;
  if (record === undefined || record.stream !== org) throw notFound("audit event");
  return record;
}

/** A size of the log that is signed and has at least so many events. */
function requireSize(field: string, asked: number, [least, signed]: readonly [number, number]): void {
  if (asked < least || asked > signed) throw invalidField(field, `expected a size from ${least} to ${signed}`);
}

/** A proof, which only a whole log has. */
async function proven({ audit }: PartnerServices, org: string, claimOf: (size: number) => LogClaim) {
  const found = await audit.prove(org, claimOf);
  if (found === undefined) throw notFound("checkpoint");
  if (!("flaw" in found)) return found;
  const { flaw, sequence } = found;
  throw refusal("STATE_CONFLICT", "the audit log is not whole: nothing is proven by it", { flaw, sequence });
}

const base64 = (hash: Uint8Array): string => Buffer.from(hash).toString("base64");

export const auditHandlers: Handlers<Routes, PartnerServices> = {
  async listAudit(services, { principal, query }) {
    const { org_id, workspace, event_type, actor, since, until, limit, offset } = query;
    const stream = ownOrganization(principal, org_id);
    const filter = { workspace, event_type, actor, since: iso(since), until: iso(until) };
    const { records, total } = await pageAudit(services.store, stream, filter, { limit, offset });
    return {
      events: await presentEvents(services, records),
      count: records.length,
      total,
      ...(await archivedOf(services, stream, filter.since)),
    };
  },

  async getAuditEvent(services, { principal, params }) {
    const record = await ownRecord(services, principal, params.id);
    const [event] = await presentEvents(services, [record]);
    if (event === undefined) throw notFound("audit event");
    return event;
  },

  async auditStats(services, { principal, query, now }) {
    const since = timestamp(query.since ?? (query.until ?? now) - DAY);
    const until = timestamp(query.until ?? now);
    const figures = await auditFigures(services.store, principal.org, { since, until });
    return {
      ...figures,
      events_by_org: figures.total_events === 0 ? {} : { [principal.org]: figures.total_events },
      since,
      until,
      ...(await archivedOf(services, principal.org, since)),
    };
  },

  async exportAudit(services, { principal, body, now, requestId }) {
    const { org_id, workspace, event_type, actor, since, until, format } = body;
    const stream = ownOrganization(principal, org_id);
    await services.transact({ principal, now, requestId }, async (unit) => {
      unit.record({ type: "audit.export", metadata: { format } });
    });
    const rows = presented(services, stream, { workspace, event_type, actor, since, until });
    const file = download("audit-export", format, exportColumns, rows);
    return { ...file, headers: archivedHeader(await archivedOf(services, stream, since)) };
  },

  async verifyAudit(services, { principal, body }) {
    const finding = await services.audit.verify(principal.org);
    const { flaw = null, sequence = null } = finding ?? {};
    const { since = null, until = null } = body;
    return {
      valid: finding === undefined,
      since,
      until,
      flaw,
      sequence,
      accepted_gaps: [...(await services.audit.gaps(principal.org))],
      ...(await archivedOf(services, principal.org)),
    };
  },

  async auditCheckpoint(services, { principal }) {
    const checkpoint = await services.audit.checkpoint(principal.org);
    if (checkpoint === undefined) throw notFound("checkpoint");
    return { org_id: principal.org, ...checkpoint, witnesses: await cosignedCheckpoints(services.read, principal.org) };
  },

  async auditProof(services, { principal, params, query }) {
    const record = await ownRecord(services, principal, params.id);
    const index = record.stream_seq - 1;
    const leaf = auditLeaf(record, sha256(services));
    let size = 0;
    const { checkpoint, root, proof } = await proven(services, principal.org, (signed) => {
      size = query.size ?? signed;
      requireSize("size", size, [index + 1, signed]);
      return { kind: "inclusion", index, size, leaf };
    });
    const { note, public_key } = checkpoint;
    return {
      org_id: principal.org,
      id: params.id,
      data_hash: Buffer.from(leaf).toString("hex"),
      index,
      size,
      root: base64(root),
      proof: proof.map(base64),
      note,
      public_key,
    };
  },

  async auditConsistency(services, { principal, query: { first, second: asked } }) {
    let second = 0;
    const { checkpoint, root, secondRoot, proof } = await proven(services, principal.org, (signed) => {
      second = asked ?? signed;
      requireSize("second", second, [1, signed]);
      requireSize("first", first, [1, second]);
      return { kind: "consistency", first, second };
    });
    const { note, public_key } = checkpoint;
    const [first_root, second_root] = [base64(root), base64(secondRoot)];
    return { org_id: principal.org, first, second, first_root, second_root, proof: proof.map(base64), note, public_key };
  },

  async listActivity(services, { principal, query }) {
    const actor = seesActivityOf(principal);
    const { limit, offset } = query;
    const filter = { actor, since: iso(query.since), until: iso(query.until) };
    const { records, total } = await pageAudit(services.store, principal.org, filter, { limit, offset });
    return { events: records.map(({ event }) => activityOf(event)), count: records.length, total, actor: principal.id };
  },

  async exportActivity(services, { principal, body }) {
    const { since, until, format } = body;
    const records = scanAudit(services.store, principal.org, { actor: seesActivityOf(principal), since, until });
    async function* rows() {
      for await (const record of records) yield { ...activityOf(record.event) };
    }
    return download("activity-export", format, activityColumns, rows());
  },
};
