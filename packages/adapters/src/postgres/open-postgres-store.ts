import { CodedError, checkArgument, checkOptions, type JsonObject } from "@seneschal/kernel";
import type { AuditEntry, Change, CommitResult, DocumentStore, Stored, StoreErrorCode } from "@seneschal/kernel/ports";
import {
  auditCollection,
  auditDocument,
  type CompiledCollection,
  checkCompaction,
  checkFeed,
  collectionOf,
  compileSchema,
  currentDocument,
  encodeIndexKey,
  type KeyRange,
  keyRange,
  listRequest,
  type PreparedCommit,
  prepareCommit,
  type StoreSchema,
  successor,
  wholeFeed,
} from "@seneschal/kernel/store";
import type pg from "pg";
import { CommitQueue } from "../commit-queue.ts";
import { InFlight } from "../in-flight.ts";
import { bootstrap, type IndexBuild, type Tables } from "./bootstrap.ts";
import { connectPostgres, isAnswer, type PostgresOptions, statementName } from "./connect.ts";
import { columnOf, type SharedKey } from "./index-columns.ts";
import { enterAllRows, lacksRows, type NamedIndex } from "./late-indexes.ts";
import { tableOf } from "./rows.ts";
import { WakeUp } from "./wake-up.ts";
import { checkEpoch, lockHead, writeBatch } from "./write-batch.ts";

/** PostgreSQL, appendix A: class 42. */
const UNDEFINED_COLUMN = "42703";

/** So many rows are forgotten by one statement. */
const FORGOTTEN_AT_ONCE = 1000;

/** Options of {@link openPostgresStore}. */
export interface PostgresStoreOptions extends PostgresOptions, StoreSchema {
  /** Hears of each index that is built of a collection which was there, before that begins. */
  readonly onIndexBuild?: (built: IndexBuild) => void;
  /** Hears of documents that share a key of a unique index, which processes of a release before have written that do not know it. */
  readonly onSharedKey?: (shared: SharedKey) => void;
}

