import { CodedError, checkOptions } from "@seneschal/kernel";
import { checkEntry, decodeEntry, emptyHead, encodeEntry } from "@seneschal/kernel/log";
import type { AppendResult, LogEntry, LogErrorCode, LogHead, ReplicatedLog } from "@seneschal/kernel/ports";
import { InFlight } from "../in-flight.ts";
import { checkPiece, checkRead, checkSnapshotSeq, keptSnapshots, truncated, uncovered } from "../log/check-query.ts";
import { markedError, parseMark } from "../migration/mark.ts";
import { bytes } from "./layout.ts";
import { inspectLevel, type LevelDb, openLevel } from "./open-level.ts";

const format = "log 1";
const places = {
  format: "m/format",
  head: "m/head",
  entry: (seq: number): string => `l/${String(seq).padStart(16, "0")}`,
  snapshot: (seq: number): string => `s/${String(seq).padStart(16, "0")}`,
  piece: (piece: number): string => `a/${String(piece).padStart(16, "0")}`,
} as const;
const range = { entries: { gte: bytes("l/"), lt: bytes("l0") }, snapshots: { gte: bytes("s/"), lt: bytes("s0") } };

/**
 * A {@link ReplicatedLog} in a LevelDB directory: one process, no replicas, no quorum. An acknowledged append survives
 * `kill -9`. A write that fails is `outcome_unknown`; from then on writes are refused (`log_failed`) until it is opened
 * again.
 *
 * @throws CodedError `store_damaged` when a file is not what was written; `store_locked` when another process has the directory open; `log_misconfigured` when the directory
 *   holds something else.
 */
