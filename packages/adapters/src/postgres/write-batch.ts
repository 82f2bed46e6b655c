import { CodedError } from "@seneschal/kernel";
import type { CommitResult, StoreErrorCode } from "@seneschal/kernel/ports";
import {
  answerText,
  auditCollection,
  auditKeyId,
  type CommitPlan,
  collectionOf,
  commitIdWindow,
  encodeIndexKey,
  type IndexedVersion,
  type IndexKeys,
  type PlanReads,
  type PreparedCommit,
  type PreparedRange,
  planCommits,
  readsOf,
  type StoreHead,
  type StoreView,
  successor,
  utf8,
} from "@seneschal/kernel/store";
import type pg from "pg";
import { statementName } from "./connect.ts";
import { columnOf, type IndexLayout } from "./index-columns.ts";
import { enterAllRows, lacksRows, type NamedIndex } from "./late-indexes.ts";
import { keyBytes, tableOf } from "./rows.ts";

/** What a writer writes to. */
export interface WriteTarget {
  readonly layout: IndexLayout;
  /** Of the store, as this process has opened it. */
  readonly epoch: number;
  readonly channel: string;
}

/**
 * One transaction for a batch of commits: the head row is locked first, so that batches of all processes follow one
 * another, sequences are dense and nothing deadlocks; then everything is read, judged in our code, and written by one
 * statement: two round trips, for which the connection must pipeline. A failed write turns the COMMIT behind it into a
 * rollback. `committing` is called before COMMIT is sent: from then on a lost connection leaves the outcome open.
 * After an error the connection must be dropped, which ends the transaction.
 *
 * @throws CodedError `store_failed` when the store was marked for a migration, or a process of another release has changed its indexes; errors of `pg` otherwise.
 */
export async function writeBatch(
  client: pg.Client,
  target: WriteTarget,
  commits: readonly PreparedCommit[],
  committing: () => void,
): Promise<readonly CommitResult[]> {
  // Both are sent at once; the second one's snapshot is taken when the first has the lock.
  const { layout, epoch } = target;
  const [head, first] = await Promise.all([lockHead(client, layout.namespace, epoch), readView(client, layout, commits)]);
  if (first.lacking.length > 0) await enterAllRows(client, layout, first.lacking);
  const { auditTime, ...view } = first.lacking.length > 0 ? await readView(client, layout, commits) : first;
  const timed = auditTime === undefined ? head : { ...head, auditTime };
  const plan = planCommits(layout.schema, { ...view, head: timed }, commits);
  if (plan.applied.length === 0) {
    // What was entered stays.
    await client.query(first.lacking.length > 0 ? "commit" : "rollback");
    return plan.results;
  }
  committing();
  await Promise.all([writePlan(client, target, plan), client.query("commit")]);
  return plan.results;
}

/** Begins a transaction in which nobody else writes. */
export async function lockHead(client: pg.ClientBase, namespace: string, epoch: number): Promise<StoreHead> {
  const [, locked] = (await client.query(
    `begin; select epoch, commit, change, audit from ${namespace}.head for update`,
  )) as unknown as readonly pg.QueryResult<Record<"epoch" | "commit" | "change" | "audit", string>>[];
  const row = locked?.rows[0];
  checkEpoch(epoch, row);
  return { commit: Number(row.commit), change: Number(row.change), audit: Number(row.audit) };
}

/** Throws `store_failed` where the head row is of another epoch than the one that this process knows. */
export function checkEpoch(epoch: number, head: { readonly epoch: string } | undefined): asserts head {
  if (head === undefined || Number(head.epoch) !== epoch)
    throw new CodedError<StoreErrorCode>(
      "store_failed",
      "another process opened the store with other indexes; open it again with the same schema",
      { epoch, found: Number(head?.epoch) },
    );
}

/** Collects parameters; gives their placeholders. */
class Parameters {
  readonly values: unknown[] = [];

  add(value: unknown, type: string): string {
    this.values.push(value);
    return `$${this.values.length}::${type}`;
  }
}

type Row = readonly (string | number | null)[];

