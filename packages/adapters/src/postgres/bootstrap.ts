import { CodedError } from "@seneschal/kernel";
import type { StoreErrorCode } from "@seneschal/kernel/ports";
import { type CompiledCollection, type CompiledSchema, indexKeys, indexRevisions } from "@seneschal/kernel/store";
import type pg from "pg";
import { type Mark, markedError, parseMark } from "../migration/mark.ts";
import { checkServer } from "./check-server.ts";
import type { Database } from "./connect.ts";
import { addLateIndex, enterRows, type LateIndexes, lateIndexes } from "./late-indexes.ts";
import { keyBytes, readRows, tableOf } from "./rows.ts";

/** What the table `layout` says of a store that may be opened, and of one that a migration has marked: its mark is in the table `indexes`, by the name `move`. */
export const layoutVersion = 1;
export const markedLayout = -1;

/** What a process knows of the tables that it writes to. */
export interface Tables {
  /** Of the index columns. */
  readonly epoch: number;
  readonly late: LateIndexes;
}

/** What is told of an index that is built: of a large collection that takes a while, in which the process is not ready. */
export interface IndexBuild {
  readonly collection: string;
  readonly indexes: readonly string[];
}

/**
 * Creates or checks the tables, and brings the index columns in line with the declared indexes, under a lock, for as long as that takes. An index that a
 * collection gets which was there is late: whoever does not know it goes on writing ({@link LateIndexes}). Any other change of the indexes of a collection that
 * was there raises the epoch of the head row, so that a process that still writes the old keys notices and stops. A process that does not know a collection
 * writes nothing to it.
 *
 * @throws CodedError `store_moved`, `store_incomplete` at a migration's mark; `store_misconfigured` when the server would not keep what it acknowledges or has another layout;
 *   `invalid_schema` when documents share a key of a unique index.
 */
export async function bootstrap(
  { connectPatient, namespace }: Database,
  schema: CompiledSchema,
  onIndexBuild: (built: IndexBuild) => void = () => undefined,
): Promise<Tables> {
  const client = await connectPatient();
  try {
    await checkServer(client);
    const { epoch, unfilled } = await inTransaction(client, async () => {
      await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [`seneschal store ${namespace}`]);
      await lockHead(client, namespace);
      const before = await tablesOf(client, namespace);
      await createTables(client, namespace, schema.collections.keys());
      const { rows: layouts } = await client.query<{ version: number }>(`select version from ${namespace}.layout`);
      const mark = await storeMark(client, namespace, layouts[0]?.version);
      if (mark !== undefined) throw markedError("store", mark);
      if (layouts[0]?.version !== layoutVersion)
        throw misconfigured(`namespace ${namespace} has layout ${layouts[0]?.version}, this version reads ${layoutVersion}`);
      const built = await buildIndexes(client, namespace, schema, { before, onIndexBuild });
      if (built.changed) await client.query(`update ${namespace}.head set epoch = epoch + 1`);
      const { rows } = await client.query<{ epoch: string }>(`select epoch from ${namespace}.head`);
      return { epoch: Number(rows[0]?.epoch), unfilled: built.unfilled };
    });
    for (const index of unfilled) await fillIndex(client, namespace, index);
    return { epoch, late: await lateIndexes(client, namespace, schema) };
  } finally {
    await client.end().catch(() => {});
  }
}

/**
 * The head row first, where there is one, as every writer does: no one writes while tables and columns change. Whoever took locks on
 * tables before it would wait for a writer that waits for them.
 */
async function lockHead(client: pg.ClientBase, ns: string): Promise<void> {
  const { rows } = await client.query<{ head: string | null }>("select to_regclass($1) as head", [`${ns}.head`]);
  if (rows[0]?.head === null) return;
  await client.query(`select 1 from ${ns}.head for update`);
}

/** Creates the tables of a store that are not there, with those of these collections. */
export async function createTables(client: pg.ClientBase, ns: string, colls: Iterable<string>): Promise<void> {
  await client.query(`
    create schema if not exists ${ns};
    create table if not exists ${ns}.layout (version int not null);
    insert into ${ns}.layout select ${layoutVersion} where not exists (select 1 from ${ns}.layout);
    create table if not exists ${ns}.head (
      one boolean primary key default true check (one),
      epoch bigint not null, commit bigint not null, change bigint not null, audit bigint not null
    );
    insert into ${ns}.head values (true, 0, 0, 0, 0) on conflict do nothing;
    create table if not exists ${ns}.indexes (name text primary key, revision text not null);
    create table if not exists ${ns}.commits (id text collate "C" primary key, seq bigint not null);
    create index if not exists commits_seq on ${ns}.commits (seq);
    create table if not exists ${ns}.changes (seq bigint primary key, coll text not null, id text not null, version bigint);
    create table if not exists ${ns}.audit (
      seq bigint primary key, stream text not null, stream_seq bigint not null, event jsonb not null
    );`);
  for (const coll of colls)
    await client.query(
      `create table if not exists ${ns}.d_${coll} (id text collate "C" primary key, version bigint not null, doc jsonb not null)`,
    );
}

async function tablesOf(client: pg.ClientBase, ns: string): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ name: string }>("select tablename as name from pg_tables where schemaname = $1", [ns]);
  return new Set(rows.map(({ name }) => `${ns}.${name}`));
}

/** An index whose columns are there, with its text in the table `indexes` once every row is in it. */
interface UnfilledIndex {
  readonly collection: CompiledCollection;
  readonly name: string;
  readonly revision: string;
}

