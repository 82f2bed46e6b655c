import { auditCollection, type CompiledCollection, type CompiledSchema, collectionOf, indexKeys } from "@seneschal/kernel/store";
import type pg from "pg";
import { keyBytes, readRows, tableOf } from "./rows.ts";

/**
 * Indexes, by collection, that came to tables which were there. Beside the key `k_<index>` their rows keep `v_<index>`: the version that the key is of. A process that
 * does not know the index writes a row without, and gives it another version: that shows that the row is to be entered before anybody is answered from the
 * index. Never unique ones: of two rows with one key the one that was written without is not to be taken back.
 */
export type LateIndexes = ReadonlyMap<string, ReadonlySet<string>>;

/** What changes with every write of a row; rows of the audit log are written once. */
const versionOf = (coll: string): string => (coll === auditCollection ? "seq" : "version");

/** What is true of the rows that are to be entered. */
const isUnentered = (coll: string, index: string): string => `v_${index} is distinct from ${versionOf(coll)}`;

/** SQL that tells whether a late index lacks a row: of an index over just those. */
export const lacksRows = (namespace: string, coll: string, index: string): string =>
  `exists (select 1 from ${tableOf(namespace, coll)} where ${isUnentered(coll, index)})`;

/** Adds the columns of an index that no row is in yet. Goes on where a start before ended. */
export async function addLateIndex(client: pg.ClientBase, ns: string, { name: coll }: CompiledCollection, index: string) {
  const table = tableOf(ns, coll);
  const { rows } = await client.query(
    "select 1 from pg_attribute where attrelid = $1::regclass and attname = $2 and not attisdropped",
    [table, `v_${index}`],
  );
  if (rows.length > 0) return;
  await client.query(`alter table ${table} add column k_${index} bytea, add column v_${index} bigint`);
  await client.query(`create index on ${table} (k_${index})`);
  await client.query(`create index on ${table} (${coll === auditCollection ? "seq" : "id"}) where ${isUnentered(coll, index)}`);
}

/** The late ones among the declared indexes. */
export async function lateIndexes(client: pg.ClientBase, ns: string, schema: CompiledSchema): Promise<LateIndexes> {
  const { rows } = await client.query<{ table: string; column: string }>(
    `select c.relname as table, a.attname as column from pg_attribute a join pg_class c on c.oid = a.attrelid
     join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relkind = 'r' and a.attname ~ '^v_' and not a.attisdropped`,
    [ns],
  );
  const found = new Set(rows.map(({ table, column }) => `${ns}.${table}.${column}`));
  const late = new Map<string, ReadonlySet<string>>();
  for (const { name, indexes } of [...schema.collections.values(), schema.audit])
    late.set(name, new Set(indexes.map((index) => index.name).filter((index) => found.has(`${tableOf(ns, name)}.v_${index}`))));
  return late;
}

/**
 * Enters the next rows that a late index lacks, in the order of their ids, up to a page of them; whoever calls has locked the head row, so that nobody
 * writes. Gives the last one's id where there may be more.
 */
export async function enterRows(
  client: pg.ClientBase,
  ns: string,
  collection: CompiledCollection,
  index: string,
  after?: string,
): Promise<string | undefined> {
  const { name: coll } = collection;
  const { page, last } = await readRows(client, ns, collection, { after, where: isUnentered(coll, index) });
  if (page.length === 0) return undefined;
  const one = { ...collection, indexes: collection.indexes.filter(({ name }) => name === index) };
  const [id, type] = coll === auditCollection ? ["seq", "bigint"] : ["id", "text"];
  await client.query(
    `update ${tableOf(ns, coll)} t set k_${index} = n.k, v_${index} = ${versionOf(coll)}
     from unnest($1::${type}[], $2::bytea[]) as n(id, k) where t.${id} = n.id`,
    [page.map((row) => row.id), page.map((row) => keyBytes(indexKeys(one, row.keyId, row.doc)[index], row.keyId))],
  );
  return last;
}

/** Enters all that these late indexes lack, as {@link enterRows}. */
export async function enterAllRows(
  client: pg.ClientBase,
  ns: string,
  schema: CompiledSchema,
  indexes: Iterable<{ readonly coll: string; readonly index: string }>,
): Promise<void> {
  for (const { coll, index } of indexes)
    for (let after: string | undefined = ""; after !== undefined; )
      after = await enterRows(client, ns, collectionOf(schema, coll), index, after);
}