/** What a batch is judged on, as far as the indexes that it asks do not lack rows. */
type View = Omit<StoreView, "head"> & Pick<StoreHead, "auditTime"> & { readonly lacking: readonly NamedIndex[] };

/** Everything the batch is judged on, in one round trip: one column of JSON rows per question. */
async function readView(client: pg.Client, layout: IndexLayout, commits: readonly PreparedCommit[]): Promise<View> {
  const { namespace, schema } = layout;
  const column = (coll: string, index: string): string => `k_${columnOf(layout, coll, index).stem}`;
  const reads = readsOf(schema, commits);
  const parameters = new Parameters();
  const questions: { readonly sql: string; readonly take: (row: Row) => void }[] = [];

  const applied = new Map<string, number>();
  questions.push({
    sql: `select json_agg(json_build_array(id, seq)) from ${namespace}.commits
      where id = any(${parameters.add(reads.commitIds, "text[]")})`,
    take: ([id, seq]) => applied.set(String(id), Number(seq)),
  });

  const documents = new Map<string, IndexedVersion>();
  for (const [coll, wanted] of groupBy(reads.documents, ({ coll }) => coll)) {
    const { uniques } = collectionOf(schema, coll);
    const ids = parameters.add(
      wanted.map(({ id }) => id),
      "text[]",
    );
    questions.push({
      sql: `select json_agg(json_build_array(id, version${uniques.map((index) => `, encode(${column(coll, index)}, 'hex')`).join("")}))
        from ${tableOf(namespace, coll)} where id = any(${ids})`,
      take: ([id, version, ...columns]) => {
        const keys = uniques.flatMap((index, at) => {
          const column = columns[at];
          if (typeof column !== "string") return [];
          // The column ends with a zero byte and the id.
          const bytes = Buffer.from(column, "hex").toString("latin1");
          return [[index, bytes.slice(0, -1 - utf8(String(id)).length)] as const];
        });
        documents.set(`${coll}/${id}`, { version: Number(version), keys: Object.fromEntries(keys) });
      },
    });
  }

  /** For each pair of bounds the last row between them. */
  const lastBetween = (bounds: readonly (readonly [string, string])[], { coll, index }: NamedIndex, wanted: string): string => {
    const key = column(coll, index);
    const [low, high] = [0, 1].map((side) =>
      parameters.add(
        bounds.map((pair) => Buffer.from(pair[side] as string, "latin1")),
        "bytea[]",
      ),
    );
    return `select json_agg(json_build_array(w.at, r.found))
      from unnest(${low}, ${high}) with ordinality as w(low, high, at)
      join lateral (select ${wanted} as found from ${tableOf(namespace, coll)} where ${key} >= w.low and ${key} < w.high
        order by ${key} desc limit 1) r on true`;
  };

  const owners = new Map<string, string>();
  for (const [slot, wanted] of groupBy(reads.owners, ({ coll, index }) => `${coll}/${index}`)) {
    const [coll = "", index = ""] = slot.split("/");
    const bounds = wanted.map(({ key }) => [`${key}\0`, `${key}\x01`] as const);
    questions.push({
      sql: lastBetween(bounds, { coll, index }, "id"),
      take: ([at, id]) => owners.set(`${slot}/${wanted[Number(at) - 1]?.key}`, String(id)),
    });
  }

  const lacking: NamedIndex[] = [];
  for (const named of askedIndexes(layout, reads))
    questions.push({
      sql: `select json_build_array(json_build_array(1)) where ${lacksRows(layout, named)}`,
      take: () => lacking.push(named),
    });
  const answers = new Map<PreparedRange, { id: string; version: number }[] | number>();
  for (const range of reads.ranges) {
    const { coll, index, limit, offset, reverse } = range;
    const key = column(coll, index);
    const { gte, lt } = range.range;
    const bound = (text: string): string => parameters.add(Buffer.from(text, "latin1"), "bytea");
    const entries = `from ${tableOf(namespace, coll)} where ${key} >= ${bound(gte)}${
      lt === undefined ? "" : ` and ${key} < ${bound(lt)}`
    }`;
    if (limit === undefined) {
      questions.push({
        sql: `select json_build_array(json_build_array(count(*))) ${entries}`,
        take: ([count]) => answers.set(range, Number(count)),
      });
      continue;
    }
    const items: { id: string; version: number }[] = [];
    answers.set(range, items);
    const order = `order by ${key} ${reverse ? "desc" : "asc"}`;
    const [most, skip] = [parameters.add(limit, "int"), parameters.add(offset, "int")];
    questions.push({
      sql: `select json_agg(json_build_array(id, version) ${order})
        from (select id, version, ${key} ${entries} ${order} limit ${most} offset ${skip}) e`,
      take: ([id, version]) => items.push({ id: String(id), version: Number(version) }),
    });
  }

  const streams = new Map<string, number>();
  if (reads.streams.length > 0) {
    const keys = reads.streams.map((stream) => encodeIndexKey([stream]));
    const bounds = keys.map((key) => [key, successor(key) as string] as const);
    questions.push({
      sql: lastBetween(bounds, { coll: auditCollection, index: "stream" }, "stream_seq"),
      take: ([at, seq]) => streams.set(reads.streams[Number(at) - 1] as string, Number(seq)),
    });
  }
  let auditTime: string | undefined;
  if (reads.streams.length > 0 && schema.auditTime !== undefined) {
    const member = parameters.add(schema.auditTime, "text");
    questions.push({
      sql: `select json_build_array(json_build_array(event ->> ${member}))
        from (select event from ${tableOf(namespace, auditCollection)} where event ->> ${member} is not null order by seq desc limit 1) e`,
      take: ([time]) => {
        if (typeof time === "string") auditTime = time;
      },
    });
  }

  const { rows } = await prepared(
    client,
    `select ${questions.map(({ sql }, at) => `(${sql}) as c${at}`).join(", ")}`,
    parameters.values,
  );
  for (const [at, { take }] of questions.entries())
    for (const row of (rows[0]?.[`c${at}`] as readonly Row[] | null) ?? []) take(row);
  return {
    lacking,
    ...(auditTime === undefined ? {} : { auditTime }),
    document: (coll, id) => documents.get(`${coll}/${id}`),
    owner: (coll, index, key) => owners.get(`${coll}/${index}/${key}`),
    answer: (range) => answerText(answers.get(range) ?? []),
    streamSeq: (stream) => streams.get(stream) ?? 0,
    applied: (commitId) => applied.get(commitId),
  };
}

