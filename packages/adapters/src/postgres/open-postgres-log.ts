import { CodedError, checkOptions } from "@seneschal/kernel";
import { checkEntry, decodeEntry, encodeEntry } from "@seneschal/kernel/log";
import type { AppendResult, LogEntry, LogErrorCode, LogHead, ReplicatedLog } from "@seneschal/kernel/ports";
import type pg from "pg";
import { InFlight } from "../in-flight.ts";
import { checkPiece, checkRead, checkSnapshotSeq, keptSnapshots, truncated, uncovered } from "../log/check-query.ts";
import { type AttemptError, settleAppend } from "../log/settle-append.ts";
import { markedError, parseMark } from "../migration/mark.ts";
import { checkServer } from "./check-server.ts";
import {
  connectPostgres,
  type Database,
  isAnswer,
  isConnectionFailure,
  isSerialisationFailure,
  type PostgresOptions,
} from "./connect.ts";
import { WakeUp } from "./wake-up.ts";

/** Options of {@link openPostgresLog}. */
export interface PostgresLogOptions extends PostgresOptions {
  /** One state machine, one name: `[a-z][a-z0-9_]*`, at most 30 characters. */
  readonly name: string;
}

const tailPage = 64;
/** Storage exhausted: disk full, out of memory, configuration limit. */
const full = new Set(["53100", "53200", "53400"]);

/** An attempt that found no connection. */
class NotSent extends Error {}

/**
 * A {@link ReplicatedLog} in PostgreSQL, for any number of processes on one database. **No quorum by itself**: one primary
 * decides. To survive its loss without losing acknowledged entries the server needs
 * `synchronous_standby_names = 'ANY k (...)'` and a failover manager.
 *
 * @throws CodedError `log_moved`, `log_incomplete` at a migration's mark; `log_misconfigured`, `no_quorum`.
 */
export async function openPostgresLog(options: PostgresLogOptions): Promise<ReplicatedLog> {
  checkOptions("options", options, {
    name: "string",
    url: "string",
    namespace: "string?",
    poolSize: "number?",
    timeoutMs: "number?",
  });
  if (!/^[a-z][a-z0-9_]{0,29}$/.test(options.name))
    throw new CodedError<LogErrorCode>("log_misconfigured", "the name of a log must match [a-z][a-z0-9_]{0,29}", {
      name: options.name,
    });
  const database = connectPostgres(options);
  const { pool, namespace } = database;
  const totalMs = options.timeoutMs ?? 10_000;
  const table = `${namespace}.log_${options.name}`;
  const channel = `${namespace}_log_${options.name}`;
  try {
    await database.persist(() => createTables(database, table));
  } catch (error) {
    await pool.end();
    throw translated(error);
  }
  const inFlight = new InFlight("log");

  const query = async <Row extends pg.QueryResultRow>(text: string, values: unknown[]): Promise<Row[]> => {
    try {
      return await database.read<Row>(text, values);
    } catch (error) {
      throw translated(error);
    }
  };
  /** Head, start and entries behind `afterSeq`, in one statement and therefore at one instant. */
  const lookText = `select h.seq, h.batch_id, h.first, (select coalesce(json_agg(e.entry order by e.seq), '[]')
    from (select seq, entry from ${table} where seq > $1 order by seq limit $2) e) as entries from ${table}_head h`;
  const lookOf = ([row]: readonly LookRow[]) => {
    const mark = parseMark(row?.batch_id ?? "");
    if (mark !== undefined) throw markedError("log", mark);
    return {
      head: { seq: Number(row?.seq), batchId: row?.batch_id ?? "" } satisfies LogHead,
      first: Number(row?.first),
      entries: (row?.entries ?? []).map(decodeEntry),
    };
  };
  const look = async (afterSeq: number, limit: number) => lookOf(await query<LookRow>(lookText, [afterSeq, limit]));
  const tailOf = ({ first, entries }: { readonly first: number; readonly entries: readonly LogEntry[] }, seq: number) =>
    seq + 1 < first ? [] : entries;

  const appendText = `with moved as (update ${table}_head set seq = $1, batch_id = $2 where seq = $3 and batch_id = $4 returning seq),
    put as (insert into ${table} (seq, entry) select $1, $5 from moved)
    select (select count(*) from moved)::int as moved, (select pg_notify('${channel}', '') from moved)`;
  const wakeUp = new WakeUp(database, channel, async () => (await look(Number.MAX_SAFE_INTEGER, 1)).head.seq);

  return {
    read: (afterSeq, { limit }) =>
      inFlight.run(async () => {
        checkRead(afterSeq, limit);
        const { head, first, entries } = await look(afterSeq, Math.min(limit, tailPage));
        if (afterSeq + 1 < first) throw truncated(afterSeq, first);
        return { head, entries };
      }),
    append: (expectHead, entry) =>
      inFlight.run(() => {
        checkEntry(expectHead, entry);
        const values = [entry.seq, entry.batchId, expectHead.seq, expectHead.batchId, encodeEntry(entry)];
        return settleAppend(expectHead, entry, {
          attempt: async (left): Promise<AppendResult> => {
            const client = await pool.connect().catch((error: unknown) => {
              throw new NotSent("no connection", { cause: error });
            });
            let broken: Error | boolean = false;
            try {
              const ask = async (): Promise<AppendResult> => {
                const { rows } = await client.query<{ moved: number }>({ name: `append ${table}`, text: appendText, values });
                if (rows[0]?.moved === 1) return { ok: true, head: { seq: entry.seq, batchId: entry.batchId } };
                const found = lookOf((await client.query<LookRow>(lookText, [expectHead.seq, tailPage])).rows);
                return { ok: false, head: found.head, tail: tailOf(found, expectHead.seq) };
              };
              return await database.within(ask(), left, client);
            } catch (error) {
              broken = error as Error;
              throw error;
            } finally {
              client.release(broken);
            }
          },
          look: async () => {
            const found = await look(expectHead.seq, tailPage);
            return { head: found.head, tail: tailOf(found, expectHead.seq) };
          },
          classify,
          totalMs,
        });
      }),
    saveSnapshot: (seq, bytes) =>
      inFlight.run(async () => {
        const copy = Buffer.from(bytes);
        checkSnapshotSeq(seq, (await look(seq, 1)).head);
        // One statement: an older one never replaces a newer one, and the oldest beyond three go.
        await query(
          `with newest as (select coalesce(max(seq), 0) as seq from ${table}_snapshots),
            put as (insert into ${table}_snapshots (seq, bytes) select $1, $2 from newest where newest.seq < $1 on conflict do nothing)
          delete from ${table}_snapshots where seq not in
            (select seq from ${table}_snapshots order by seq desc limit ${keptSnapshots - 1}) and seq < $1`,
          [seq, copy],
        );
      }),
    loadSnapshot: () =>
      inFlight.run(async () => {
        const [row] = await query<{ seq: string; bytes: Buffer }>(
          `select seq, bytes from ${table}_snapshots order by seq desc limit 1`,
          [],
        );
        return row === undefined ? undefined : { seq: Number(row.seq), bytes: new Uint8Array(row.bytes) };
      }),
    truncate: (throughSeq) =>
      inFlight.run(async () => {
        const [newest] = await query<{ seq: string | null }>(`select max(seq) as seq from ${table}_snapshots`, []);
        const covered = Number(newest?.seq ?? 0);
        if (throughSeq > covered) throw uncovered(throughSeq, covered);
        await query(
          `with moved as (update ${table}_head set first = $1::bigint + 1 where first <= $1 returning first)
           delete from ${table} where seq <= $1 and exists (select 1 from moved)`,
          [throughSeq],
        );
      }),
    archive: (piece, bytes) =>
      inFlight.run(async () => {
        checkPiece(piece, bytes);
        await query(`insert into ${table}_archive (piece, bytes) values ($1, $2) on conflict do nothing`, [
          piece,
          Buffer.from(bytes),
        ]);
      }),
    archived: (piece) =>
      inFlight.run(async () => {
        checkPiece(piece);
        const [row] = await query<{ bytes: Buffer }>(`select bytes from ${table}_archive where piece = $1`, [piece]);
        return row === undefined ? undefined : new Uint8Array(row.bytes);
      }),
    subscribe: (afterSeq, callback) => {
      inFlight.check();
      return wakeUp.subscribe(callback, afterSeq);
    },
    status: () =>
      inFlight.run(async () => {
        const state = await look(Number.MAX_SAFE_INTEGER, 1).catch(() => undefined);
        const size =
          state === undefined ? [] : await query<{ bytes: string }>(`select pg_total_relation_size('${table}') as bytes`, []);
        return {
          available: state !== undefined,
          head: state?.head ?? { seq: 0, batchId: "" },
          role: "follower",
          term: 1,
          leaderId: "postgres",
          members: ["postgres"],
          ...(size[0] === undefined ? {} : { sizeBytes: Number(size[0].bytes) }),
        };
      }),
    close: async () => {
      await inFlight.close();
      await wakeUp.close();
      if (!pool.ending) await pool.end();
    },
  };
}

