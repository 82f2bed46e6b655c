import { AuditTally, type Period } from "@seneschal/core/keys";
import type { DocumentStore, ListOptions } from "@seneschal/kernel/ports";
import type { AuditRecord } from "../ground/index.ts";

/** What a caller may look for in one stream. Times are RFC 3339, both inclusive. */
export interface AuditFilter {
  readonly workspace?: string | undefined;
  readonly event_type?: string | undefined;
  readonly actor?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

interface Plan {
  readonly index: string;
  readonly prefix: readonly string[];
  readonly range: Pick<ListOptions, "from" | "to">;
  /** The conditions that the index does not answer. */
  readonly rest: (record: AuditRecord) => boolean;
  readonly exact: boolean;
}

/** The narrowest index first; what it leaves open is checked record by record. */
function plan(stream: string, filter: AuditFilter): Plan {
  const range = {
    ...(filter.since === undefined ? {} : { from: [filter.since] }),
    ...(filter.until === undefined ? {} : { to: [filter.until] }),
  };
  const wanted = (["workspace", "actor", "event_type"] as const).filter((field) => filter[field] !== undefined);
  const [first, ...others] = wanted;
  const names = { workspace: "by_workspace", actor: "by_actor", event_type: "by_type" } as const;
  return {
    index: first === undefined ? "by_time" : names[first],
    prefix: first === undefined ? [stream] : [stream, filter[first] as string],
    range,
    rest: ({ event }) => others.every((field) => event[field] === filter[field]),
    exact: others.length === 0,
  };
}

const PAGE = 500;

/** Every matching record, page by page, in time order or newest first. Nothing is cut off. */
export async function* scanAudit(
  store: DocumentStore,
  stream: string,
  filter: AuditFilter,
  reverse = false,
): AsyncGenerator<AuditRecord> {
  const { index, prefix, range, rest } = plan(stream, filter);
  let cursor: string | undefined;
  do {
    const page = await store.list("audit", index, prefix, {
      limit: PAGE,
      reverse,
      ...range,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const { doc } of page.items) {
      const record = doc as unknown as AuditRecord;
      if (rest(record)) yield record;
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
}

/** One page, newest first, and how many match in all. */
export async function pageAudit(
  store: DocumentStore,
  stream: string,
  filter: AuditFilter,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ readonly records: readonly AuditRecord[]; readonly total: number }> {
  const { index, prefix, range, exact } = plan(stream, filter);
  if (exact) {
    const whole = index === "by_time" && range.from === undefined && range.to === undefined;
    const [{ items }, total] = await Promise.all([
      store.list("audit", index, prefix, { limit, offset, reverse: true, ...range }),
      whole ? countOf(store, stream) : store.count("audit", index, prefix, range),
    ]);
    return { records: items.map(({ doc }) => doc as unknown as AuditRecord), total };
  }
  const records: AuditRecord[] = [];
  let total = 0;
  for await (const record of scanAudit(store, stream, filter, true)) {
    if (total >= offset && records.length < limit) records.push(record);
    total += 1;
  }
  return { records, total };
}

/** How many records of a stream are in the store: numbered from 1 without a gap, so that nothing needs counting, unless the first ones are archived. */
async function countOf(store: DocumentStore, stream: string): Promise<number> {
  const { items } = await store.list("audit", "stream", [stream], { limit: 1 });
  const first = (items[0]?.doc as unknown as AuditRecord | undefined)?.stream_seq ?? 1;
  return first === 1 ? lengthOf(store, stream) : store.count("audit", "stream", [stream]);
}

/** The number of the newest record of a stream. */
export async function lengthOf(store: DocumentStore, stream: string): Promise<number> {
  const { items } = await store.list("audit", "stream", [stream], { limit: 1, reverse: true });
  return (items[0]?.doc as unknown as AuditRecord | undefined)?.stream_seq ?? 0;
}

/**
 * What happened in a period, counted over a whole stream up to its event `size`. One pass, one page in memory: of any number of
 * events and actors.
 */
export async function auditFigures(
  store: DocumentStore,
  stream: string,
  period: Period,
  size = Number.MAX_SAFE_INTEGER,
  tally = new AuditTally(),
) {
  for await (const { event, stream_seq } of scanAudit(store, stream, period)) if (stream_seq <= size) tally.count(event);
  return { ...tally.figures(), unique_actors: tally.actors ?? (await countActors(store, stream, period, size)) };
}

/** From actor to actor along the index, which sorts by actor and time. */
async function countActors(store: DocumentStore, stream: string, period: Period, size: number): Promise<number> {
  let count = 0;
  let after: readonly [actor: string, beyond: string] | undefined;
  for (;;) {
    const { items } = await store.list("audit", "by_actor", [stream], { limit: 1, ...(after && { from: after }) });
    const actor = (items[0]?.doc as AuditRecord | undefined)?.event.actor;
    if (actor === undefined) return count;
    for await (const { stream_seq } of scanAudit(store, stream, { ...period, actor })) {
      if (stream_seq > size) continue;
      count += 1;
      break;
    }
    // No time sorts behind "~".
    after = [actor, "~"];
  }
}