/** The indexes that a batch is judged by, but for the stream of the audit log, which every process knows. */
function askedIndexes({ schema }: IndexLayout, { ranges, owners, documents }: PlanReads): Iterable<NamedIndex> {
  const asked = new Map<string, NamedIndex>();
  const ask = ({ coll, index }: NamedIndex): void => void asked.set(`${coll}/${index}`, { coll, index });
  for (const range of ranges) ask(range);
  for (const owner of owners) ask(owner);
  for (const { coll } of documents) for (const index of collectionOf(schema, coll).uniques) ask({ coll, index });
  return asked.values();
}

/** Writes the plan, moves the head and wakes the listeners, in one statement. */
async function writePlan(client: pg.Client, { layout, channel }: WriteTarget, plan: CommitPlan): Promise<void> {
  const { namespace, schema, unknown } = layout;
  const parameters = new Parameters();
  const parts: string[] = [];
  const insert = (
    table: string,
    columns: readonly (readonly [name: string, type: string, values: readonly unknown[]])[],
    rest = "",
  ): void => {
    const names = columns.map(([name]) => name);
    const arrays = columns.map(([, type, values]) => parameters.add(values, `${type === "jsonb" ? "text" : type}[]`));
    const picked = columns.map(([name, type]) => (type === "jsonb" ? `${name}::jsonb` : name));
    parts.push(`insert into ${table} (${names.join(", ")}) select ${picked.join(", ")}
      from unnest(${arrays.join(", ")}) as n(${names.join(", ")}) ${rest}`);
  };

  /** Says that rows are not in the indexes that another schema has. */
  const lack = (coll: string, ids: readonly string[]): void => {
    const stems = unknown.get(coll) ?? [];
    if (stems.length === 0) return;
    parts.push(`insert into ${namespace}.lacking select '${coll}', s.stem, n.id
      from unnest(${parameters.add(stems, "text[]")}) as s(stem), unnest(${parameters.add(ids, "text[]")}) as n(id) on conflict do nothing`);
  };
  /** The columns of a collection's indexes, for rows with their keys and versions. */
  const indexColumns = (
    coll: string,
    rows: readonly { readonly id: string; readonly version: number; readonly keys: IndexKeys }[],
  ): (readonly [name: string, type: string, values: readonly unknown[]])[] =>
    collectionOf(schema, coll).indexes.flatMap(({ name }) => {
      const { stem, dated } = columnOf(layout, coll, name);
      const keys = [`k_${stem}`, "bytea", rows.map((row) => keyBytes(row.keys[name], row.id))] as const;
      return dated ? [keys, [`v_${stem}`, "bigint", rows.map(({ version }) => version)] as const] : [keys];
    });

  for (const [coll, written] of groupBy(plan.documents, ({ coll }) => coll)) {
    const table = tableOf(namespace, coll);
    const deleted = written.filter(({ after }) => after === undefined).map(({ id }) => id);
    if (deleted.length > 0) parts.push(`delete from ${table} where id = any(${parameters.add(deleted, "text[]")})`);
    const kept = written.flatMap(({ id, after }) => (after === undefined ? [] : [{ id, ...after }]));
    if (kept.length === 0) continue;
    const keyed = indexColumns(coll, kept);
    const updates = ["version", "doc", ...keyed.map(([name]) => name)].map((name) => `${name} = excluded.${name}`);
    insert(
      table,
      [
        ["id", "text", kept.map(({ id }) => id)],
        ["version", "bigint", kept.map(({ version }) => version)],
        ["doc", "jsonb", kept.map(({ text }) => text)],
        ...keyed,
      ],
      `on conflict (id) do update set ${updates.join(", ")}`,
    );
    lack(
      coll,
      kept.map(({ id }) => id),
    );
  }
  if (plan.audit.length > 0) {
    insert(tableOf(namespace, auditCollection), [
      ["seq", "bigint", plan.audit.map(({ seq }) => seq)],
      ["stream", "text", plan.audit.map(({ stream }) => stream)],
      ["stream_seq", "bigint", plan.audit.map(({ streamSeq }) => streamSeq)],
      ["event", "jsonb", plan.audit.map(({ text }) => text)],
      ...indexColumns(
        auditCollection,
        plan.audit.map(({ seq, keys }) => ({ id: auditKeyId(seq), version: seq, keys })),
      ),
    ]);
    lack(
      auditCollection,
      plan.audit.map(({ seq }) => String(seq)),
    );
  }
  if (plan.changes.length > 0)
    insert(`${namespace}.changes`, [
      ["seq", "bigint", plan.changes.map(({ seq }) => seq)],
      ["coll", "text", plan.changes.map(({ coll }) => coll)],
      ["id", "text", plan.changes.map(({ id }) => id)],
      ["version", "bigint", plan.changes.map(({ version }) => version ?? null)],
    ]);
  insert(`${namespace}.commits`, [
    ["id", "text", plan.applied.map(({ commitId }) => commitId)],
    ["seq", "bigint", plan.applied.map(({ seq }) => seq)],
  ]);
  parts.push(`delete from ${namespace}.commits where seq <= ${parameters.add(plan.head.commit - commitIdWindow, "bigint")}`);
  const { commit, change, audit } = plan.head;
  parts.push(`update ${namespace}.head set commit = ${parameters.add(commit, "bigint")},
    change = ${parameters.add(change, "bigint")}, audit = ${parameters.add(audit, "bigint")}`);
  await prepared(
    client,
    `with ${parts.map((sql, at) => `w${at} as (${sql})`).join(", ")} select pg_notify('${channel}', '')`,
    parameters.values,
  );
}

/** The same text is parsed once per session. */
function prepared(client: pg.Client, text: string, values: unknown[]): Promise<pg.QueryResult<Record<string, unknown>>> {
  return client.query<Record<string, unknown>>({ name: statementName(text), text, values });
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
