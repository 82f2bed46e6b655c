import { createHash } from "node:crypto";
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
  /** How long a call tries before it gives up, and how long a server may be silent, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number;
}

/** A connected database: a pool whose sessions have time-outs and a durable commit. */
export interface Database {
  readonly pool: pg.Pool;
  readonly namespace: string;
  /** A pipelining connection outside the pool, for LISTEN or a writer, made within `leftMs`. The caller ends it. */
  connect(leftMs?: number): Promise<pg.Client>;
  /**
   * A connection whose statements take as long as they take, such as building an index or waiting for whoever does. The kernel asks after a silent
   * server ({@link connectPostgres}: `keepAlive`), nobody else does. The caller ends it.
   */
  connectPatient(): Promise<pg.Client>;
  /** Repeats work that is safe to repeat until it succeeds, fails for good, or the time is up. `left` tells how many milliseconds it may still take. */
  persist<T>(work: (left: () => number) => Promise<T>): Promise<T>;
  /** The rows of one statement that is safe to repeat, within the time of one call. With a name the server parses its text once per session ({@link statementName}). */
  read<Row extends pg.QueryResultRow>(text: string, values: readonly unknown[], name?: string): Promise<Row[]>;
  /**
   * What `answer` gives, unless that takes longer, as long as a call may take where nothing is said. What was not heard of for half of a call's
   * time is dropped then, and `client`, on which it was asked.
   */
  within<T>(answer: Promise<T>, leftMs?: number, client?: pg.Client): Promise<T>;
}

/** When each connection of this process was last heard of, by the server's URL: what one of them finds out about it concerns all. */
const connections = new Map<string, Map<pg.Client, number>>();

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

/** A server that lives answers every statement, if only that it took too long. */
const isSilence = (error: unknown): boolean => error instanceof Error && error.message === "Query read timeout";

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

/** What a session knows a statement by that it is sent more than once. */
export const statementName = (text: string): string => createHash("md5").update(text).digest("hex");

/** Opens a pool. Nothing is sent before the first call. Throws CodedError `store_misconfigured` for a bad namespace. */
export function connectPostgres(options: PostgresOptions, applicationName?: string): Database {
  const { namespace = "seneschal", poolSize = 10, timeoutMs = 10_000 } = options;
  if (!/^[a-z][a-z0-9_]{0,39}$/.test(namespace))
    throw new CodedError("store_misconfigured", "the namespace must match [a-z][a-z0-9_]{0,39}", { namespace });
  const settings = {
    connectionString: options.url,
    // What a migration tells the processes of a namespace by.
    application_name: applicationName ?? serviceName(namespace),
    // The kernel asks an idle one after this time, each second, and ends it when ten of these get no answer.
    keepAlive: true,
    keepAliveInitialDelayMillis: Math.max(1000, timeoutMs / 2),
    connectionTimeoutMillis: Math.min(5000, timeoutMs),
    query_timeout: timeoutMs,
    // Earlier than we give up: silence means that there is no server.
    statement_timeout: Math.ceil(timeoutMs * 0.8),
    lock_timeout: Math.ceil(timeoutMs / 2),
    idle_in_transaction_session_timeout: timeoutMs,
    // Every lookup has its index: a plan made while a table was small must not scan it for ever after. The cost that this
    // puts on the one-row head table would set off the compiler.
    options: "-c synchronous_commit=on -c enable_seqscan=off -c jit=off",
  };
  const open = connections.get(options.url) ?? new Map<pg.Client, number>();
  connections.set(options.url, open);
  const adopt = (client: pg.Client): void => {
    const heard = (): void => void open.set(client, performance.now());
    heard();
    client.connection.on("readyForQuery", heard);
    client.on("end", () => open.delete(client));
    // A connection that breaks is replaced by the next call. Its query hears of the loss, the client tells it once more: without a
    // listener that would end the process.
    client.on("error", () => {});
  };
  // A question got no answer for as long as a call may take. Whatever was not heard of either for half as long is dropped: who waits behind
  // it goes on elsewhere, and nobody waits for it again.
  const unanswered = (): void => {
    const silent = performance.now() - timeoutMs / 2;
    for (const [client, heard] of open) {
      if (heard > silent) continue;
      // Its pool, and whoever waits behind it, hears of it now: the socket would tell them a moment later, and the next call have it until then.
      client.emit("error", new Error("connection ended: the server is silent"));
      client.connection.stream.destroy();
    }
  };
  const pool = new (postgres().Pool)({ ...settings, max: poolSize });
  pool.on("error", () => {});
  pool.on("connect", adopt);
  pool.on("release", (error) => {
    if (isSilence(error)) unanswered();
  });
  const within: Database["within"] = async (answer, leftMs = timeoutMs, client) => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        unanswered();
        client?.connection.stream.destroy();
        reject(new Error("timeout expired"));
      }, leftMs);
    });
    try {
      return await Promise.race([answer, late]);
    } finally {
      clearTimeout(timer);
    }
  };
  const persist: Database["persist"] = async (work) => {
    const deadline = performance.now() + timeoutMs;
    const left = (): number => Math.max(1, deadline - performance.now());
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await work(left);
      } catch (error) {
        if (isSilence(error)) unanswered();
        if (!isConnectionFailure(error) && !isSerialisationFailure(error)) throw error;
        if (performance.now() >= deadline) throw error;
        await wait(Math.min(200, 5 * 2 ** Math.min(attempt, 6)) * (0.5 + Math.random()));
      }
    }
  };
  return {
    pool,
    namespace,
    connect: async (leftMs = timeoutMs) => {
      const connectionTimeoutMillis = Math.min(settings.connectionTimeoutMillis, Math.ceil(leftMs));
      const client = new (postgres().Client)({ ...settings, connectionTimeoutMillis, pipeline: true });
      adopt(client);
      await client.connect();
      return client;
    },
    connectPatient: async () => {
      const client = new (postgres().Client)({ ...settings, query_timeout: 0, statement_timeout: 0, lock_timeout: 0 });
      client.on("error", () => {});
      await client.connect();
      return client;
    },
    persist,
    within,
    read: <Row extends pg.QueryResultRow>(text: string, values: readonly unknown[], name?: string) =>
      persist(async (left) => (await within(pool.query<Row>({ text, values: [...values], ...(name && { name }) }), left())).rows),
  };
}
