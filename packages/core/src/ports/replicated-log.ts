import type { JsonObject } from "../json.ts";

export interface LogHead {
  /** 0 before the first entry. */
  readonly seq: number;
  readonly batchId: string;
}

/** One batch of accepted commands. `at` is milliseconds since the epoch, non-decreasing over the log. */
export interface LogEntry {
  readonly v: number;
  readonly seq: number;
  readonly batchId: string;
  /** Hex SHA-256 of the previous entry's canonical JSON; "" for the first. */
  readonly prevHash: string;
  readonly at: number;
  readonly commands: readonly JsonObject[];
}

export type AppendResult =
  | { readonly ok: true; readonly head: LogHead }
  | { readonly ok: false; readonly head: LogHead; readonly tail: readonly LogEntry[] };

export interface LogSnapshot {
  readonly seq: number;
  readonly bytes: Uint8Array;
}

export interface LogStatus {
  readonly available: boolean;
  readonly head: LogHead;
  readonly role: "leader" | "follower" | "candidate";
  readonly term: number;
  readonly leaderId: string;
  readonly members: readonly string[];
  /** Bytes that the log and its snapshots take, and the limit, where known. */
  readonly sizeBytes?: number;
  readonly quotaBytes?: number;
}

/**
 * An ordered log that several processes agree on. Hard quotas and cluster state ride on it.
 *
 * Laws:
 * - `append(expectHead, entry)` succeeds only if the head is still `expectHead` (compared by seq **and** batchId);
 *   otherwise nothing is written and the tail behind `expectHead` comes back. At most once, whatever is lost on the way.
 * - an append whose outcome cannot be settled within the total time-out throws code `outcome_unknown`.
 * - `read` is linearizable: it sees every append that was acknowledged anywhere before it began. Without a quorum it
 *   throws `no_quorum`; it never answers from stale state.
 * - seq is dense from 1; an entry is never rewritten. A reader below the truncation gets `log_truncated` and starts
 *   from the snapshot.
 * - `subscribe` is a wake-up only; read by sequence.
 */
export interface ReplicatedLog {
  read(
    afterSeq: number,
    options: { readonly limit: number },
  ): Promise<{ readonly head: LogHead; readonly entries: readonly LogEntry[] }>;
  append(expectHead: LogHead, entry: LogEntry): Promise<AppendResult>;
  saveSnapshot(seq: number, bytes: Uint8Array): Promise<void>;
  loadSnapshot(): Promise<LogSnapshot | undefined>;
  /** Drops entries up to and including `throughSeq`; refused (`snapshot_missing`) when no snapshot covers them. */
  truncate(throughSeq: number): Promise<void>;
  subscribe(afterSeq: number, callback: () => void): () => void;
  status(): Promise<LogStatus>;
  close(): Promise<void>;
}
