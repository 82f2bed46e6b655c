import { CodedError, type Json, type JsonObject } from "@seneschal/kernel";
import type { Migratable, MigratedRow, MigrationState, StoreErrorCode } from "@seneschal/kernel/ports";
import type pg from "pg";
import { checkImport, checkImporting, type Mark, markText, parseMark } from "../migration/mark.ts";
import { createTables, layoutVersion, markedLayout, storeMark, tableOf } from "./bootstrap.ts";
import { checkServer } from "./check-server.ts";
import { connectPostgres, type Database, type PostgresOptions, serviceName } from "./connect.ts";
import { createLogTables, type PostgresLogOptions } from "./open-postgres-log.ts";

/** A page of rows, or dropping all tables, may take so long. */
const timeoutMs = 60_000;
/** Entries and archived pieces of a log may have 800 KB. */
const logPage = 16;
const applicationName = "seneschal migrate";

/** The rows of a table of the database, as of one kind of {@link MigratedRow}. */
interface SqlTable {
  readonly table: string;
  /** Columns that make a row, the key first. */
  readonly columns: readonly (readonly [name: string, type: "bigint" | "text" | "jsonb" | "bytea"])[];
  readonly row: (values: readonly unknown[]) => MigratedRow;
  readonly values: (row: MigratedRow) => readonly unknown[];
  /** Only the row with the greatest key counts. */
  readonly newest?: boolean;
}

const padded = (seq: unknown): string => String(seq).padStart(16, "0");

/** The store of a namespace, to be moved. Throws as `openPostgresStore` does. */
export async function openPostgresStoreMigratable(options: PostgresOptions): Promise<Migratable> {
  const database = connectPostgres({ timeoutMs, ...options }, applicationName);
  const { namespace: ns } = database;
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
    const own = ["layout", "head", "indexes", "commits", "changes", "audit"].map((name) => `${ns}.${name}`);
    await client.query(`drop table if exists ${[...own, ...colls].join(", ")}`);
  };
  return migratableOf(database, {
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
  });
}

/** The log of a name, to be moved. Throws as `openPostgresLog` does. */
export async function openPostgresLogMigratable(options: PostgresLogOptions): Promise<Migratable> {
  const database = connectPostgres({ timeoutMs, ...options }, applicationName);
  const table = `${database.namespace}.log_${options.name}`;
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
  return migratableOf(database, {
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
    create: (client) => createLogTables(client, database.namespace, table),
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
  });
}

interface Engine {
  /** Names the lock that opening takes. */
  readonly what: "store" | "log";
  readonly names: readonly string[];
  state(client: pg.PoolClient): Promise<MigrationState>;
  /** Sets the mark, or takes it away. */
  mark(client: pg.PoolClient, mark: Mark | undefined): Promise<unknown>;
  create(client: pg.PoolClient): Promise<unknown>;
  drop(client: pg.PoolClient): Promise<unknown>;
  head(client: pg.PoolClient): Promise<JsonObject>;
  setHead(client: pg.PoolClient, head: JsonObject): Promise<unknown>;
  read(client: pg.PoolClient, table: string, after: string | undefined, limit: number): Promise<readonly MigratedRow[]>;
  write(client: pg.PoolClient, table: string, rows: readonly MigratedRow[]): Promise<unknown>;
  last(client: pg.PoolClient, table: string): Promise<string | undefined>;
}

/** Each step is one transaction, under the lock that opening takes. */
function migratableOf({ pool, namespace, persist }: Database, engine: Engine): Migratable {
  const within = <T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> =>
    persist(async () => {
      const client = await pool.connect();
      let broken = false;
      try {
        await client.query("begin");
        await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [`seneschal ${engine.what} ${namespace}`]);
        const result = await work(client);
        await client.query("commit");
        return result;
      } catch (error) {
        broken = true;
        throw error;
      } finally {
        client.release(broken);
      }
    }).catch((error: unknown) => {
      if (error instanceof CodedError) throw error;
      const { code: sqlState } = error as { code?: string };
      throw new CodedError<StoreErrorCode>("store_unavailable", "the database did not answer", { sqlState }, error);
    });
  return {
    tables: engine.names,
    state: () =>
      within(async (client) => {
        await checkServer(client);
        return engine.state(client);
      }),
    openedBy: () =>
      within(async (client) => {
        const { rows } = await client.query<{ pid: number; address: string | null }>(
          "select pid, host(client_addr) as address from pg_stat_activity where datname = current_database() and application_name = $1 order by pid",
          [serviceName(namespace)],
        );
        return rows.map(({ pid, address }) => `session ${pid} from ${address ?? "the database's own machine"}`);
      }),
    fence: (move) => within(async (client) => void (await engine.mark(client, { state: "moved", move }))),
    unfence: () => within(async (client) => void (await engine.mark(client, undefined))),
    beginImport: (move) =>
      within(async (client) => {
        checkImport(await engine.state(client));
        await engine.drop(client);
        await engine.create(client);
        await engine.mark(client, { state: "importing", move });
      }),
    read: (table, after, limit) => within((client) => engine.read(client, table, after, limit)),
    write: (move, table, rows) =>
      within(async (client) => {
        checkImporting(await engine.state(client), move);
        await engine.write(client, table, rows);
      }),
    last: (table) => within((client) => engine.last(client, table)),
    head: () => within(engine.head),
    finishImport: (move, head) =>
      within(async (client) => {
        checkImporting(await engine.state(client), move);
        await engine.mark(client, undefined);
        await engine.setHead(client, head);
      }),
    discardImport: () => within(async (client) => void (await engine.drop(client))),
    close: () => pool.end(),
  };
}

async function exists(client: pg.PoolClient, table: string): Promise<boolean> {
  const { rows } = await client.query<{ found: string | null }>("select to_regclass($1) as found", [table]);
  return rows[0]?.found !== null;
}

/** The names of the collections that have a table, in order. */
async function collections(client: pg.PoolClient, ns: string): Promise<string[]> {
  const { rows } = await client.query<{ tablename: string }>(
    `select tablename from pg_tables where schemaname = $1 and tablename like 'd\\_%' order by tablename collate "C"`,
    [ns],
  );
  return rows.map(({ tablename }) => tablename.slice(2));
}

async function readRows(
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

async function writeRows(
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

async function lastKey(client: pg.PoolClient, { table, columns, row }: SqlTable): Promise<string | undefined> {
  const names = columns.map(([name]) => name);
  const { rows } = await client.query<unknown[]>({
    text: `select ${names.join(", ")} from ${table} order by ${names[0]} desc limit 1`,
    rowMode: "array",
  });
  return rows[0] === undefined ? undefined : row(rows[0]).key;
}

function foreign(ns: string): CodedError<StoreErrorCode> {
  return new CodedError("store_misconfigured", `namespace ${ns} holds something else than what is to be moved`);
}
