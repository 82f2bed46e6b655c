import { auditCollection, type CompiledCollection, collectionOf, indexKeys } from "@seneschal/kernel/store";
import type pg from "pg";
import { columnOf, type IndexColumn, type IndexLayout, idOf, type SharedKey, versionOf } from "./index-columns.ts";
import { keyBytes, readRows, tableOf } from "./rows.ts";

/** An index, by its names. */
export interface NamedIndex {
  readonly coll: string;
  readonly index: string;
}

/** What is true of the rows that an index lacks, of one that is not dated by the ids in `lacking`. */
function isLacked(namespace: string, coll: string, { stem, dated }: IndexColumn): string {
  if (dated) return `v_${stem} is distinct from ${versionOf(coll)}`;
  const id = coll === auditCollection ? "id::bigint" : "id";
  return `${idOf(coll)} in (select ${id} from ${namespace}.lacking where coll = '${coll}' and stem = '${stem}')`;
}

/** SQL that tells whether an index lacks a row: of an index over just those. */
export function lacksRows(layout: IndexLayout, { coll, index }: NamedIndex): string {
  const { namespace } = layout;
  const column = columnOf(layout, coll, index);
  return column.dated
    ? `exists (select 1 from ${tableOf(namespace, coll)} where ${isLacked(namespace, coll, column)})`
    : `exists (select 1 from ${namespace}.lacking where coll = '${coll}' and stem = '${column.stem}')`;
}

/** Adds the columns of a dated index that no row is in yet. */
export async function addLateIndex(client: pg.ClientBase, ns: string, { name: coll }: CompiledCollection, stem: string) {
  const table = tableOf(ns, coll);
  await client.query(`alter table ${table} add column k_${stem} bytea, add column v_${stem} bigint`);
  await client.query(`create index on ${table} (k_${stem})`);
  await client.query(`create index on ${table} (${idOf(coll)}) where ${isLacked(ns, coll, { stem, dated: true })}`);
}

/**
 * Enters the next rows that an index lacks, in the order of their ids, up to a page of them; whoever calls has locked the head row, so that nobody
 * writes. Gives the last one's id where there may be more.
 */
export async function enterRows(
  client: pg.ClientBase,
  layout: IndexLayout,
  { coll, index }: NamedIndex,
  after?: string,
): Promise<string | undefined> {
  const { namespace, schema } = layout;
  const collection = collectionOf(schema, coll);
  const column = columnOf(layout, coll, index);
  const { page, last } = await readRows(client, namespace, collection, { after, where: isLacked(namespace, coll, column) });
  if (page.length > 0) {
    const one = { ...collection, indexes: collection.indexes.filter(({ name }) => name === index) };
    const keys = page.map((row) => indexKeys(one, row.keyId, row.doc)[index]);
    const k = `k_${column.stem} = n.k${column.dated ? `, v_${column.stem} = ${versionOf(coll)}` : ""}`;
    await client.query(
      `update ${tableOf(namespace, coll)} t set ${k}
       from unnest($1::${coll === auditCollection ? "bigint" : "text"}[], $2::bytea[]) as n(id, k) where t.${idOf(coll)} = n.id`,
      [page.map((row) => row.id), page.map((row, at) => keyBytes(keys[at], row.keyId))],
    );
    if (collection.uniques.includes(index))
      for (const ids of await sharedKeys(client, layout, { coll, index }, keys))
        layout.onSharedKey({ collection: coll, index, ids });
  }
  // With the last page also what is said of rows that are gone.
  if (!column.dated)
    await client.query(
      `delete from ${namespace}.lacking where coll = $1 and stem = $2${last === undefined ? "" : " and id = any($3)"}`,
      [coll, column.stem, ...(last === undefined ? [] : [page.map(({ id }) => id)])],
    );
  return last;
}

/** Enters all that these indexes lack, as {@link enterRows}. */
export async function enterAllRows(client: pg.ClientBase, layout: IndexLayout, indexes: Iterable<NamedIndex>): Promise<void> {
  for (const named of indexes)
    for (let after: string | undefined = ""; after !== undefined; ) after = await enterRows(client, layout, named, after);
}

/** Who shares one of these keys of a unique index with another: up to ten for each. */
async function sharedKeys(
  client: pg.ClientBase,
  { namespace, ...layout }: IndexLayout,
  { coll, index }: NamedIndex,
  keys: readonly (string | undefined)[],
): Promise<readonly SharedKey["ids"][]> {
  const { stem } = columnOf(layout, coll, index);
  const found = [...new Set(keys.filter((key) => key !== undefined))];
  const { rows } = await client.query<{ ids: string[] }>(
    `select r.ids from unnest($1::bytea[], $2::bytea[]) as w(low, high)
     join lateral (select array_agg(e.id) as ids from
       (select id from ${tableOf(namespace, coll)} where k_${stem} >= w.low and k_${stem} < w.high order by k_${stem} limit 10) e) r
     on cardinality(r.ids) > 1`,
    [found.map((key) => Buffer.from(`${key}\0`, "latin1")), found.map((key) => Buffer.from(`${key}\x01`, "latin1"))],
  );
  return rows.map(({ ids }) => ids);
}

/** The first who share a key of a unique index in which every row is, if any do. */
export async function firstSharedKey(
  client: pg.ClientBase,
  layout: IndexLayout,
  { coll, index }: NamedIndex,
): Promise<SharedKey["ids"] | undefined> {
  const { stem } = columnOf(layout, coll, index);
  // The column ends with a zero byte and the id.
  const key = `substring(k_${stem} from 1 for length(k_${stem}) - octet_length(id) - 1)`;
  const { rows } = await client.query<{ ids: string[] }>(
    `select (array_agg(id order by id))[1:2] as ids from ${tableOf(layout.namespace, coll)} where k_${stem} is not null
     group by ${key} having count(*) > 1 limit 1`,
  );
  return rows[0]?.ids;
}
