import { checkEntry, decodeEntry, emptyHead, encodeEntry } from "@seneschal/kernel/log";
import type { LogHead, LogSnapshot, ReplicatedLog } from "@seneschal/kernel/ports";
import { InFlight } from "../in-flight.ts";
import { checkPiece, checkRead, checkSnapshotSeq, keptSnapshots, truncated, uncovered } from "../log/check-query.ts";

/** A log in memory that any number of handles share, as processes share a real one. */
export interface MemoryLog {
  open(): ReplicatedLog;
}

/** Makes an empty {@link MemoryLog}: the reference of the ReplicatedLog port, for tests. Nothing survives the process. */
export function createMemoryLog(): MemoryLog {
  /** Stored texts; entry `first + i` at position `i`. */
  let texts: string[] = [];
  let first = 1;
  let head: LogHead = emptyHead;
  let snapshots: LogSnapshot[] = [];
  const pieces = new Map<number, Uint8Array>();
  const wakeUps = new Set<(seq: number) => void>();

  const behind = (afterSeq: number, limit: number) =>
    texts.slice(Math.max(0, afterSeq + 1 - first), Math.max(0, afterSeq + 1 - first) + limit).map(decodeEntry);

  const open = (): ReplicatedLog => {
    const inFlight = new InFlight("log");
    const own = new Set<(seq: number) => void>();
    return {
      read: (afterSeq, { limit }) =>
        inFlight.run(async () => {
          checkRead(afterSeq, limit);
          if (afterSeq + 1 < first) throw truncated(afterSeq, first);
          return { head, entries: behind(afterSeq, limit) };
        }),
      append: (expectHead, entry) =>
        inFlight.run(async () => {
          checkEntry(expectHead, entry);
          if (head.seq !== expectHead.seq || head.batchId !== expectHead.batchId) {
            const tail = expectHead.seq + 1 < first ? [] : behind(expectHead.seq, 1000);
            if (tail[0]?.batchId === entry.batchId) return { ok: true, head: { seq: entry.seq, batchId: entry.batchId } };
            return { ok: false, head, tail };
          }
          texts.push(encodeEntry(entry));
          head = { seq: entry.seq, batchId: entry.batchId };
          for (const wake of wakeUps) queueMicrotask(() => wake(entry.seq));
          return { ok: true, head };
        }),
      saveSnapshot: (seq, bytes) =>
        inFlight.run(async () => {
          checkSnapshotSeq(seq, head);
          if (snapshots.some((kept) => kept.seq >= seq)) return;
          snapshots = [...snapshots, { seq, bytes: bytes.slice() }].slice(-keptSnapshots);
        }),
      loadSnapshot: () =>
        inFlight.run(async () => {
          const newest = snapshots.at(-1);
          return newest === undefined ? undefined : { seq: newest.seq, bytes: newest.bytes.slice() };
        }),
      truncate: (throughSeq) =>
        inFlight.run(async () => {
          const covered = snapshots.at(-1)?.seq ?? 0;
          if (throughSeq > covered) throw uncovered(throughSeq, covered);
          if (throughSeq < first) return;
          texts = texts.slice(throughSeq + 1 - first);
          first = throughSeq + 1;
        }),
      archive: (piece, bytes) =>
        inFlight.run(async () => {
          checkPiece(piece, bytes);
          if (!pieces.has(piece)) pieces.set(piece, bytes.slice());
        }),
      archived: (piece) =>
        inFlight.run(async () => {
          checkPiece(piece);
          return pieces.get(piece)?.slice();
        }),
      subscribe: (afterSeq, callback) => {
        inFlight.check();
        if (head.seq > afterSeq) queueMicrotask(() => callback(head.seq));
        wakeUps.add(callback);
        own.add(callback);
        return () => {
          wakeUps.delete(callback);
          own.delete(callback);
        };
      },
      status: () =>
        inFlight.run(async () => ({
          available: true,
          head,
          role: "leader",
          term: 1,
          leaderId: "local",
          members: ["local"],
        })),
      close: async () => {
        for (const callback of own) wakeUps.delete(callback);
        await inFlight.close();
      },
    };
  };
  return { open };
}
