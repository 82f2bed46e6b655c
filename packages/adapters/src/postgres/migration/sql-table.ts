import type { MigratedRow } from "@seneschal/kernel/ports";
import type pg from "pg";

/** The rows of a table of the database, as of one kind of {@link MigratedRow}. */
export interface SqlTable {
  readonly table: string;
  /** Columns that make a row, the key first. */
  readonly columns: readonly (readonly [name: string, type: "bigint" | "text" | "jsonb" | "bytea"])[];
  readonly row: (values: readonly unknown[]) => MigratedRow;
  readonly values: (row: MigratedRow) => readonly unknown[];
  /** Only the row with the greatest key counts. */
  readonly newest?: boolean;
}

/** A sequence as the key of a row. */
export const padded = (seq: unknown): string => String(seq).padStart(16, "0");

/** Whether there is such a table. */
export async function exists(client: pg.PoolClient, table: string): Promise<boolean> {
  const { rows } = await client.query<{ found: string | null }>("select to_regclass($1) as found", [table]);
  return rows[0]?.found !== null;
}

/** Rows behind a key. */
export async function readRows(
  client: pg.PoolClient,
  { table, columns, row, newest = false }: SqlTable,
  after: number | string,
  limit: number,
): Promise<readonly MigratedRow[]> {
  const key = columns[0]?.[0];
  const { rows } = await client.query<unknown[]>({
    text: `select ${columns.map(([name]) => name).join(", ")} from ${table} where ${key} > $1 order by ${key} ${newest ? "desc limit 1" : `limit ${limit}`}`,
    values: [after],
    rowMode: "array",
  });
  return rows.map(row);
}

/** Rows that are there stay. */
export async function writeRows(
  client: pg.PoolClient,
  { table, columns, values }: SqlTable,
  rows: readonly MigratedRow[],
): Promise<void> {
  const written = rows.map(values);
  const names = columns.map(([name]) => name).join(", ");
  const arrays = columns.map(([, type], at) => `$${at + 1}::${type === "jsonb" ? "text" : type}[]`);
  const picked = columns.map(([name, type]) => (type === "jsonb" ? `${name}::jsonb` : name));
  await client.query(
    `insert into ${table} (${names}) select ${picked.join(", ")} from unnest(${arrays.join(", ")}) as n(${names}) on conflict do nothing`,
    columns.map((_, at) => written.map((one) => one[at])),
  );
}

/** The greatest key. */
export async function lastKey(client: pg.PoolClient, { table, columns, row }: SqlTable): Promise<string | undefined> {
  const names = columns.map(([name]) => name);
  const { rows } = await client.query<unknown[]>({
    text: `select ${names.join(", ")} from ${table} order by ${names[0]} desc limit 1`,
    rowMode: "array",
  });
  return rows[0] === undefined ? undefined : row(rows[0]).key;
}
