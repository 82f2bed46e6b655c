import type { EntryOutcome, TranscriptWork } from "@seneschal/crypto/custody";
import { type CrkWithShares, Share, type ThresholdWork } from "@seneschal/crypto/threshold";
import { CodedError, checkOptions, isCoded } from "@seneschal/kernel";
import type { Random, WorkerPoolState } from "@seneschal/kernel/ports";
import { openWorkerPool } from "../worker-pool/index.ts";
import { type SentMaterial, type ThresholdOutcome, type ThresholdTask, UNKNOWN_HEAD } from "./messages.ts";

export interface ThresholdThreadsOptions {
  /** Makes what the workers draw from. */
  readonly random: Random;
  /** At most. Default 2. */
  readonly threads?: number;
  /** Milliseconds that one piece of work may take. Default 60000. */
  readonly deadline?: number;
}

/** Threshold work, and that with transcripts, whose threads can be looked at. */
export interface ThresholdThreads extends ThresholdWork, TranscriptWork {
  state(): WorkerPoolState;
  close(): Promise<void>;
}

/** Bytes for one scalar or nonce, and what a set and a round draw besides. */
const PIECE = 64;

/**
 * Work with root keys, shares and custodians' transcripts in worker threads. One organisation has one piece of work under way at a time, and a few waiting. The random bytes come from the caller's
 * generator, not from the thread's.
 *
 * @example
 * ```ts
 * import { systemRandom } from "@seneschal/adapters/system";
 * import { openThresholdThreads } from "@seneschal/adapters/threshold-threads";
 * const threads = openThresholdThreads({ random: systemRandom });
 * const { crk, shares } = await threads.dealCrk({ threshold: 3, total: 5 }, "acme");
 * console.log(crk.total, shares.length); // 5 5
 * await threads.close();
 * ```
 */
export function openThresholdThreads(options: ThresholdThreadsOptions): ThresholdThreads {
  checkOptions("options", options, { random: "function", threads: "number?", deadline: "number?" });
  const { random, threads = 2, deadline = 60_000 } = options;
  const pool = openWorkerPool<ThresholdTask, ThresholdOutcome>({
    name: "threshold",
    module: new URL("./worker", import.meta.url),
    workers: threads,
    deadline,
    waitingPerOwner: 8,
    idle: 60_000,
  });
  const run = async <T>(task: ThresholdTask, owner: string): Promise<T> => {
    try {
      const outcome = await pool.run(task, owner);
      if ("value" in outcome) return outcome.value as T;
      throw new CodedError(outcome.code, outcome.message, outcome.details);
    } catch (error) {
      if (!isCoded(error, "deadline_exceeded")) throw error;
      throw new CodedError("service_unavailable", "the work with so many shares takes too long", { retry_after: 60 }, error);
    } finally {
      if ("random" in task) task.random.fill(0);
    }
  };
  const material = async (task: ThresholdTask, owner: string): Promise<CrkWithShares> => {
    const { crk, shares } = await run<SentMaterial>(task, owner);
    const read = shares.map((bytes) => Share.fromBytes(bytes));
    for (const bytes of shares) bytes.fill(0);
    return { crk, shares: read };
  };
  return {
    dealCrk: (to, owner) => material({ kind: "deal", to, random: random(PIECE * (to.threshold + 4)) }, owner),
    reshareWithShares: (crk, shares, to, owner) =>
      material({ kind: "reshare", crk, shares, to, random: random(PIECE * (to.threshold + 4)) }, owner),
    signWithShares: (crk, shares, message, owner) =>
      run({ kind: "sign", crk, shares, message, random: random(PIECE * (2 * crk.threshold + 4)) }, owner),
    inspectShares: (crk, shares, owner) => run({ kind: "inspect", crk, shares }, owner),
    acceptsCommitment: (crk, present, commitment, owner) => run({ kind: "accepts_commitment", crk, present, commitment }, owner),
    acceptsSignatureShare: (crk, round, commitments, part, owner) =>
      run({ kind: "accepts_share", crk, round, commitments, part }, owner),
    aggregateSignature: (crk, round, commitments, parts, owner) =>
      run({ kind: "aggregate", crk, round, commitments, parts }, owner),
    async admitEntry(behind, entry, owner) {
      const task = { kind: "admit_entry", head: behind?.head, entry } as const;
      const outcome = await run<EntryOutcome | typeof UNKNOWN_HEAD>({ ...task, entries: undefined }, owner);
      if (outcome !== UNKNOWN_HEAD) return outcome;
      return run<EntryOutcome>({ ...task, entries: await behind?.entries() }, owner);
    },
    state: pool.state,
    close: pool.close,
  };
}
