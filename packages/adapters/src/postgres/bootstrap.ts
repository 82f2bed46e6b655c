import { CodedError } from "@seneschal/kernel";
import type { StoreErrorCode } from "@seneschal/kernel/ports";
import { type CompiledCollection, type CompiledSchema, collectionOf, indexKeys, indexRevisions } from "@seneschal/kernel/store";
import type pg from "pg";
import { type Mark, markedError, parseMark } from "../migration/mark.ts";
import { checkServer } from "./check-server.ts";
import type { Database } from "./connect.ts";
import {
  columnOf,
  dropColumn,
  forgetColumns,
  type IndexColumn,
  type IndexLayout,
  lateStem,
  readStems,
  type SharedKey,
  type Stems,
  unknownStems,
} from "./index-columns.ts";
import { addLateIndex, enterRows, firstSharedKey, type NamedIndex } from "./late-indexes.ts";
import { keyBytes, readRows, tableOf } from "./rows.ts";

/** What the table `layout` says of a store that may be opened, and of one that a migration has marked: its mark is in the table `indexes`, by the name `move`. */
export const layoutVersion = 1;
export const markedLayout = -1;

/** What a process knows of the tables that it writes to. */
export interface Tables {
  /** Of the whole store: another one stops whoever has it open. */
  readonly epoch: number;
  readonly layout: IndexLayout;
}

/** What is told of an index that is built: of a large collection that takes a while, in which the process is not ready. */
export interface IndexBuild {
  readonly collection: string;
  readonly indexes: readonly string[];
}

/** What a start tells of. */
export interface BootstrapOptions {
  readonly onIndexBuild?: (built: IndexBuild) => void;
  readonly onSharedKey?: (shared: SharedKey) => void;
}

/**
 * Creates or checks the tables, and makes the columns of the declared indexes that are not there, under a lock, for as long as that takes. Processes of another
 * schema go on: an index that comes to a collection which was there, or has another definition by now, gets a column of its own ({@link IndexColumn}), and
 * columns that this schema has no use for stay for a while. A process that does not know a collection writes nothing to it.
 *
 * @throws CodedError `store_moved`, `store_incomplete` at a migration's mark; `store_misconfigured` when the server would not keep what it acknowledges or has another layout;
 *   `invalid_schema` when documents share a key of an index that is unique from now on: then nothing has changed.
 */
