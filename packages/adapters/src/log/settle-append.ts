import { setTimeout as wait } from "node:timers/promises";
import { CodedError } from "@seneschal/kernel";
import type { AppendResult, LogEntry, LogErrorCode, LogHead } from "@seneschal/kernel/ports";

/**
 * What an error says about the attempt it ended.
 *
 * - `not_sent`: it never left this process; nothing happened.
 * - `ambiguous`: it may have been applied, or may still be.
 * - `full`: the engine has no room; whether this attempt got in is for a read to say.
 * - `definite`: refused; nothing happened, and trying again will not help.
 */
export type AttemptError = "not_sent" | "ambiguous" | "full" | "definite";

/** The engine's part of an append. */
export interface AppendAttempts {
  /** Sends the transaction, always the identical one, and waits for so long at most. */
  readonly attempt: (leftMs: number) => Promise<AppendResult>;
  /** Reads head and tail behind the expected head, linearizably. */
  readonly look: () => Promise<{ readonly head: LogHead; readonly tail: readonly LogEntry[] }>;
  readonly classify: (error: unknown) => AttemptError;
  readonly totalMs: number;
  /** The first pause between attempts; it grows tenfold. Default 10. */
  readonly pauseMs?: number;
}

/**
 * Appends at most once over a connection that may lose requests and replies: re-sends the identical transaction until
 * there is an answer or the time is up. The comparison of the head makes a second application impossible, and the entry
 * behind the expected head tells whether it was ours.
 *
 * A definite error never settles an earlier ambiguous attempt: then only the log itself, read afterwards, can.
 *
 * @throws CodedError what an attempt throws as such, `no_quorum` (nothing was ever sent), `outcome_unknown`, `log_full`, `log_misconfigured`.
 */
export async function settleAppend(
  expectHead: LogHead,
  entry: LogEntry,
  { attempt, look, classify, totalMs, pauseMs = 10 }: AppendAttempts,
): Promise<AppendResult> {
  const deadline = Date.now() + totalMs;
  let open = false;
  for (let attempts = 0; ; attempts += 1) {
    try {
      return answerOf(expectHead, entry, await attempt(Math.max(1, deadline - Date.now())));
    } catch (error) {
      // A migration's mark is no head that an attempt could have met: this one was not applied.
      if (error instanceof CodedError && !open) throw error;
      const kind = classify(error);
      if (kind === "ambiguous") open = true;
      if (kind === "definite" || kind === "full") {
        const moved = await lookAgain(expectHead, entry, look);
        if (moved !== undefined) return moved;
        if (open) throw failure("outcome_unknown", "an earlier attempt may still be applied", error);
        if (kind === "definite") throw failure("log_misconfigured", "the log refused the append", error);
        throw failure("log_full", "the log's storage is exhausted", error);
      }
      if (Date.now() >= deadline) {
        if (open) throw failure("outcome_unknown", `no answer within ${totalMs} ms`, error);
        throw failure("no_quorum", `the log cannot be reached within ${totalMs} ms`, error);
      }
      await wait(pauseMs * Math.min(10, 2 ** Math.min(attempts, 4)) * (0.5 + Math.random() / 2));
    }
  }
}

/** A head that moved because of this very entry is a success. */
function answerOf(expectHead: LogHead, entry: LogEntry, result: AppendResult): AppendResult {
  if (result.ok) return result;
  const [next] = result.tail;
  if (next?.seq === expectHead.seq + 1 && next.batchId === entry.batchId)
    return { ok: true, head: { seq: entry.seq, batchId: entry.batchId } };
  return result;
}

async function lookAgain(expectHead: LogHead, entry: LogEntry, look: AppendAttempts["look"]): Promise<AppendResult | undefined> {
  try {
    const { head, tail } = await look();
    if (head.seq === expectHead.seq && head.batchId === expectHead.batchId) return undefined;
    return answerOf(expectHead, entry, { ok: false, head, tail });
  } catch (error) {
    throw failure("outcome_unknown", "the outcome could not be read", error);
  }
}

function failure(code: LogErrorCode, message: string, cause: unknown): CodedError<LogErrorCode> {
  return new CodedError(code, message, {}, cause);
}
