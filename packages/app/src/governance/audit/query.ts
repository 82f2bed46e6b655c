import type { JsonObject } from "@seneschal/kernel";
import type { DocumentStore, IndexValue } from "@seneschal/kernel/ports";
import type { Persons } from "./persons.ts";

export interface AuditFilter {
  readonly user?: string | undefined;
  /** Milliseconds, both inclusive. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly operations?: readonly string[] | undefined;
  readonly allowedOnly: boolean;
}

/** A record as it goes out. */
export interface RecordWire {
  readonly id: string;
  readonly timestamp: string;
  readonly user_id: string;
  readonly operation_type: string;
  readonly resource: string;
  readonly allowed: boolean;
  readonly classification: { readonly tier: string; readonly tags: string[] };
  readonly reasoning: string;
  readonly resources?: string[];
  readonly request_id?: string;
  readonly decision_id?: string;
  readonly policy_revision?: string;
  readonly policy_id?: string;
  readonly approval_id?: string;
  readonly api_key_id?: string;
  readonly log_index: number;
}

const BATCH = 500;

/** Where records are, and who they are about. */
export interface Log {
  readonly store: DocumentStore;
  readonly persons: Persons;
}

/** The log knows persons by their commitments only. */
async function committed(persons: Persons, org: string, filter: AuditFilter): Promise<AuditFilter> {
  return filter.user === undefined ? filter : { ...filter, user: (await persons.find(org, filter.user)) ?? filter.user };
}

/** An item of the audit pseudo-collection as a record; `log_index` counts from 0. */
export function recordOf(doc: JsonObject): RecordWire {
  return { ...(doc["event"] as unknown as Omit<RecordWire, "log_index">), log_index: (doc["stream_seq"] as number) - 1 };
}

function rangeOf(
  org: string,
  filter: AuditFilter,
): { index: string; prefix: readonly IndexValue[]; range: { from?: readonly IndexValue[]; to?: readonly IndexValue[] } } {
  return {
    index: filter.user === undefined ? "by_time" : "by_user",
    prefix: filter.user === undefined ? [org] : [org, filter.user],
    range: {
      ...(filter.from === undefined ? {} : { from: [new Date(filter.from).toISOString()] }),
      ...(filter.to === undefined ? {} : { to: [new Date(filter.to).toISOString()] }),
    },
  };
}

function matches(filter: AuditFilter, event: JsonObject): boolean {
  if (filter.allowedOnly && event["allowed"] !== true) return false;
  const { operations } = filter;
  return (
    operations === undefined || operations.length === 0 || operations.some((o) => o.toUpperCase() === event["operation_type"])
  );
}

/** Records that match, newest first. */
export async function* scanAudit({ store, persons }: Log, org: string, filter: AuditFilter): AsyncGenerator<RecordWire> {
  const { index, prefix, range } = rangeOf(org, await committed(persons, org, filter));
  for (let cursor: string | undefined; ; ) {
    const page = await store.list("audit", index, prefix, {
      ...range,
      limit: BATCH,
      reverse: true,
      ...(cursor === undefined ? {} : { cursor }),
    });
    const found = page.items.filter((item) => matches(filter, item.doc["event"] as JsonObject));
    yield* await persons.named(
      org,
      found.map((item) => recordOf(item.doc)),
    );
    cursor = page.cursor;
    if (cursor === undefined) return;
  }
}

/** One page, and how many match in all. What an index answers alone is not scanned. */
export async function pageAudit(
  log: Log,
  org: string,
  filter: AuditFilter,
  { limit, offset }: { readonly limit: number; readonly offset: number },
) {
  const { store, persons } = log;
  const { index, prefix, range } = rangeOf(org, await committed(persons, org, filter));
  if (!filter.allowedOnly && (filter.operations === undefined || filter.operations.length === 0)) {
    const [total, page] = await Promise.all([
      store.count("audit", index, prefix, range),
      store.list("audit", index, prefix, { ...range, limit, offset, reverse: true }),
    ]);
    return {
      total,
      records: await persons.named(
        org,
        page.items.map((item) => recordOf(item.doc)),
      ),
    };
  }
  const records: RecordWire[] = [];
  let total = 0;
  for await (const record of scanAudit(log, org, filter)) {
    if (total >= offset && records.length < limit) records.push(record);
    total++;
  }
  return { total, records };
}