/**
 * A {@link DocumentStore} in PostgreSQL (15 or newer), for any number of processes on one database. All pending commits
 * of a process travel in one transaction that locks the head row first, so that the sequences are dense and in commit
 * order over all processes.
 *
 * A lost connection is repaired and the batch sent again: the commit ids tell what was applied. `outcome_unknown` is
 * thrown when a COMMIT was sent whose answer was lost and no attempt within the time-out was answered, whatever else the later
 * ones met; `store_unavailable` when none was sent. Needs sessions of its own (prepared statements, LISTEN): no transaction-pooling proxy in between.
 *
 * @throws CodedError `store_misconfigured` (encoding, fsync, synchronous_commit, another layout), `store_unavailable`,
 *   `invalid_schema`.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<DocumentStore> {
  checkOptions("options", options, {
    url: "string",
    namespace: "string?",
    poolSize: "number?",
    timeoutMs: "number?",
    collections: "object",
    auditIndexes: "object?",
    auditTime: "string?",
    onIndexBuild: "function?",
    onSharedKey: "function?",
  });
  const schema = compileSchema(options);
  const database = connectPostgres(options);
  const { pool, namespace } = database;
  const channel = `${namespace}_store`;
  let tables: Tables;
  try {
    tables = await database.persist(() => bootstrap(database, schema, options));
  } catch (error) {
    await pool.end();
    throw translated(error);
  }
  const { epoch, layout } = tables;
  const inFlight = new InFlight("store");
  let writer: pg.Client | undefined;

  const dropWriter = (): void => {
    const client = writer;
    writer = undefined;
    client?.end().catch(() => {});
  };
  const queue = new CommitQueue(async (batch: readonly PreparedCommit[]): Promise<readonly CommitResult[]> => {
    /** A COMMIT was sent whose answer was lost. Only an answer to the batch ends that, whatever later attempts meet. */
    let unknown = false;
    try {
      return await database.persist(async (left) => {
        let sent = false;
        try {
          writer ??= await database.connect(left());
          const client = writer;
          const committing = (): void => {
            sent = true;
          };
          const answer = writeBatch(client, { layout, epoch, channel }, batch, committing);
          return await database.within(answer, left(), client);
        } catch (error) {
          dropWriter();
          unknown ||= sent && !isAnswer(error);
          throw error;
        }
      });
    } catch (error) {
      if (unknown) throw new CodedError<StoreErrorCode>("outcome_unknown", "the connection was lost while committing", {}, error);
      throw translated(error);
    }
  });

  /** Reads are safe to repeat. */
  const query = async <Row extends pg.QueryResultRow>(text: string, values: unknown[], name?: string): Promise<Row[]> => {
    try {
      return await database.read<Row>(text, values, name);
    } catch (error) {
      throw translated(error);
    }
  };
  /**
   * The rows of a statement over an index, whose `columns` end with its key or a count. The index may lack rows that processes of another schema have written:
   * whether it does is asked in the same statement, so that nothing comes in between. Those are entered then, a page at a time, and the statement is
   * answered while nobody writes.
   */
  const queryIndex = async <Row extends pg.QueryResultRow>(
    named: NamedIndex,
    { columns, order = "" }: { readonly columns: readonly string[]; readonly order?: string },
    text: string,
    values: unknown[],
  ): Promise<Row[]> => {
    const whole = `(${text}) union all (select ${columns.map(() => "null").join(", ")} where ${lacksRows(layout, named)}) ${order}`;
    const rows = await query<Row>(whole, values, statementName(whole));
    const key = columns.at(-1) ?? "";
    if (rows.every((row) => row[key] !== null)) return rows;
    try {
      return await database.persist(async () => {
        const client = await pool.connect();
        try {
          await lockHead(client, namespace, epoch);
          await enterAllRows(client, layout, [named]);
          const { rows: whole } = await client.query<Row>(text, values);
          await client.query("commit");
          client.release();
          return whole;
        } catch (error) {
          // Whatever of the transaction is left ends with its connection.
          client.release(true);
          throw error;
        }
      });
    } catch (error) {
      throw translated(error);
    }
  };
  const columns = (coll: string): readonly string[] =>
    coll === auditCollection ? ["seq::text as id", "seq as version", "stream", "stream_seq", "event"] : ["id", "version", "doc"];
  const readMany = async (coll: string, ids: readonly string[]): Promise<(Stored | undefined)[]> => {
    checkArgument("ids", ids, "array");
    const collection = collectionOf(schema, coll);
    const audit = coll === auditCollection;
    const known = audit ? ids.filter((id) => /^[1-9][0-9]{0,15}$/.test(id)) : ids.filter((id) => !id.includes("\0"));
    const rows = await query<StoredRow>(
      `select ${columns(coll).join(", ")} from ${tableOf(namespace, coll)} where ${audit ? "seq = any($1::bigint[])" : "id = any($1::text[])"}`,
      [known],
    );
    const found = new Map(rows.map((row) => [row.id, row]));
    return ids.map((id) => {
      const row = found.get(id);
      return row === undefined ? undefined : storedOf(collection, row);
    });
  };
  const keyOf = (coll: string, index: string): string => `k_${columnOf(layout, coll, index).stem}`;
  const where = (key: string, { gte, lt }: KeyRange, values: unknown[]): string => {
    values.push(Buffer.from(gte, "latin1"));
    if (lt === undefined) return `${key} >= $${values.length}`;
    values.push(Buffer.from(lt, "latin1"));
    return `${key} >= $${values.length - 1} and ${key} < $${values.length}`;
  };
  const changeHead = async (): Promise<number> => {
    const rows = await query<{ commit: string; change: string }>(`select commit, change from ${namespace}.head`, []);
    latestChange = Number(rows[0]?.change);
    return Number(rows[0]?.commit);
  };
  let latestChange = 0;
  const newestChange = async (): Promise<number> => {
    const rows = await query<{ change: string }>(`select change from ${namespace}.head`, []);
    return Number(rows[0]?.change);
  };
  /** Forgets the next entries behind `from`, but for the newest of each stream; gives the last that it looked at. */
  const compactAudit = async (from: number, upTo: number): Promise<number> => {
    const page = await query<{ seq: string; stream: string }>(
      `select seq, stream from ${namespace}.audit where seq > $1 and seq <= $2 order by seq limit ${FORGOTTEN_AT_ONCE}`,
      [from, upTo],
    );
    const last = page.at(-1);
    if (last === undefined) return upTo;
    const keys = [...new Set(page.map(({ stream }) => stream))].map((stream) => encodeIndexKey([stream]));
    // Whatever is newer by now: none of these was deleted that is the newest of its stream.
    await query(
      `delete from ${namespace}.audit where seq = any($1::bigint[]) and seq <> all(
         select r.seq from unnest($2::bytea[], $3::bytea[]) as w(low, high)
         join lateral (select seq from ${namespace}.audit where k_stream >= w.low and k_stream < w.high
           order by k_stream desc limit 1) r on true)`,
      [
        page.map(({ seq }) => seq),
        keys.map((key) => Buffer.from(key, "latin1")),
        keys.map((key) => Buffer.from(successor(key) as string, "latin1")),
      ],
    );
    return Number(last.seq);
  };
  const compactChanges = async (upTo: number): Promise<number> =>
    (
      await query(
        `delete from ${namespace}.changes where seq in (select seq from ${namespace}.changes
           where seq <= $1 and seq < (select change from ${namespace}.head) order by seq limit ${FORGOTTEN_AT_ONCE}) returning seq`,
        [upTo],
      )
    ).length;
  const wakeUp = new WakeUp(database, channel, changeHead);

  return {
    capabilities: { durable: true, multiProcess: true, subscribe: "push" },
    get: (coll, id) => inFlight.run(async () => (await readMany(coll, [id]))[0]),
    getMany: (coll, ids) => inFlight.run(() => readMany(coll, ids)),
    list: (coll, index, prefix, listOptions) =>
      inFlight.run(async () => {
        const { range, limit, offset, reverse, cursorAt } = listRequest(schema, coll, index, prefix, listOptions);
        const collection = collectionOf(schema, coll);
        const values: unknown[] = [];
        const key = keyOf(coll, index);
        const found = [...columns(coll), `${key} as k`];
        const order = reverse ? "desc" : "asc";
        const rows = await queryIndex<StoredRow & { readonly k: Buffer }>(
          { coll, index },
          { columns: [...columns(coll), "k"], order: `order by k ${order}` },
          `select ${found.join(", ")} from ${tableOf(namespace, coll)} where ${where(key, range, values)}
           order by ${key} ${order} limit $${values.push(limit + 1)}::int offset $${values.push(offset)}::int`,
          values,
        );
        const items = rows.slice(0, limit).map((row) => storedOf(collection, row));
        const last = rows[limit - 1];
        return rows.length <= limit || last === undefined ? { items } : { items, cursor: cursorAt(last.k.toString("latin1")) };
      }),
    count: (coll, index, prefix, range) =>
      inFlight.run(async () => {
        const values: unknown[] = [];
        const condition = where(keyOf(coll, index), keyRange(schema, coll, index, prefix, range), values);
        const counting = `select count(*) as count from ${tableOf(namespace, coll)} where ${condition}`;
        const rows = await queryIndex<{ count: string }>({ coll, index }, { columns: ["count"] }, counting, values);
        return Number(rows[0]?.count);
      }),
    commit: (commit) => inFlight.run(() => queue.add(prepareCommit(schema, commit))),
    auditRead: (afterSeq, limit) =>
      inFlight.run(async () => {
        checkFeed(afterSeq, limit);
        const rows = await query<{ seq: string; stream: string; stream_seq: string; event: JsonObject }>(
          `select seq, stream, stream_seq, event from ${namespace}.audit where seq > $1 order by seq limit $2`,
          [afterSeq, limit],
        );
        return rows.map(
          ({ seq, stream, stream_seq, event }): AuditEntry => ({
            seq: Number(seq),
            stream,
            streamSeq: Number(stream_seq),
            event,
          }),
        );
      }),
    changes: (afterSeq, limit) =>
      inFlight.run(async () => {
        checkFeed(afterSeq, limit);
        const rows = await query<{ seq: string; coll: string; id: string; version: string | null }>(
          `select seq, coll, id, version from ${namespace}.changes where seq > $1 order by seq limit $2`,
          [afterSeq, limit],
        );
        const found = rows.map(
          ({ seq, coll, id, version }): Change => ({
            seq: Number(seq),
            coll,
            id,
            ...(version === null ? {} : { version: Number(version) }),
          }),
        );
        const begins = found.length === 0 || found[0]?.seq === afterSeq + 1;
        return wholeFeed(afterSeq, found, begins ? 0 : await newestChange());
      }),
    compact: (upTo) =>
      inFlight.run(async () => {
        checkCompaction(upTo);
        const { audit = 0, changes = 0 } = upTo;
        for (let from = 0; from < audit; ) from = await compactAudit(from, audit);
        for (let gone = changes === 0 ? 0 : FORGOTTEN_AT_ONCE; gone === FORGOTTEN_AT_ONCE; ) gone = await compactChanges(changes);
      }),
    checkWrites: () =>
      inFlight.run(async () => checkEpoch(epoch, (await query<{ epoch: string }>(`select epoch from ${namespace}.head`, []))[0])),
    subscribe: (callback) => {
      inFlight.check();
      return wakeUp.subscribe(() => callback(latestChange));
    },
    close: async () => {
      await inFlight.close();
      await wakeUp.close();
      dropWriter();
      if (!pool.ending) await pool.end();
    },
  };
}

interface StoredRow {
  readonly id: string;
  readonly version: string;
  readonly doc?: JsonObject;
  readonly stream?: string;
  readonly stream_seq?: string;
  readonly event?: JsonObject;
}

function storedOf(collection: CompiledCollection, { id, version, doc, stream, stream_seq, event }: StoredRow): Stored {
  if (doc !== undefined) return { id, version: Number(version), doc: currentDocument(collection, id, doc) };
  return { id, version: Number(version), doc: auditDocument(Number(version), stream ?? "", Number(stream_seq), event ?? {}) };
}

/** Errors of the driver carry the text of statements and may carry values: callers get a code, the cause stays for logs. */
function translated(error: unknown): unknown {
  if (error instanceof CodedError) return error;
  const sqlState = (error as { code?: string }).code;
  if (sqlState === UNDEFINED_COLUMN)
    return new CodedError<StoreErrorCode>(
      "store_failed",
      "the store has been served for long by processes with other indexes, which have dropped one of these; open it again with their schema",
      { sqlState },
      error,
    );
  return new CodedError<StoreErrorCode>("store_unavailable", "the database did not answer", { sqlState }, error);
}
