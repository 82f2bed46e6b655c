import { checkArgument, checkOptions } from "../argument.ts";
import { CodedError, isCoded } from "../errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { LogEntry, LogErrorCode, LogHead, ReplicatedLog } from "../ports/replicated-log.ts";
import { utf8Length } from "../store/byte-string.ts";
import { type Detached, detach } from "./detach.ts";
import { encodeEntry, type Sha256 } from "./entry.ts";
import type { Machine } from "./machine.ts";
import { type Applied, type Judgement, type Position, replicaOf } from "./replica.ts";

/** Options of {@link openReplicated}. */
export interface ReplicatedOptions<State, Command, Result> {
  readonly log: ReplicatedLog;
  readonly machine: Machine<State, Command, Result>;
  readonly clock: Clock;
  /** For the chain of entries, and for snapshots. */
  readonly sha256: Sha256;
  /** A fresh, unique id per call, for batches. */
  readonly newId: () => string;
  /**
   * A snapshot is due at every multiple of this many entries (default 10,000), and after this many bytes (default 32 MB) or
   * twice those of the last snapshot, if that is more: its cost stays in proportion to what it spares.
   */
  readonly snapshotEvery?: number;
  readonly snapshotBytes?: number;
  /**
   * What a snapshot does not truncate: this many newest entries (default 10,000) and those younger than this (default
   * 10 min), as long as all of it is smaller than this (default 96 MB).
   */
  readonly keepEntries?: number;
  readonly keepMs?: number;
  readonly keepBytes?: number;
  /**
   * Awaited between the pieces of a snapshot: what the process does meanwhile, commands included, goes on and is not part of
   * it. Without it a state is encoded in one go.
   */
  readonly pause?: () => Promise<void>;
}

/** What became of a proposed command. `accepted`: it is in the log; else it was refused or is a repeat. */
export interface Proposed<Result> {
  readonly result: Result;
  readonly accepted: boolean;
  /** The sequence of the log at which the answer holds. */
  readonly seq: number;
}

/** Why a replica no longer works, or that it does. */
export interface ReplicatedHealth {
  readonly ready: boolean;
  readonly seq: number;
  readonly reason?: string;
}

/** A state machine on a replicated log. */
export interface Replicated<State, Command, Result> {
  /**
   * Proposes commands in this order, each judged by itself; resolves when every one is answered, refusals included.
   * Commands are serialised inside the call. Throws CodedError `invalid_command` (not JSON, or larger than a batch),
   * `outcome_unknown` (propose the same commands with the same ids again), `no_quorum`, `log_full`, `log_diverged`,
   * `log_version`, `log_closed`, or what the machine threw.
   */
  propose(commands: readonly Command[]): Promise<readonly Proposed<Result>[]>;
  /** The state with every command in it that was acknowledged anywhere before this call. Throws like `propose`. */
  read(): Promise<State>;
  /** The state as far as this process has seen the log: committed, maybe not the newest. */
  state(): State;
  health(): ReplicatedHealth;
  /** Calls back for every entry, own or foreign, in order, once. A gap in `seq` means that a snapshot was loaded. */
  subscribe(callback: (applied: Applied<State, Result>) => void): () => void;
  /** Takes a snapshot now and truncates what it makes dispensable. */
  snapshot(): Promise<void>;
  /** Waits for proposals in flight. Does not close the log. */
  close(): Promise<void>;
}

/** The most that one entry carries. */
export const maxBatch = { commands: 512, bytes: 800_000 } as const;

const page = 256;

interface Mark {
  readonly seq: number;
  readonly at: number;
  readonly bytes: number;
}

/** One call of `propose`, until all of its commands are answered or one cannot be. */
interface Call<Result> {
  readonly answers: Proposed<Result>[];
  open: number;
  readonly resolve: (answers: readonly Proposed<Result>[]) => void;
  readonly reject: (error: unknown) => void;
}

interface Waiting<Result> extends Detached {
  readonly bytes: number;
  readonly call: Call<Result>;
  /** Its place in the call. */
  readonly place: number;
}

