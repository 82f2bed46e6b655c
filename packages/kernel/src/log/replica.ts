import { checkArgument } from "../argument.ts";
import { CodedError } from "../errors.ts";
import type { JsonObject } from "../json.ts";
import type { LogEntry, LogErrorCode, LogHead } from "../ports/replicated-log.ts";
import { joinBytes } from "./ascii-json.ts";
import type { Detached } from "./detach.ts";
import { emptyHead, encodeEntry, entryOf, entryVersion, type Sha256 } from "./entry.ts";
import type { Machine } from "./machine.ts";
import { chunkHashes, decodeSnapshot, encodeSnapshot } from "./snapshot.ts";

/** Where a replica stands: an immutable value, so that speculation is undone by forgetting the new one. */
export interface Position<State> {
  readonly head: LogHead;
  /** Time of the last entry, milliseconds. */
  readonly at: number;
  /** SHA-256 of the last entry, "" before the first. */
  readonly hash: string;
  readonly state: State;
}

/** The answer of the machine to one command. A command that throws is answered with its error and left out. */
export type Judgement<Result> =
  | { readonly kind: "judged"; readonly result: Result; readonly accepted: boolean }
  | { readonly kind: "threw"; readonly error: unknown };

/** A batch judged on a position: what each caller is told, and what the log must hold for it to become true. */
export interface Judged<State, Result> {
  readonly judgements: readonly Judgement<Result>[];
  readonly accepted: readonly Detached[];
  readonly state: State;
}

/** One entry and what its commands gave. */
export interface Applied<State, Result> {
  readonly seq: number;
  readonly at: number;
  readonly commands: readonly JsonObject[];
  readonly results: readonly Result[];
  readonly state: State;
}

/** The deterministic part of a replica: judging, applying and snapshots, without any I/O. */
export interface Replica<State, Result> {
  readonly start: Position<State>;
  /** Judges commands in order with the machine's own `apply`, each on the outcome of those before it. */
  judge(position: Position<State>, commands: readonly Detached[], at: number): Judged<State, Result>;
  /** The entry that would carry a judged batch. */
  entry(position: Position<State>, accepted: readonly Detached[], batchId: string, at: number): LogEntry;
  /** The position behind an entry whose outcome is already known to be `state`. */
  adopt(entry: LogEntry, state: State): Position<State>;
  /**
   * Applies an entry of the log.
   *
   * @throws CodedError `log_diverged` when the entry does not continue the position, or when a command is not accepted
   *   again as it was by its proposer; `log_version` for an entry or a command that this version does not know. The
   *   replica must then stop.
   */
  apply(
    position: Position<State>,
    entry: LogEntry,
  ): { readonly position: Position<State>; readonly applied: Applied<State, Result> };
  /** The snapshot of a position, and a pause after every part of the work on it. */
  save(position: Position<State>, pause: () => Promise<void> | undefined): Promise<Uint8Array>;
  /** @throws CodedError `snapshot_invalid`. */
  load(bytes: Uint8Array): Position<State>;
}

/** Makes the deterministic part of a replica of `machine`. */
export function replicaOf<State, Command, Result>(
  machine: Machine<State, Command, Result>,
  sha256: Sha256,
): Replica<State, Result> {
  checkArgument("machine", machine, "object");
  checkArgument("sha256", sha256, "function");
  const adopt = (entry: LogEntry, state: State): Position<State> => ({
    head: { seq: entry.seq, batchId: entry.batchId },
    at: entry.at,
    hash: sha256(encodeEntry(entry)),
    state,
  });
  return {
    start: { head: emptyHead, at: 0, hash: "", state: machine.initial },
    judge(position, commands, at) {
      let { state } = position;
      const accepted: Detached[] = [];
      const judgements = commands.map((detached): Judgement<Result> => {
        try {
          const next = machine.apply(state, detached.command as Command, at);
          const changed = next.state !== state;
          if (changed) accepted.push(detached);
          state = next.state;
          return { kind: "judged", result: next.result, accepted: changed };
        } catch (error) {
          return { kind: "threw", error };
        }
      });
      return { judgements, accepted, state };
    },
    entry: ({ head, hash }, accepted, batchId, at) =>
      entryOf({ v: entryVersion, seq: head.seq + 1, batchId, prevHash: hash, at }, accepted),
    adopt,
    apply(position, entry) {
      if (entry.v !== entryVersion)
        throw stop("log_version", `entry ${entry.seq} has version ${entry.v}, this code knows ${entryVersion}`, entry);
      if (entry.seq !== position.head.seq + 1 || entry.prevHash !== position.hash || entry.at < position.at)
        throw stop("log_diverged", `entry ${entry.seq} does not continue entry ${position.head.seq}`, entry);
      let { state } = position;
      const results = entry.commands.map((command, at) => {
        const next = applyKnown(machine, state, command, entry);
        if (next.state === state) throw stop("log_diverged", `command ${at} of entry ${entry.seq} is not accepted again`, entry);
        state = next.state;
        return next.result;
      });
      const { seq, at, commands } = entry;
      return { position: adopt(entry, state), applied: { seq, at, commands, results, state } };
    },
    async save({ head, at, hash, state }, pause) {
      const pieces: Uint8Array[] = [];
      for (const piece of machine.encode(state)) {
        pieces.push(piece);
        await pause();
      }
      const body = joinBytes(pieces);
      const hashes: string[] = [];
      for (const chunk of chunkHashes(sha256, body)) {
        hashes.push(chunk);
        await pause();
      }
      return encodeSnapshot({ head, at, hash, bodyHash: sha256(hashes.join()) }, body);
    },
    load(bytes) {
      const { header, body } = decodeSnapshot(bytes);
      const { head, at, hash, bodyHash } = header;
      if (sha256([...chunkHashes(sha256, body)].join()) !== bodyHash)
        throw new CodedError<LogErrorCode>("snapshot_invalid", `the snapshot at ${head.seq} does not have its hash`);
      return { head, at, hash, state: decodeState(machine, body) };
    },
  };
}

function decodeState<State, Command, Result>(machine: Machine<State, Command, Result>, body: Uint8Array): State {
  try {
    return machine.decode(body);
  } catch (error) {
    // What the machine says of it by name is the whole message: a version that it does not know, first of all.
    const why = error instanceof CodedError ? `: ${error.message}` : "";
    throw new CodedError<LogErrorCode>("snapshot_invalid", `the machine cannot read its part of the snapshot${why}`, {}, error);
  }
}

function applyKnown<State, Command, Result>(
  machine: Machine<State, Command, Result>,
  state: State,
  command: JsonObject,
  entry: LogEntry,
): { readonly state: State; readonly result: Result } {
  try {
    return machine.apply(state, command as Command, entry.at);
  } catch (error) {
    const kind = typeof command["kind"] === "string" ? ` (${command["kind"]})` : "";
    throw stop("log_version", `a command${kind} of entry ${entry.seq} cannot be applied by this version`, entry, error);
  }
}

function stop(code: LogErrorCode, message: string, { seq, batchId }: LogEntry, cause?: unknown): CodedError<LogErrorCode> {
  return new CodedError(code, message, { seq, batchId }, cause);
}