export async function bootstrap(
  { connectPatient, namespace }: Database,
  schema: CompiledSchema,
  { onIndexBuild = () => undefined, onSharedKey = () => undefined }: BootstrapOptions,
): Promise<Tables> {
  const client = await connectPatient();
  try {
    await checkServer(client);
    const tables = await inTransaction(client, async () => {
      await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [`seneschal store ${namespace}`]);
      await lockHead(client, namespace);
      const before = await tablesOf(client, namespace);
      await createTables(client, namespace, schema.collections.keys());
      const { rows: layouts } = await client.query<{ version: number }>(`select version from ${namespace}.layout`);
      const mark = await storeMark(client, namespace, layouts[0]?.version);
      if (mark !== undefined) throw markedError("store", mark);
      if (layouts[0]?.version !== layoutVersion)
        throw misconfigured(`namespace ${namespace} has layout ${layouts[0]?.version}, this version reads ${layoutVersion}`);
      const layout = {
        namespace,
        schema,
        onSharedKey,
        ...(await buildIndexes(client, namespace, schema, { before, onIndexBuild })),
      };
      const { rows } = await client.query<{ epoch: string }>(`select epoch from ${namespace}.head`);
      return { epoch: Number(rows[0]?.epoch), layout };
    });
    for (const [coll, columns] of tables.layout.columns)
      for (const [index, column] of columns) if (column.dated) await fillIndex(client, tables.layout, { coll, index });
    return tables;
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
    create table if not exists ${ns}.index_columns (name text primary key, unused timestamptz, accepted boolean not null default false);
    create table if not exists ${ns}.lacking (coll text, stem text, id text collate "C", primary key (coll, stem, id));
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

/** Makes the columns that are not there; tells where each index is kept, and what others keep. */
async function buildIndexes(
  client: pg.ClientBase,
  ns: string,
  schema: CompiledSchema,
  { before, onIndexBuild }: { readonly before: ReadonlySet<string>; readonly onIndexBuild: (built: IndexBuild) => void },
): Promise<Pick<IndexLayout, "columns" | "unknown">> {
  const { rows } = await client.query<{ name: string; revision: string }>(`select name, revision from ${ns}.indexes`);
  const complete = new Map(rows.map(({ name, revision }) => [name, revision]));
  const declared = indexRevisions(schema);
  // A store that a migration has written was served by nobody yet.
  const served = complete.has("audit.stream");
  const stems = await readStems(client, ns);
  const columns = new Map<string, ReadonlyMap<string, IndexColumn>>();
  const unknown = new Map<string, readonly string[]>();
  for (const collection of [...schema.collections.values(), schema.audit]) {
    const { name: coll, indexes } = collection;
    const table = tableOf(ns, coll);
    const there = stems.get(table);
    const wasThere = before.has(table);
    const own = new Map<string, IndexColumn>();
    const missing: string[] = [];
    for (const { name } of indexes) {
      const isWhole = complete.get(`${coll}.${name}`) === declared[`${coll}.${name}`];
      const isLate = served && wasThere && !isWhole;
      const stem = isLate ? lateStem(schema, coll, name) : name;
      own.set(name, { stem, dated: isLate || (isWhole && there?.get(stem) === true) });
      if (isLate ? there?.has(stem) !== true : !isWhole) missing.push(name);
    }
    if (missing.length > 0 && wasThere) onIndexBuild({ collection: coll, indexes: missing });
    if (served && wasThere) {
      for (const name of missing) await addLateIndex(client, ns, collection, lateStem(schema, coll, name));
      const foreign = unknownStems(stems, table, own.values());
      await forgetColumns(client, ns, collection, { own: [...own.values()].map(({ stem }) => stem), unknown: foreign });
    } else {
      // Nobody serves it yet: whatever is there is left of an attempt.
      for (const stem of missing.filter((name) => there?.has(name) === true)) await dropColumn(client, ns, coll, stem);
      if (missing.length > 0) await addIndexes(client, ns, collection, missing);
      for (const name of missing)
        await client.query(`insert into ${ns}.indexes values ($1, $2)`, [`${coll}.${name}`, declared[`${coll}.${name}`]]);
    }
    columns.set(coll, own);
  }
  const now = await readStems(client, ns);
  for (const [coll, own] of columns) {
    const table = tableOf(ns, coll);
    const foreign = unknownStems(now, table, own.values()).filter((stem) => now.get(table)?.get(stem) === false);
    unknown.set(coll, foreign);
  }
  await client.query(
    `delete from ${ns}.lacking where coll = any($1) and (coll, stem) not in (select * from unnest($2::text[], $3::text[]))`,
    [...lackable(now, ns, columns.keys())],
  );
  return { columns, unknown };
}

/** Collections, and what may be said of their columns in `lacking`: by collection and stem. */
function lackable(stems: Stems, ns: string, colls: Iterable<string>): readonly (readonly string[])[] {
  const all = [...colls];
  const pairs = all.flatMap((coll) => [...(stems.get(tableOf(ns, coll))?.keys() ?? [])].map((stem) => [coll, stem] as const));
  return [all, pairs.map(([coll]) => coll), pairs.map(([, stem]) => stem)];
}

/**
 * Enters every row in a dated index, page by page: others write in between. Then it has all but what others write who do not know it. One that is to be unique is
 * judged once, with all in it.
 *
 * @throws CodedError `invalid_schema` when documents share a key: its columns are gone then.
 */
async function fillIndex(client: pg.ClientBase, layout: IndexLayout, named: NamedIndex): Promise<void> {
  const { namespace: ns, schema } = layout;
  const { coll, index } = named;
  const { stem } = columnOf(layout, coll, index);
  const unique = collectionOf(schema, coll).uniques.includes(index);
  const name = `${coll}.${stem}`;
  const { rowCount: accepted } = await client.query(`select 1 from ${ns}.index_columns where name = $1 and accepted`, [name]);
  // Shared keys that a start finds are refused, below, or were told of when they came.
  const quiet = unique && accepted === 0 ? { ...layout, onSharedKey: () => undefined } : layout;
  let shared: readonly string[] | undefined;
  for (let after: string | undefined = ""; after !== undefined; ) {
    const from: string = after;
    after = await inTransaction(client, async () => {
      await lockHead(client, ns);
      const last = await enterRows(client, quiet, named, from);
      if (last !== undefined || !unique || accepted !== 0) return last;
      shared = await firstSharedKey(client, layout, named);
      if (shared !== undefined) await dropColumn(client, ns, coll, stem);
      else
        await client.query(
          `insert into ${ns}.index_columns (name, accepted) values ($1, true) on conflict (name) do update set accepted = true`,
          [name],
        );
      return undefined;
    });
  }
  if (shared !== undefined) throw cannotBeUnique(coll, index, shared);
}

function cannotBeUnique(coll: string, index: string, ids: readonly (string | undefined)[]): CodedError<StoreErrorCode> {
  const why = "two documents share a key";
  return new CodedError("invalid_schema", `the index ${coll}.${index} cannot be unique: ${why}`, { coll, index, ids });
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
        if (held.has(key)) throw cannotBeUnique(collection.name, name, [held.get(key), row.id]);
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