interface LookRow {
  readonly seq: string;
  readonly batch_id: string;
  readonly first: string;
  readonly entries: readonly string[];
}

async function createTables({ pool, namespace }: Database, table: string): Promise<void> {
  const client = await pool.connect();
  try {
    await checkServer(client);
    await client.query("begin");
    await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [`seneschal log ${namespace}`]);
    await createLogTables(client, namespace, table);
    const { rows } = await client.query<{ batch_id: string }>(`select batch_id from ${table}_head`);
    const mark = parseMark(rows[0]?.batch_id ?? "");
    if (mark !== undefined) throw markedError("log", mark);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  } finally {
    client.release();
  }
}

/** Creates the tables of a log that are not there. */
export async function createLogTables(client: pg.PoolClient, namespace: string, table: string): Promise<void> {
  await client.query(`
    create schema if not exists ${namespace};
    create table if not exists ${table} (seq bigint primary key, entry text not null);
    create table if not exists ${table}_head (
      one boolean primary key default true check (one), seq bigint not null, batch_id text not null, first bigint not null
    );
    insert into ${table}_head select true, 0, '', 1 where not exists (select from ${table}_head);
    create table if not exists ${table}_snapshots (seq bigint primary key, bytes bytea not null);
    create table if not exists ${table}_archive (piece bigint primary key, bytes bytea not null);`);
}

/** Connection failures, conflicts and anything unknown stay open; errors with a state of PostgreSQL's own are answers. */
function classify(error: unknown): AttemptError {
  if (error instanceof NotSent) return "not_sent";
  if (isConnectionFailure(error)) return "ambiguous";
  if (isSerialisationFailure(error)) return "not_sent";
  if (!isAnswer(error)) return "ambiguous";
  const code = (error as { code: string }).code;
  if (full.has(code)) return "full";
  // Cancelled by a time-out or waiting for a lock: rolled back, worth another try.
  return code === "57014" || code === "55P03" ? "not_sent" : "definite";
}

function translated(error: unknown): unknown {
  if (error instanceof CodedError) {
    return error.code === "store_misconfigured"
      ? new CodedError<LogErrorCode>("log_misconfigured", error.message, error.details, error)
      : error;
  }
  return new CodedError<LogErrorCode>(
    "no_quorum",
    "the database did not answer",
    { sqlState: (error as { code?: string }).code },
    error,
  );
}
