import { createHash } from "node:crypto";
import { auditCollection, type CompiledCollection, type CompiledSchema, indexRevisions } from "@seneschal/kernel/store";
import type pg from "pg";
import { tableOf } from "./rows.ts";

/** Two or more documents with one key of a unique index: a process that does not know the index wrote them. */
export interface SharedKey {
  readonly collection: string;
  readonly index: string;
  readonly ids: readonly string[];
}

/**
 * Where an index is kept: in the column `k_<stem>`, and where it is dated in `v_<stem>`, the version of the row that the key is of. Whoever does not know a dated
 * index writes a row without, and so with another version. Of one that is not dated each process that does not know it, and finds its column, names the rows
 * that it writes in the table `lacking`. Either way who knows the index sees which rows it lacks.
 */
export interface IndexColumn {
  readonly stem: string;
  readonly dated: boolean;
}

/** How the indexes of a schema are kept, in a store that other schemas may have as well. */
export interface IndexLayout {
  readonly namespace: string;
  readonly schema: CompiledSchema;
  /** By collection and index. */
  readonly columns: ReadonlyMap<string, ReadonlyMap<string, IndexColumn>>;
  /** By collection: what is not dated and of another schema alone. */
  readonly unknown: ReadonlyMap<string, readonly string[]>;
  readonly onSharedKey: (shared: SharedKey) => void;
}

/** The column of an index of the schema. */
export function columnOf({ columns }: Pick<IndexLayout, "columns">, coll: string, index: string): IndexColumn {
  return columns.get(coll)?.get(index) ?? { stem: index, dated: false };
}

/**
 * The stem of an index that comes to a table which is there: of this definition alone, so that processes of another one go on with theirs. No index has
 * a name like it.
 */
export function lateStem(schema: CompiledSchema, coll: string, index: string): string {
  const revision = indexRevisions(schema)[`${coll}.${index}`] ?? "";
  return `${index}$${createHash("md5").update(revision).digest("hex").slice(0, 8)}`;
}

/** Whether they are dated, by table and stem. */
export type Stems = ReadonlyMap<string, ReadonlyMap<string, boolean>>;

/** The columns of indexes that there are, of whatever schema. */
export async function readStems(client: pg.ClientBase, ns: string): Promise<Stems> {
  const { rows } = await client.query<{ table: string; stem: string; dated: boolean }>(
    `select c.relname as table, substring(a.attname from 3) as stem,
       exists (select 1 from pg_attribute v where v.attrelid = c.oid and v.attname = 'v_' || substring(a.attname from 3) and not v.attisdropped) as dated
     from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relkind = 'r' and a.attname ~ '^k_' and not a.attisdropped`,
    [ns],
  );
  const stems = new Map<string, Map<string, boolean>>();
  for (const { table, stem, dated } of rows) {
    const of = stems.get(`${ns}.${table}`) ?? new Map<string, boolean>();
    stems.set(`${ns}.${table}`, of.set(stem, dated));
  }
  return stems;
}

/** Stems of a table that none of these indexes has. */
export function unknownStems(stems: Stems, table: string, own: Iterable<IndexColumn>): readonly string[] {
  const known = new Set([...own].map(({ stem }) => stem));
  return [...(stems.get(table)?.keys() ?? [])].filter((stem) => !known.has(stem));
}

/** So long columns are kept that no start has found a use for: processes of the release before read and write them. */
const KEPT = "7 days";

/**
 * Notes which columns of a collection the starting schema has no use for, and drops those of which that has been so for long. Whoever would still write them is
 * refused by the database.
 */
export async function forgetColumns(
  client: pg.ClientBase,
  ns: string,
  { name: coll }: CompiledCollection,
  { own, unknown }: { readonly own: readonly string[]; readonly unknown: readonly string[] },
): Promise<void> {
  const named = (stems: readonly string[]): readonly string[] => stems.map((stem) => `${coll}.${stem}`);
  await client.query(`update ${ns}.index_columns set unused = null where name = any($1) and unused is not null`, [named(own)]);
  if (unknown.length === 0) return;
  await client.query(
    `insert into ${ns}.index_columns (name, unused) select name, now() from unnest($1::text[]) as n(name)
     on conflict (name) do update set unused = coalesce(index_columns.unused, now())`,
    [named(unknown)],
  );
  const { rows } = await client.query<{ name: string }>(
    `delete from ${ns}.index_columns where name = any($1) and unused < now() - interval '${KEPT}' returning name`,
    [named(unknown)],
  );
  for (const { name } of rows) await dropColumn(client, ns, coll, name.slice(coll.length + 1));
}

/** Drops an index's column, with what is known of it. */
export async function dropColumn(client: pg.ClientBase, ns: string, coll: string, stem: string): Promise<void> {
  await client.query(`alter table ${tableOf(ns, coll)} drop column k_${stem}, drop column if exists v_${stem}`);
  await client.query(`delete from ${ns}.indexes where name = $1`, [`${coll}.${stem}`]);
  await client.query(`delete from ${ns}.index_columns where name = $1`, [`${coll}.${stem}`]);
  await client.query(`delete from ${ns}.lacking where coll = $1 and stem = $2`, [coll, stem]);
}

/** What changes with every write of a row; rows of the audit log are written once. */
export const versionOf = (coll: string): string => (coll === auditCollection ? "seq" : "version");

/** What tells rows of a table apart. */
export const idOf = (coll: string): string => (coll === auditCollection ? "seq" : "id");
