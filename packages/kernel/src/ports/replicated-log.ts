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

/**
 * What an append came to. Not ok: nothing was written; `tail` holds entries behind the expected head, contiguous and in
 * order, maybe not all of them (read on), and none where they are truncated.
 */
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
  /** Bytes that the engine has taken from the disk, with what it could use again. */
  readonly allocatedBytes?: number;
  /** Entries that are not truncated. */
  readonly entries?: number;
}

/**
 * Why a log, or a replica on it, could not do something.
 *
 * - `invalid_entry`, `invalid_query`, `invalid_command`: the caller's mistake, nothing was sent.
 * - `outcome_unknown`: the append may or may not be applied; propose the same commands with the same ids again.
 * - `no_quorum`: the log cannot be reached or has no majority; nothing was decided.
 * - `log_full`: the log's storage is exhausted; reads, truncation and releases still work where the engine allows.
 * - `log_truncated`: the entries asked for are only in the snapshot. `snapshot_missing`, `snapshot_invalid`.
 * - `log_diverged`, `log_version`: a replica cannot reproduce the log and must stop.
 * - `log_closed`: `close` was called. `log_failed`: an earlier write failed; open the log again.
 * - `log_moved`: its content was moved to another place, which `details.to` names; `log_incomplete`: it is still being copied here from `details.from`.
 * - `log_misconfigured`: the engine cannot keep the laws, or refuses the credentials.
 */
export type LogErrorCode =
  | "invalid_entry"
  | "invalid_query"
  | "invalid_command"
  | "outcome_unknown"
  | "no_quorum"
  | "log_full"
  | "log_truncated"
  | "snapshot_missing"
  | "snapshot_invalid"
  | "log_diverged"
  | "log_version"
  | "log_closed"
  | "log_failed"
  | "log_moved"
  | "log_incomplete"
  | "log_misconfigured";

/** The most that one archived piece may hold. */
export const maxArchiveBytes = 1_000_000;

/**
 * An ordered log that several processes agree on. Hard quotas and cluster state ride on it.
 *
 * Laws (each is a test of the exported conformance suite):
 * - `append(expectHead, entry)` succeeds only if the head is still `expectHead` (compared by seq **and** batchId);
 *   otherwise nothing is written and the tail behind `expectHead` comes back. At most once, whatever is lost on the way;
 *   an append whose batch already is the entry behind `expectHead` is answered ok.
 * - an append whose outcome cannot be settled within the total time-out throws code `outcome_unknown`.
 * - `read` is linearizable: it sees every append that was acknowledged anywhere before it began. Without a quorum it
 *   throws `no_quorum`; it never answers from stale state. It may give fewer entries than `limit`, at least one if any.
 * - seq is dense from 1; an entry is never rewritten. A reader below the truncation gets `log_truncated` and starts
 *   from the snapshot.
 * - `loadSnapshot` gives the newest saved snapshot, whole, or `undefined`; an older one never replaces it. A snapshot
 *   beyond the head is refused (`invalid_query`).
 * - `archive` keeps bytes for good under a number (an integer from 0): written once, a later write of that number changes
 *   nothing and is answered ok; durable when it resolves. `archived` gives them from every handle, or `undefined`.
 *   Truncation leaves them alone. At most {@link maxArchiveBytes} each (`invalid_query`).
 * - `subscribe` calls back at least once after an append behind `afterSeq`; it is a wake-up only: read by sequence. Where
 *   the engine knows, it says which sequence the head has reached, so that a reader who is there need not read.
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
  archive(piece: number, bytes: Uint8Array): Promise<void>;
  archived(piece: number): Promise<Uint8Array | undefined>;
  subscribe(afterSeq: number, callback: (seq?: number) => void): () => void;
  status(): Promise<LogStatus>;
  /**
   * Reads the medium against its checksums: what is damaged, in words that name the place; empty when nothing is. Absent where the
   * medium is a server's affair.
   */
  inspect?(): Promise<readonly string[]>;
  close(): Promise<void>;
}