/** Whether it changed what writers who were there `before` must know, and the late indexes that are to be filled. */
async function buildIndexes(
  client: pg.ClientBase,
  ns: string,
  schema: CompiledSchema,
  { before, onIndexBuild }: { readonly before: ReadonlySet<string>; readonly onIndexBuild: (built: IndexBuild) => void },
): Promise<{ readonly changed: boolean; readonly unfilled: readonly UnfilledIndex[] }> {
  const { rows } = await client.query<{ name: string; revision: string }>(`select name, revision from ${ns}.indexes`);
  const complete = new Map(rows.map(({ name, revision }) => [name, revision]));
  const declared = indexRevisions(schema);
  // A store that a migration has written was served by nobody yet.
  const served = complete.has("audit.stream");
  const unfilled: UnfilledIndex[] = [];
  let changed = false;
  for (const collection of [...schema.collections.values(), schema.audit]) {
    const own = `${collection.name}.`;
    const table = tableOf(ns, collection.name);
    const wasThere = before.has(table);
    const stale = [...complete.keys()].filter((name) => name.startsWith(own) && complete.get(name) !== declared[name]);
    for (const name of stale) {
      const index = name.slice(own.length);
      await client.query(`alter table ${table} drop column k_${index}, drop column if exists v_${index}`);
      await client.query(`delete from ${ns}.indexes where name = $1`, [name]);
    }
    const missing = collection.indexes
      .map(({ name }) => name)
      .filter((name) => complete.get(own + name) !== declared[own + name]);
    if (missing.length > 0 && wasThere) onIndexBuild({ collection: collection.name, indexes: missing });
    const late = missing.filter((name) => served && wasThere && !complete.has(own + name) && !collection.uniques.includes(name));
    for (const name of late) await addLateIndex(client, ns, collection, name);
    unfilled.push(...late.map((name) => ({ collection, name, revision: declared[own + name] ?? "" })));
    const whole = missing.filter((name) => !late.includes(name));
    if (whole.length > 0) await addIndexes(client, ns, collection, whole);
    for (const name of whole) await client.query(`insert into ${ns}.indexes values ($1, $2)`, [own + name, declared[own + name]]);
    changed ||= wasThere && stale.length + whole.length > 0;
  }
  return { changed, unfilled };
}

/** Enters every row in a late index, page by page: others write in between. Then it is complete, but for what others write who do not know it. */
async function fillIndex(client: pg.ClientBase, ns: string, { collection, name, revision }: UnfilledIndex): Promise<void> {
  for (let after: string | undefined = ""; after !== undefined; ) {
    const from: string = after;
    after = await inTransaction(client, async () => {
      await lockHead(client, ns);
      const last = await enterRows(client, ns, collection, name, from);
      if (last === undefined)
        await client.query(`insert into ${ns}.indexes values ($1, $2) on conflict (name) do nothing`, [
          `${collection.name}.${name}`,
          revision,
        ]);
      return last;
    });
  }
}

/** Runs work in a transaction. */
async function inTransaction<R>(client: pg.ClientBase, work: () => Promise<R>): Promise<R> {
  // A role or a database may have settings of its own.
  await client.query("begin; set local statement_timeout = 0; set local lock_timeout = 0");
  try {
    const answer = await work();
    await client.query("commit");
    return answer;
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
}

async function addIndexes(
  client: pg.ClientBase,
  ns: string,
  collection: CompiledCollection,
  names: readonly string[],
): Promise<void> {
  const table = tableOf(ns, collection.name);
  for (const name of names) await client.query(`alter table ${table} add column k_${name} bytea`);
  const holders = new Map(
    names.filter((name) => collection.uniques.includes(name)).map((name) => [name, new Map<string, string>()]),
  );
  const id = collection.name === "audit" ? "seq" : "id";
  for (let after: string | undefined = ""; after !== undefined; ) {
    const { page, last } = await readRows(client, ns, collection, { after });
    after = last;
    if (page.length === 0) break;
    const keys = page.map((row) => indexKeys(collection, row.keyId, row.doc));
    for (const [at, row] of page.entries())
      for (const [name, held] of holders) {
        const key = keys[at]?.[name];
        if (key === undefined) continue;
        if (held.has(key))
          throw new CodedError<StoreErrorCode>(
            "invalid_schema",
            `the index ${collection.name}.${name} cannot be unique: two documents share a key`,
            { coll: collection.name, index: name, ids: [held.get(key), row.id] },
          );
        held.set(key, row.id);
      }
    const columns = names.map((name) => page.map((row, at) => keyBytes(keys[at]?.[name], row.keyId)));
    await client.query(
      `update ${table} t set ${names.map((name) => `k_${name} = n.k_${name}`).join(", ")}
       from unnest($1::${id === "seq" ? "bigint" : "text"}[]${names.map((_, at) => `, $${at + 2}::bytea[]`).join("")})
         as n(id${names.map((name) => `, k_${name}`).join("")})
       where t.${id} = n.id`,
      [page.map((row) => row.id), ...columns],
    );
  }
  for (const name of names) await client.query(`create index on ${table} (k_${name})`);
}

/** The mark of a store, where its layout says that there is one. */
export async function storeMark(client: pg.ClientBase, ns: string, layout: number | undefined): Promise<Mark | undefined> {
  if (layout !== markedLayout) return undefined;
  const { rows } = await client.query<{ revision: string }>(`select revision from ${ns}.indexes where name = 'move'`);
  const mark = parseMark(rows[0]?.revision ?? "");
  if (mark === undefined) throw misconfigured(`namespace ${ns} has a layout that this version does not read`);
  return mark;
}

function misconfigured(message: string): CodedError<StoreErrorCode> {
  return new CodedError("store_misconfigured", message);
}