/** FIPS 180-4, of a message without a bit. */
const sha256OfNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/**
 * Opens a state machine on a log: loads the newest snapshot, replays what follows, and proposes by group commit.
 *
 * One batch is in flight at a time; what arrives meanwhile (up to 512 commands, 800 KB) travels in the next one. A batch
 * is judged speculatively on the newest known state with the machine's own `apply`; only what it accepts is appended, on
 * the condition that the head of the log is the one it was judged on. If another process was faster, everything is
 * undone, its entries are applied and the whole batch is judged again. A batch without an accepted command costs no
 * write but one linearizable read. Safety depends on nothing but the log's conditional append: any number of processes
 * may propose at once.
 *
 * A replica that meets an entry which it cannot reproduce stops for good (`health().ready` is false). Throws `TypeError` for a `sha256`
 * that is not SHA-256 of texts and bytes in hexadecimal: what it wrote could not be read again.
 *
 * @example
 * ```ts
 * import { openReplicated } from "@seneschal/kernel/log";
 * import { createMemoryLog } from "@seneschal/adapters/memory";
 * import { newId, sha256 } from "@seneschal/adapters/log";
 * const machine = {
 *   initial: { total: 0 },
 *   apply: (state: { total: number }, command: { add: number }) =>
 *     state.total + command.add > 10 ? { state, result: "full" } : { state: { total: state.total + command.add }, result: "ok" },
 *   encode: (state: { total: number }) => [new Uint8Array([state.total])],
 *   decode: (bytes: Uint8Array) => ({ total: bytes[0] ?? 0 }),
 *   hash: (state: { total: number }) => String(state.total),
 * };
 * const counter = await openReplicated({ log: createMemoryLog().open(), machine, clock: { now: () => 0 }, sha256, newId });
 * const answers = await counter.propose([{ add: 7 }, { add: 7 }]);
 * console.log(answers.map((answer) => answer.result)); // [ 'ok', 'full' ]
 * ```
 */
