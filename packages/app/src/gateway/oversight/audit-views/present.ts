import { type AuditRecord, auditLeaf, type GroundServices } from "../../ground/index.ts";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/**
 * Audit records as callers see them. Hashes are computed from what is stored, neighbours are read in runs, not one by one. Field by field, as a spread of a hundred
 * events costs as much as all else here.
 */
export async function presentEvents({ store, crypto, audit }: GroundServices, records: readonly AuditRecord[]) {
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
