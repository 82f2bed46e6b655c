import { setTimeout as wait } from "node:timers/promises";
import { CodedError } from "@seneschal/kernel";
import type pg from "pg";
import { backEnd } from "../back-end.ts";

const postgres = backEnd<typeof pg>("pg");

/** How to reach a PostgreSQL database. */
export interface PostgresOptions {
  /** `postgres://user:password@host:port/database?sslmode=verify-full`. Sessions must be kept: no transaction pooling. */
  readonly url: string;
  /** The schema (namespace) to keep everything in. Default `seneschal`. */
  readonly namespace?: string;
  /** Connections for reads. Default 10. */
  readonly poolSize?: number;
  /** How long a call tries before it gives up, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number;
}

/** A connected database: a pool whose sessions have time-outs and a durable commit. */
export interface Database {
  readonly pool: pg.Pool;
  readonly namespace: string;
  /** A pipelining connection outside the pool, for LISTEN or a writer. The caller ends it. */
  connect(): Promise<pg.Client>;
  /**
   * Repeats work that is safe to repeat until it succeeds, fails for good, or the time is up. `lost` is told about each
   * connection failure.
   */
  persist<T>(work: () => Promise<T>): Promise<T>;
}

const serialisation = new Set(["40001", "40P01"]);
const connection = new Set(["57P01", "57P02", "57P03", "53300", "25P03", "ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT"]);

/** Connection lost, refused, ended by an administrator or by recovery: what was sent may or may not have been done. */
export function isConnectionFailure(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  if (typeof code === "string") return code.startsWith("08") || connection.has(code);
  return (
    error instanceof Error &&
    /connection (terminated|ended|error)|timeout (exceeded|expired)|read timeout|client was closed/i.test(error.message)
  );
}

/** The server itself refused, and with that rolled back what the transaction had done. */
export function isAnswer(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) && !isConnectionFailure(error);
}

/** A conflict that PostgreSQL asks to repeat the whole transaction for. */
export function isSerialisationFailure(error: unknown): boolean {
  return serialisation.has(String((error as { code?: unknown }).code));
}

/** How processes that have a namespace open call themselves to the server. */
export const serviceName = (namespace: string): string => `seneschal ${namespace}`;

/** Opens a pool. Nothing is sent before the first call. Throws CodedError `store_misconfigured` for a bad namespace. */
export function connectPostgres(options: PostgresOptions, applicationName?: string): Database {
  const { namespace = "seneschal", poolSize = 10, timeoutMs = 10_000 } = options;
  if (!/^[a-z][a-z0-9_]{0,39}$/.test(namespace))
    throw new CodedError("store_misconfigured", "the namespace must match [a-z][a-z0-9_]{0,39}", { namespace });
  const settings = {
    connectionString: options.url,
    // What a migration tells the processes of a namespace by.
    application_name: applicationName ?? serviceName(namespace),
    keepAlive: true,
    connectionTimeoutMillis: Math.min(5000, timeoutMs),
    query_timeout: timeoutMs,
    statement_timeout: timeoutMs,
    lock_timeout: Math.ceil(timeoutMs / 2),
    idle_in_transaction_session_timeout: timeoutMs,
    // Every lookup has its index: a plan made while a table was small must not scan it for ever after. The cost that this
    // puts on the one-row head table would set off the compiler.
    options: "-c synchronous_commit=on -c enable_seqscan=off -c jit=off",
  };
  const pool = new (postgres().Pool)({ ...settings, max: poolSize });
  // An idle connection that breaks is replaced by the next call; without a listener it would end the process.
  pool.on("error", () => {});
  // The same holds while it is lent out: its query hears of the loss, the client tells it once more.
  pool.on("connect", (client) => void client.on("error", () => {}));
  return {
    pool,
    namespace,
    connect: async () => {
      const client = new (postgres().Client)({ ...settings, pipeline: true });
      client.on("error", () => {});
      await client.connect();
      return client;
    },
    persist: async (work) => {
      const deadline = Date.now() + timeoutMs;
      for (let attempt = 0; ; attempt += 1) {
        try {
          return await work();
        } catch (error) {
          if (!isConnectionFailure(error) && !isSerialisationFailure(error)) throw error;
          if (Date.now() >= deadline) throw error;
          await wait(Math.min(200, 5 * 2 ** Math.min(attempt, 6)) * (0.5 + Math.random()));
        }
      }
    },
  };
}