export async function openLevelLog(options: { readonly path: string }): Promise<ReplicatedLog> {
  checkOptions("options", options, { path: "string" });
  const db = await openLevel(options.path);
  let head: LogHead;
  let first: number;
  try {
    head = await openLayout(db, options.path);
    const [oldest] = await db.keys({ ...range.entries, limit: 1 }).all();
    first = oldest === undefined ? head.seq + 1 : seqOf(oldest);
  } catch (error) {
    await db.close();
    throw error;
  }
  const inFlight = new InFlight("log");
  const wakeUps = new Set<(seq: number) => void>();
  let turn: Promise<unknown> = Promise.resolve();
  let failure: unknown;

  const write = async <T>(work: () => Promise<T>): Promise<T> => {
    const result = turn.then(() => {
      if (failure !== undefined)
        throw new CodedError<LogErrorCode>("log_failed", "an earlier write failed; open the log again", {}, failure);
      return work();
    });
    turn = result.catch(() => {});
    return result;
  };
  const written = async (batch: Promise<void>): Promise<void> => {
    try {
      await batch;
    } catch (error) {
      failure = error;
      throw new CodedError<LogErrorCode>("outcome_unknown", "the write failed; its outcome is unknown", {}, error);
    }
  };
  const behind = async (afterSeq: number, limit: number): Promise<LogEntry[]> =>
    (await db.values({ gte: bytes(places.entry(afterSeq + 1)), lt: range.entries.lt, limit }).all()).map(decodeEntry);
  const snapshotSeqs = async (): Promise<number[]> => (await db.keys(range.snapshots).all()).map(seqOf);

  return {
    read: (afterSeq, { limit }) =>
      inFlight.run(async () => {
        checkRead(afterSeq, limit);
        const seen = head;
        if (afterSeq + 1 < first) throw truncated(afterSeq, first);
        return { head: seen, entries: await behind(afterSeq, Math.min(limit, Math.max(1, seen.seq - afterSeq))) };
      }),
    append: (expectHead, entry) =>
      inFlight.run(() => {
        checkEntry(expectHead, entry);
        const text = encodeEntry(entry);
        return write(async (): Promise<AppendResult> => {
          if (head.seq !== expectHead.seq || head.batchId !== expectHead.batchId) {
            const tail = expectHead.seq + 1 < first ? [] : await behind(expectHead.seq, 256);
            if (tail[0]?.batchId === entry.batchId) return { ok: true, head: { seq: entry.seq, batchId: entry.batchId } };
            return { ok: false, head, tail };
          }
          const next: LogHead = { seq: entry.seq, batchId: entry.batchId };
          // A chained batch: the array form costs more than all else here.
          const batch = db
            .batch()
            .put(bytes(places.entry(entry.seq)), text)
            .put(bytes(places.head), JSON.stringify(next));
          await written(batch.write({ sync: true }));
          head = next;
          for (const wake of wakeUps) queueMicrotask(() => wake(entry.seq));
          return { ok: true, head };
        });
      }),
    saveSnapshot: (seq, snapshot) =>
      inFlight.run(() => {
        const copy = Buffer.from(snapshot);
        return write(async () => {
          checkSnapshotSeq(seq, head);
          const kept = await snapshotSeqs();
          if (kept.some((other) => other >= seq)) return;
          const dropped = kept.slice(0, Math.max(0, kept.length + 1 - keptSnapshots));
          await written(
            db.batch(
              [
                { type: "put", key: bytes(places.snapshot(seq)), value: copy, valueEncoding: "buffer" },
                ...dropped.map((old) => ({ type: "del" as const, key: bytes(places.snapshot(old)) })),
              ],
              { sync: true },
            ),
          );
        });
      }),
    loadSnapshot: () =>
      inFlight.run(async () => {
        const [newest] = await db
          .iterator<Buffer, Buffer>({
            ...range.snapshots,
            reverse: true,
            limit: 1,
            keyEncoding: "buffer",
            valueEncoding: "buffer",
          })
          .all();
        return newest === undefined ? undefined : { seq: seqOf(newest[0]), bytes: new Uint8Array(newest[1]) };
      }),
    truncate: (throughSeq) =>
      inFlight.run(() =>
        write(async () => {
          const covered = (await snapshotSeqs()).at(-1) ?? 0;
          if (throughSeq > covered) throw uncovered(throughSeq, covered);
          if (throughSeq < first) return;
          // Readers are sent to the snapshot before the entries go; oldest first, so that a crash leaves no gap.
          const before = first;
          first = throughSeq + 1;
          for (let seq = before; seq <= throughSeq; seq += 1000) {
            const keys = Array.from({ length: Math.min(1000, throughSeq + 1 - seq) }, (_, at) => bytes(places.entry(seq + at)));
            await written(
              db.batch(
                keys.map((key) => ({ type: "del" as const, key })),
                { sync: true },
              ),
            );
          }
        }),
      ),
    archive: (piece, content) =>
      inFlight.run(() => {
        checkPiece(piece, content);
        const [key, copy] = [bytes(places.piece(piece)), Buffer.from(content)];
        return write(async () => {
          if ((await db.get(key)) !== undefined) return;
          await written(db.batch([{ type: "put", key, value: copy, valueEncoding: "buffer" }], { sync: true }));
        });
      }),
    archived: (piece) =>
      inFlight.run(async () => {
        checkPiece(piece);
        const kept = await db.get<Buffer, Buffer>(bytes(places.piece(piece)), { valueEncoding: "buffer" });
        return kept === undefined ? undefined : new Uint8Array(kept);
      }),
    subscribe: (afterSeq, callback) => {
      inFlight.check();
      if (head.seq > afterSeq) queueMicrotask(() => callback(head.seq));
      wakeUps.add(callback);
      return () => wakeUps.delete(callback);
    },
    status: () =>
      inFlight.run(async () => ({
        available: failure === undefined,
        head,
        role: "leader",
        term: 1,
        leaderId: "local",
        members: ["local"],
      })),
    inspect: () => inFlight.run(() => inspectLevel(db)),
    close: async () => {
      wakeUps.clear();
      await inFlight.close();
      await db.close();
    },
  };
}

async function openLayout(db: LevelDb, path: string): Promise<LogHead> {
  const found = await db.get(bytes(places.format));
  if (found === undefined && (await db.keys({ limit: 1 }).all()).length === 0) {
    await db.batch(
      [
        { type: "put", key: bytes(places.format), value: format },
        { type: "put", key: bytes(places.head), value: JSON.stringify(emptyHead) },
      ],
      { sync: true },
    );
    return emptyHead;
  }
  const mark = parseMark(found ?? "");
  if (mark !== undefined) throw markedError("log", mark);
  const head = await db.get(bytes(places.head));
  if (found !== format || head === undefined)
    throw new CodedError<LogErrorCode>("log_misconfigured", `${path} holds something that is not a log of this version`, {
      path,
    });
  return JSON.parse(head) as LogHead;
}

function seqOf(key: Buffer): number {
  return Number(key.subarray(2).toString("latin1"));
}
