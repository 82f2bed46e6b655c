import { setTimeout as wait } from "node:timers/promises";
import { CodedError, type JsonObject } from "@seneschal/kernel";
import type { Migratable, MigratedRow, MigrationState, StoreErrorCode } from "@seneschal/kernel/ports";
import type pg from "pg";
import { checkFence, checkImport, checkImporting, type Mark } from "../../migration/mark.ts";
import { checkServer } from "../check-server.ts";
import { connectPostgres, type PostgresOptions, serviceName } from "../connect.ts";

/** A page of rows, or dropping all tables, may take so long. */
const timeoutMs = 60_000;

/** What a store and a log do each in its own way, within a transaction. */
export interface Engine {
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
export function openMigratable(options: PostgresOptions, engineOf: (namespace: string) => Engine): Migratable {
  const { pool, namespace, persist } = connectPostgres({ timeoutMs, ...options }, "seneschal migrate");
  const engine = engineOf(namespace);
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
  const sessions = (): Promise<readonly string[]> =>
    within(async (client) => {
      const { rows } = await client.query<{ pid: number; address: string | null }>(
        "select pid, host(client_addr) as address from pg_stat_activity where datname = current_database() and application_name = $1 order by pid",
        [serviceName(namespace)],
      );
      return rows.map(({ pid, address }) => `session ${pid} from ${address ?? "the database's own machine"}`);
    });
  return {
    tables: engine.names,
    state: () =>
      within(async (client) => {
        await checkServer(client);
        return engine.state(client);
      }),
    async openedBy() {
      // The server notices a moment later that a connection was closed: only who stays has it open.
      for (let looks = 1; ; looks += 1) {
        const open = await sessions();
        if (open.length === 0 || looks === 30) return open;
        await wait(100);
      }
    },
    fence: (move) =>
      within(async (client) => {
        checkFence(await engine.state(client), move);
        await engine.mark(client, { state: "moved", move });
      }),
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
    discardImport: (move) =>
      within(async (client) => {
        checkImporting(await engine.state(client), move);
        await engine.drop(client);
      }),
    close: () => pool.end(),
  };
}