export async function openReplicated<State, Command, Result>(
  options: ReplicatedOptions<State, Command, Result>,
): Promise<Replicated<State, Command, Result>> {
  checkOptions("options", options, {
    log: "object",
    machine: "object",
    clock: "object",
    sha256: "function",
    newId: "function",
    snapshotEvery: "number?",
    snapshotBytes: "number?",
    keepEntries: "number?",
    keepMs: "number?",
    keepBytes: "number?",
    pause: "function?",
  });
  const { log, clock, newId } = options;
  const { snapshotEvery = 10_000, snapshotBytes = 32_000_000 } = options;
  const { keepEntries = 10_000, keepMs = 600_000, keepBytes = 96_000_000 } = options;
  for (const nothing of ["", new Uint8Array()])
    if (options.sha256(nothing) !== sha256OfNothing)
      throw new TypeError("sha256: expected SHA-256 of a text or bytes, as 64 hexadecimal digits");
  const replica = replicaOf(options.machine, options.sha256);
  const listeners = new Set<(applied: Applied<State, Result>) => void>();
  /** The entries at which snapshots are due, with the bytes of the log up to them: where truncation may cut. */
  const marks: Mark[] = [];
  let logBytes = 0;
  let savedBytes = 0;
  const waiting: Waiting<Result>[] = [];
  let position = replica.start;
  let stopped: unknown;
  let closed = false;
  let turn: Promise<unknown> = Promise.resolve();
  let nextCatchUp: Promise<void> | undefined;
  /** The sequence that wake-ups have announced, while a catch-up to it waits for its turn. */
  let announced: number | undefined;
  let draining = false;
  let drained: Promise<void> = Promise.resolve();
  let saving: Promise<void> | undefined;

  /** Everything that moves the position runs one after the other. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = turn.then(work);
    turn = result.catch(() => {});
    return result;
  };

  const check = (): void => {
    if (closed) throw new CodedError<LogErrorCode>("log_closed", "the replica is closed");
    if (stopped !== undefined) throw stopped;
  };

  /** True when a snapshot is due. */
  const moveTo = (next: Position<State>, entry: LogEntry, applied: Applied<State, Result>): boolean => {
    position = next;
    logBytes += encodeEntry(entry).length;
    const due =
      applied.seq % snapshotEvery === 0 || logBytes - (marks.at(-1)?.bytes ?? 0) >= Math.max(snapshotBytes, 2 * savedBytes);
    if (due) marks.push({ seq: applied.seq, at: applied.at, bytes: logBytes });
    if (marks.length > 1000) marks.shift();
    for (const listener of listeners) listener(applied);
    return due;
  };

  const applyAll = (entries: readonly LogEntry[]): void => {
    for (const entry of entries) {
      if (entry.seq <= position.head.seq) continue;
      try {
        const next = replica.apply(position, entry);
        moveTo(next.position, entry, next.applied);
      } catch (error) {
        stopped = error;
        throw error;
      }
    }
  };

  const reload = async (): Promise<void> => {
    const snapshot = await log.loadSnapshot();
    if (snapshot === undefined || snapshot.seq <= position.head.seq)
      throw new CodedError<LogErrorCode>("snapshot_missing", "the log is truncated and no snapshot covers the gap");
    position = replica.load(snapshot.bytes);
  };

  /** Applies everything up to the head of the log at the time of the call. */
  const catchUp = async (): Promise<void> => {
    for (;;) {
      let found: { readonly head: LogHead; readonly entries: readonly LogEntry[] };
      try {
        found = await log.read(position.head.seq, { limit: page });
      } catch (error) {
        if (!isCoded(error, "log_truncated")) throw error;
        await reload();
        continue;
      }
      applyAll(found.entries);
      agreeWith(found.head);
      if (position.head.seq >= found.head.seq) return;
    }
  };

  /** The log may be ahead of this replica, never behind it or beside it. */
  const agreeWith = (head: LogHead): void => {
    const same = head.seq === position.head.seq && head.batchId === position.head.batchId;
    if (head.seq > position.head.seq || same) return;
    stopped = new CodedError<LogErrorCode>("log_diverged", `the log has head ${head.seq}, this replica ${position.head.seq}`, {
      log: head,
      replica: position.head,
    });
    throw stopped;
  };

  /** A catch-up that begins after this call; calls that wait for the same one share it. */
  const freshCatchUp = (): Promise<void> => {
    nextCatchUp ??= inTurn(() => {
      nextCatchUp = undefined;
      check();
      return catchUp();
    });
    return nextCatchUp;
  };

  /** After a wake-up: reads what is new. The replica's own entries announce themselves too and are not read again. */
  const follow = (seq: number): void => {
    if (closed || stopped !== undefined || seq <= position.head.seq) return;
    const waits = announced !== undefined;
    announced = Math.max(announced ?? 0, seq);
    if (waits) return;
    // A failure here is met again, and told, by the next call that needs the log.
    inTurn(async () => {
      const to = announced ?? 0;
      announced = undefined;
      if (position.head.seq < to) await catchUp();
    }).catch(() => {});
  };

  const answer = (batch: readonly Waiting<Result>[], judgements: readonly Judgement<Result>[]): void => {
    const { seq } = position.head;
    for (const [at, { call, place }] of batch.entries()) {
      const judgement = judgements[at] as Judgement<Result>;
      if (judgement.kind === "threw") {
        call.reject(judgement.error);
        continue;
      }
      call.answers[place] = { result: judgement.result, accepted: judgement.accepted, seq };
      call.open -= 1;
      if (call.open === 0) call.resolve(call.answers);
    }
  };

  /** Carries one batch to its answers; throws when it cannot. */
  const settle = async (batch: readonly Waiting<Result>[]): Promise<void> => {
    for (;;) {
      const base = position;
      const at = Math.max(clock.now(), base.at);
      const judged = replica.judge(base, batch, at);
      if (judged.accepted.length === 0) {
        await catchUp();
        if (position === base) return answer(batch, judged.judgements);
        continue;
      }
      const entry = replica.entry(base, judged.accepted, newId(), at);
      const outcome = await append(base.head, entry);
      if (outcome === "moved") continue;
      const { seq } = entry;
      const results = judged.judgements.flatMap((j) => (j.kind === "judged" && j.accepted ? [j.result] : []));
      const applied = { seq, at, commands: entry.commands, results, state: judged.state };
      const due = moveTo(replica.adopt(entry, judged.state), entry, applied);
      answer(batch, judged.judgements);
      if (due) saving ??= snapshotInBackground();
      return;
    }
  };

  /**
   * "moved": another entry took the place and is applied; judge again. An error is passed on only if the head did not
   * move: then an earlier attempt may still arrive. If it moved, that attempt is either applied (its commands are now
   * repeats) or can no longer succeed.
   */
  const append = async (head: LogHead, entry: LogEntry): Promise<"appended" | "moved"> => {
    try {
      const result = await log.append(head, entry);
      if (result.ok) return "appended";
      applyAll(result.tail);
      if (position.head.seq < result.head.seq) await catchUp();
      return "moved";
    } catch (error) {
      if (stopped !== undefined) throw error;
      await catchUp().catch((second) => {
        if (stopped !== undefined) throw second;
        throw error;
      });
      if (position.head.seq === head.seq) throw error;
      return "moved";
    }
  };

  const take = (): Waiting<Result>[] => {
    let count = 0;
    let bytes = 0;
    for (const item of waiting) {
      bytes += item.bytes;
      if (count === maxBatch.commands || (count > 0 && bytes > maxBatch.bytes)) break;
      count += 1;
    }
    return waiting.splice(0, count);
  };

  const drain = async (): Promise<void> => {
    draining = true;
    while (waiting.length > 0) {
      let batch: readonly Waiting<Result>[] = [];
      await inTurn(async () => {
        batch = take();
        if (stopped !== undefined) throw stopped;
        await settle(batch);
      }).catch((error: unknown) => {
        for (const { call } of batch) call.reject(error);
      });
    }
    draining = false;
  };

  const snapshotNow = async (): Promise<void> => {
    const taken = position;
    const { head, at } = taken;
    if (head.seq === 0) return;
    const bytes = await replica.save(taken, async () => options.pause?.());
    savedBytes = bytes.length;
    await log.saveSnapshot(head.seq, bytes);
    const old = (mark: Mark): boolean => mark.seq <= head.seq - keepEntries && mark.at <= at - keepMs;
    const last = marks.filter((mark) => mark.seq <= head.seq && (old(mark) || logBytes - mark.bytes > keepBytes)).at(-1);
    if (last !== undefined) await log.truncate(last.seq);
  };

  /** A snapshot that fails costs nothing but log: the next multiple tries again. */
  const snapshotInBackground = (): Promise<void> =>
    snapshotNow()
      .catch(() => {})
      .finally(() => {
        saving = undefined;
      });

  await inTurn(async () => {
    const snapshot = await log.loadSnapshot();
    if (snapshot !== undefined) position = replica.load(snapshot.bytes);
    await catchUp();
  });
  const unsubscribe = log.subscribe(position.head.seq, (seq = Number.POSITIVE_INFINITY) => follow(seq));

  return {
    propose: (commands) => {
      try {
        check();
        checkArgument("commands", commands, "array");
        const prepared = commands.map(prepareCommand);
        if (prepared.length === 0) return Promise.resolve([]);
        const answered = new Promise<readonly Proposed<Result>[]>((resolve, reject) => {
          const call: Call<Result> = { answers: new Array(prepared.length), open: prepared.length, resolve, reject };
          for (const [place, { command, text, bytes }] of prepared.entries()) waiting.push({ command, text, bytes, call, place });
        });
        if (!draining) drained = drain();
        return answered;
      } catch (error) {
        return Promise.reject(error);
      }
    },
    read: async () => {
      check();
      await freshCatchUp();
      return position.state;
    },
    state: () => position.state,
    health: () => ({
      ready: stopped === undefined && !closed,
      seq: position.head.seq,
      ...(stopped === undefined ? {} : { reason: stopped instanceof Error ? stopped.message : String(stopped) }),
    }),
    subscribe: (callback) => {
      listeners.add(callback);
      return () => listeners.delete(callback);
    },
    snapshot: async () => {
      check();
      await saving;
      await snapshotNow();
    },
    close: async () => {
      if (closed) return;
      closed = true;
      unsubscribe();
      await drained;
      await turn;
      await saving;
      listeners.clear();
    },
  };
}

function prepareCommand(command: unknown): Detached & { readonly bytes: number } {
  let detached: Detached;
  try {
    detached = detach(command);
  } catch (error) {
    throw new CodedError<LogErrorCode>("invalid_command", "the command is not a JSON object", {}, error);
  }
  const bytes = utf8Length(detached.text);
  if (bytes > maxBatch.bytes)
    throw new CodedError<LogErrorCode>("invalid_command", `the command takes ${bytes} bytes, more than ${maxBatch.bytes}`, {
      bytes,
    });
  return { bytes, ...detached };
}
