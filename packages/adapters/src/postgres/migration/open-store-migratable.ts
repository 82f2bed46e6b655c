import { CodedError, checkOptions, type Json, type JsonObject } from "@seneschal/kernel";
import type { Migratable, MigratedRow, StoreErrorCode } from "@seneschal/kernel/ports";
import type pg from "pg";
import { markText } from "../../migration/mark.ts";
import { createTables, layoutVersion, markedLayout, storeMark } from "../bootstrap.ts";
import type { PostgresOptions } from "../connect.ts";
import { tableOf } from "../rows.ts";
import { type Engine, openMigratable } from "./open-migratable.ts";
import { exists, lastKey, padded, readRows, type SqlTable, writeRows } from "./sql-table.ts";

/** The store of a namespace, to be moved. Throws as `openPostgresStore` does. */
export async function openPostgresStoreMigratable(options: PostgresOptions): Promise<Migratable> {
  checkOptions("options", options, { url: "string", namespace: "string?", poolSize: "number?", timeoutMs: "number?" });
  return openMigratable(options, storeEngine);
}

function storeEngine(ns: string): Engine {
  const documents = (coll: string): SqlTable => ({
    table: tableOf(ns, coll),
    columns: [
      ["id", "text"],
      ["version", "bigint"],
      ["doc", "jsonb"],
    ],
    row: ([id, version, doc]) => ({ key: `${coll}/${id}`, value: [Number(version), doc as Json] }),
    values: ({ key, value }) => {
      const [version, doc] = value as [number, Json];
      return [key.slice(coll.length + 1), version, JSON.stringify(doc)];
    },
  });
  const tables: Readonly<Record<string, SqlTable>> = {
    audit: {
      table: `${ns}.audit`,
      columns: [
        ["seq", "bigint"],
        ["stream", "text"],
        ["stream_seq", "bigint"],
        ["event", "jsonb"],
      ],
      row: ([seq, stream, streamSeq, event]) => ({ key: padded(seq), value: [String(stream), Number(streamSeq), event as Json] }),
      values: ({ key, value }) => {
        const [stream, streamSeq, event] = value as [string, number, Json];
        return [Number(key), stream, streamSeq, JSON.stringify(event)];
      },
    },
    changes: {
      table: `${ns}.changes`,
      columns: [
        ["seq", "bigint"],
        ["coll", "text"],
        ["id", "text"],
        ["version", "bigint"],
      ],
      row: ([seq, coll, id, version]) => ({
        key: padded(seq),
        value: {
          seq: Number(seq),
          coll: String(coll),
          id: String(id),
          ...(version === null ? {} : { version: Number(version) }),
        },
      }),
      values: ({ key, value }) => {
        const { coll, id, version = null } = value as JsonObject;
        return [Number(key), coll, id, version];
      },
    },
    commits: {
      table: `${ns}.commits`,
      columns: [
        ["seq", "bigint"],
        ["id", "text"],
      ],
      row: ([seq, id]) => ({ key: padded(seq), value: String(id) }),
      values: ({ key, value }) => [Number(key), value],
    },
  };
  const drop = async (client: pg.PoolClient): Promise<void> => {
    const colls = (await collections(client, ns)).map((coll) => tableOf(ns, coll));
    const own = ["layout", "head", "indexes", "index_columns", "lacking", "commits", "changes", "audit"].map(
      (name) => `${ns}.${name}`,
    );
    await client.query(`drop table if exists ${[...own, ...colls].join(", ")}`);
  };
  return {
    what: "store",
    names: ["documents", ...Object.keys(tables)],
    async state(client) {
      if (!(await exists(client, `${ns}.layout`))) {
        const found = [...(await collections(client, ns)), ...((await exists(client, `${ns}.audit`)) ? ["audit"] : [])];
        if (found.length > 0) throw foreign(ns);
        return { state: "empty" };
      }
      const layout = await client.query<{ version: number }>(`select version from ${ns}.layout`);
      const mark = await storeMark(client, ns, layout.rows[0]?.version);
      if (mark !== undefined) return { state: mark.state, move: mark.move };
      if (layout.rows[0]?.version !== layoutVersion) throw foreign(ns);
      const head = await client.query<{ commit: string }>(`select commit from ${ns}.head`);
      return { state: Number(head.rows[0]?.commit) === 0 ? "empty" : "serving" };
    },
    async mark(client, mark) {
      await client.query(`select 1 from ${ns}.head for update`);
      // Processes that have it open write no more: see `bootstrap`.
      await client.query(`update ${ns}.head set epoch = epoch + 1`);
      await client.query(`update ${ns}.layout set version = $1`, [mark === undefined ? layoutVersion : markedLayout]);
      await client.query(`delete from ${ns}.indexes where name = 'move'`);
      if (mark !== undefined) await client.query(`insert into ${ns}.indexes values ('move', $1)`, [markText(mark)]);
    },
    create: (client) => createTables(client, ns, []),
    drop,
    async head(client) {
      const { rows } = await client.query<Record<"commit" | "change" | "audit", string>>(
        `select commit, change, audit from ${ns}.head`,
      );
      return { commit: Number(rows[0]?.commit), change: Number(rows[0]?.change), audit: Number(rows[0]?.audit) };
    },
    setHead: (client, { commit, change, audit }) =>
      client.query(`update ${ns}.head set commit = $1, change = $2, audit = $3`, [commit, change, audit]),
    async read(client, name, after, limit) {
      const one = tables[name];
      if (one !== undefined) return readRows(client, one, after === undefined ? 0 : Number(after), limit);
      const found: MigratedRow[] = [];
      const [from, id] =
        after === undefined ? ["", ""] : [after.slice(0, after.indexOf("/")), after.slice(after.indexOf("/") + 1)];
      for (const coll of await collections(client, ns)) {
        if (coll < from || found.length >= limit) continue;
        found.push(...(await readRows(client, documents(coll), coll === from ? id : "", limit - found.length)));
      }
      return found;
    },
    async write(client, name, rows) {
      const one = tables[name];
      if (one !== undefined) return writeRows(client, one, rows);
      const byColl = new Map<string, MigratedRow[]>();
      for (const row of rows) {
        const coll = row.key.slice(0, row.key.indexOf("/"));
        byColl.set(coll, [...(byColl.get(coll) ?? []), row]);
      }
      await createTables(client, ns, byColl.keys());
      for (const [coll, own] of byColl) await writeRows(client, documents(coll), own);
    },
    async last(client, name) {
      const one = tables[name];
      if (one !== undefined) return lastKey(client, one);
      for (const coll of (await collections(client, ns)).reverse()) {
        const key = await lastKey(client, documents(coll));
        if (key !== undefined) return key;
      }
      return undefined;
    },
  };
}

/** The names of the collections that have a table, in order. */
async function collections(client: pg.PoolClient, ns: string): Promise<string[]> {
  const { rows } = await client.query<{ tablename: string }>(
    `select tablename from pg_tables where schemaname = $1 and tablename like 'd\\_%' order by tablename collate "C"`,
    [ns],
  );
  return rows.map(({ tablename }) => tablename.slice(2));
}

function foreign(ns: string): CodedError<StoreErrorCode> {
  return new CodedError("store_misconfigured", `namespace ${ns} holds something else than what is to be moved`);
}
