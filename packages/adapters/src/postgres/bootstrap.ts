import { CodedError, type JsonObject } from "@seneschal/kernel";
import type { StoreErrorCode } from "@seneschal/kernel/ports";
import {
  auditDocument,
  auditKeyId,
  type CompiledCollection,
  type CompiledSchema,
  currentDocument,
  entryKey,
  indexKeys,
  indexRevisions,
} from "@seneschal/kernel/store";
import type pg from "pg";
import { type Mark, markedError, parseMark } from "../migration/mark.ts";
import { checkServer } from "./check-server.ts";
import type { Database } from "./connect.ts";

/** What the table `layout` says of a store that may be opened, and of one that a migration has marked: its mark is in the table `indexes`, by the name `move`. */
export const layoutVersion = 1;
export const markedLayout = -1;
const buildPage = 1000;

/**
 * Creates or checks the tables, and brings the index columns in line with the declared indexes, in one transaction under
 * a lock. A change of the indexes of a collection that was there raises the epoch of the head row, so that a process that still writes the old
 * keys notices and stops; one that does not know a collection writes nothing to it. Returns the epoch.
 *
 * @throws CodedError `store_moved`, `store_incomplete` at a migration's mark; `store_misconfigured` when the server would not keep what it acknowledges or has another layout;
 *   `invalid_schema` when documents share a key of a unique index.
 */
export async function bootstrap({ pool, namespace }: Database, schema: CompiledSchema): Promise<number> {
  const client = await pool.connect();
  try {
    await checkServer(client);
    await client.query("begin");
    await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [`seneschal store ${namespace}`]);
    await client.query("set local statement_timeout = 0");
    await lockHead(client, namespace);
    const before = await tablesOf(client, namespace);
    await createTables(client, namespace, schema.collections.keys());
    const { rows: layouts } = await client.query<{ version: number }>(`select version from ${namespace}.layout`);
    const mark = await storeMark(client, namespace, layouts[0]?.version);
    if (mark !== undefined) throw markedError("store", mark);
    if (layouts[0]?.version !== layoutVersion)
      throw misconfigured(`namespace ${namespace} has layout ${layouts[0]?.version}, this version reads ${layoutVersion}`);
    const changed = await buildIndexes(client, namespace, schema, before);
    if (changed) await client.query(`update ${namespace}.head set epoch = epoch + 1`);
    const { rows } = await client.query<{ epoch: string }>(`select epoch from ${namespace}.head`);
    await client.query("commit");
    return Number(rows[0]?.epoch);
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  } finally {
    client.release();
  }
}

/**
 * The head row first, where there is one, as every writer does: no one writes while tables and columns change. Whoever took locks on
 * tables before it would wait for a writer that waits for them.
 */
async function lockHead(client: pg.PoolClient, ns: string): Promise<void> {
  const { rows } = await client.query<{ head: string | null }>("select to_regclass($1) as head", [`${ns}.head`]);
  if (rows[0]?.head === null) return;
  await client.query("set local lock_timeout = 0");
  await client.query(`select 1 from ${ns}.head for update`);
}

/** The table of a collection. */
export function tableOf(namespace: string, coll: string): string {
  return coll === "audit" ? `${namespace}.audit` : `${namespace}.d_${coll}`;
}

/** Creates the tables of a store that are not there, with those of these collections. */
export async function createTables(client: pg.PoolClient, ns: string, colls: Iterable<string>): Promise<void> {
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

async function tablesOf(client: pg.PoolClient, ns: string): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ name: string }>("select tablename as name from pg_tables where schemaname = $1", [ns]);
  return new Set(rows.map(({ name }) => `${ns}.${name}`));
}

/** Whether it changed what writers who were there `before` must know. */
async function buildIndexes(
  client: pg.PoolClient,
  ns: string,
  schema: CompiledSchema,
  before: ReadonlySet<string>,
): Promise<boolean> {
  const { rows } = await client.query<{ name: string; revision: string }>(`select name, revision from ${ns}.indexes`);
  const complete = new Map(rows.map(({ name, revision }) => [name, revision]));
  const declared = indexRevisions(schema);
  let changed = false;
  for (const collection of [...schema.collections.values(), schema.audit]) {
    const own = `${collection.name}.`;
    const stale = [...complete.keys()].filter((name) => name.startsWith(own) && complete.get(name) !== declared[name]);
    for (const name of stale) {
      await client.query(`alter table ${tableOf(ns, collection.name)} drop column k_${name.slice(own.length)}`);
      await client.query(`delete from ${ns}.indexes where name = $1`, [name]);
    }
    const missing = collection.indexes
      .map(({ name }) => name)
      .filter((name) => complete.get(own + name) !== declared[own + name]);
    if (missing.length > 0) await addIndexes(client, ns, collection, missing);
    for (const name of missing)
      await client.query(`insert into ${ns}.indexes values ($1, $2)`, [own + name, declared[own + name]]);
    changed ||= stale.length + missing.length > 0 && before.has(tableOf(ns, collection.name));
  }
  return changed;
}

async function addIndexes(
  client: pg.PoolClient,
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
  for (let after: string | undefined; ; ) {
    const page = await readPage(client, table, collection, after);
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
    after = page.at(-1)?.id;
  }
  for (const name of names) await client.query(`create index on ${table} (k_${name})`);
}

interface PageRow {
  readonly id: string;
  readonly keyId: string;
  readonly doc: JsonObject;
}

async function readPage(
  client: pg.PoolClient,
  table: string,
  collection: CompiledCollection,
  after: string | undefined,
): Promise<PageRow[]> {
  if (collection.name === "audit") {
    const { rows } = await client.query<{ seq: string; stream: string; stream_seq: string; event: JsonObject }>(
      `select seq, stream, stream_seq, event from ${table} where seq > $1 order by seq limit ${buildPage}`,
      [after ?? 0],
    );
    return rows.map(({ seq, stream, stream_seq, event }) => ({
      id: seq,
      keyId: auditKeyId(Number(seq)),
      doc: auditDocument(Number(seq), stream, Number(stream_seq), event),
    }));
  }
  const { rows } = await client.query<{ id: string; doc: JsonObject }>(
    `select id, doc from ${table} where id > $1 order by id limit ${buildPage}`,
    [after ?? ""],
  );
  return rows.map(({ id, doc }) => ({ id, keyId: id, doc: currentDocument(collection, id, doc) }));
}

/** The column of an index: values, zero byte, id; null where the document is not in it. */
export function keyBytes(key: string | undefined, id: string): Buffer | null {
  return key === undefined ? null : Buffer.from(entryKey(key, id), "latin1");
}

/** The mark of a store, where its layout says that there is one. */
export async function storeMark(client: pg.PoolClient, ns: string, layout: number | undefined): Promise<Mark | undefined> {
  if (layout !== markedLayout) return undefined;
  const { rows } = await client.query<{ revision: string }>(`select revision from ${ns}.indexes where name = 'move'`);
  const mark = parseMark(rows[0]?.revision ?? "");
  if (mark === undefined) throw misconfigured(`namespace ${ns} has a layout that this version does not read`);
  return mark;
}

function misconfigured(message: string): CodedError<StoreErrorCode> {
  return new CodedError("store_misconfigured", message);
}
