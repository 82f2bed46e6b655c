import { checkOptions } from "@seneschal/kernel";
import type { Migratable, MigratedRow } from "@seneschal/kernel/ports";
import type pg from "pg";
import { markText, parseMark } from "../../migration/mark.ts";
import { createLogTables, type PostgresLogOptions } from "../open-postgres-log.ts";
import { type Engine, openMigratable } from "./open-migratable.ts";
import { exists, lastKey, padded, readRows, type SqlTable, writeRows } from "./sql-table.ts";

/** Entries and archived pieces of a log may have 800 KB. */
const logPage = 16;

/** The log of a name, to be moved. Throws as `openPostgresLog` does. */
export async function openPostgresLogMigratable(options: PostgresLogOptions): Promise<Migratable> {
  checkOptions("options", options, {
    name: "string",
    url: "string",
    namespace: "string?",
    poolSize: "number?",
    timeoutMs: "number?",
  });
  return openMigratable(options, (namespace) => logEngine(namespace, `${namespace}.log_${options.name}`));
}

function logEngine(namespace: string, table: string): Engine {
  const bytesRow = ([seq, bytes]: readonly unknown[]): MigratedRow => ({
    key: padded(seq),
    value: (bytes as Buffer).toString("base64"),
  });
  const bytesValues = ({ key, value }: MigratedRow): readonly unknown[] => [Number(key), Buffer.from(String(value), "base64")];
  const tables: Readonly<Record<string, SqlTable>> = {
    entries: {
      table,
      columns: [
        ["seq", "bigint"],
        ["entry", "text"],
      ],
      row: ([seq, entry]) => ({ key: padded(seq), value: String(entry) }),
      values: ({ key, value }) => [Number(key), value],
    },
    snapshots: {
      table: `${table}_snapshots`,
      columns: [
        ["seq", "bigint"],
        ["bytes", "bytea"],
      ],
      row: bytesRow,
      values: bytesValues,
      newest: true,
    },
    archive: {
      table: `${table}_archive`,
      columns: [
        ["piece", "bigint"],
        ["bytes", "bytea"],
      ],
      row: bytesRow,
      values: bytesValues,
    },
  };
  const headRow = async (client: pg.PoolClient) =>
    (await client.query<{ seq: string; batch_id: string }>(`select seq, batch_id from ${table}_head for update`)).rows[0];
  const tableNamed = (name: string): SqlTable => tables[name] as SqlTable;
  return {
    what: "log",
    names: Object.keys(tables),
    async state(client) {
      if (!(await exists(client, `${table}_head`))) return { state: "empty" };
      const row = await headRow(client);
      const mark = parseMark(row?.batch_id ?? "");
      if (mark !== undefined) return { state: mark.state, move: mark.move };
      return { state: Number(row?.seq) === 0 ? "empty" : "serving" };
    },
    async mark(client, mark) {
      const batchId = (await headRow(client))?.batch_id ?? "";
      const head = parseMark(batchId)?.head ?? batchId;
      // No append expects it; and whoever reads it as a head, as the release before does, is refused by the database itself.
      await client.query(`alter table ${table}_head drop constraint if exists migration_fence`);
      await client.query(`update ${table}_head set batch_id = $1`, [mark === undefined ? head : markText({ ...mark, head })]);
      if (mark !== undefined)
        await client.query(`alter table ${table}_head add constraint migration_fence check (false) not valid`);
    },
    create: (client) => createLogTables(client, namespace, table),
    drop: (client) => client.query(`drop table if exists ${table}, ${table}_head, ${table}_snapshots, ${table}_archive`),
    async head(client) {
      const row = await headRow(client);
      const batchId = row?.batch_id ?? "";
      return { seq: Number(row?.seq), batchId: parseMark(batchId)?.head ?? batchId };
    },
    setHead: (client, { seq, batchId }) =>
      client.query(
        `update ${table}_head set seq = $1, batch_id = $2, first = coalesce((select min(seq) from ${table}), $1::bigint + 1)`,
        [seq, batchId],
      ),
    read: (client, name, after, limit) =>
      readRows(client, tableNamed(name), after === undefined ? -1 : Number(after), Math.min(limit, logPage)),
    write: (client, name, rows) => writeRows(client, tableNamed(name), rows),
    last: (client, name) => lastKey(client, tableNamed(name)),
  };
}
