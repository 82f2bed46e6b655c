import { setTimeout as wait } from "node:timers/promises";
import { CodedError, checkArgument, checkOptions, isCoded } from "@seneschal/kernel";
import type { LogErrorCode, ReplicatedLog } from "@seneschal/kernel/ports";

/** Options of {@link circuitBreaker}. */
export interface CircuitBreakerOptions {
  /** Between two questions to a log that did not answer. Default 500. */
  readonly probeMs?: number;
  /** The log stopped answering, or answers again. */
  readonly onChange?: (available: boolean) => void;
}

/** A log behind a {@link circuitBreaker}. */
export interface GuardedLog extends ReplicatedLog {
  /** False from a use that found no quorum until the log has answered again. */
  available(): boolean;
}

/**
 * Spares those who come later the wait of the first who finds no quorum: after `no_quorum` or `outcome_unknown` every use is refused at
 * once with `no_quorum`, and nothing is sent, until `status` says that the log is available. That is asked in the background, and an
 * answer to somebody else's `status` is as good. Whoever waited for what was sent before is told as ever.
 *
 * @example
 * ```ts
 * import { circuitBreaker } from "@seneschal/adapters/log";
 * import { createMemoryLog } from "@seneschal/adapters/memory";
 * const log = circuitBreaker(createMemoryLog().open()); // or what openEtcdLog gives
 * console.log(log.available()); // true
 * await log.close();
 * ```
 */
export function circuitBreaker(log: ReplicatedLog, options: CircuitBreakerOptions = {}): GuardedLog {
  checkOptions("options", options, { probeMs: "number?", onChange: "function?" });
  checkArgument("log", log, "object");
  const { probeMs = 500, onChange } = options;
  const closing = new AbortController();
  let open = false;
  let probing: Promise<void> = Promise.resolve();

  const close = (): void => {
    if (!open) return;
    open = false;
    onChange?.(true);
  };
  const probe = async (): Promise<void> => {
    while (open && !closing.signal.aborted) {
      const answer = await log.status().catch(() => undefined);
      if (answer?.available === true) return close();
      await wait(probeMs, undefined, { signal: closing.signal, ref: false }).catch(() => {});
    }
  };
  const trip = (): void => {
    if (open || closing.signal.aborted) return;
    open = true;
    onChange?.(false);
    probing = probing.then(probe);
  };
  const guarded =
    <A extends readonly unknown[], R>(use: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (open) throw new CodedError<LogErrorCode>("no_quorum", "the log did not answer with a quorum a moment ago");
      try {
        return await use(...args);
      } catch (error) {
        if (isCoded(error, "no_quorum", "outcome_unknown")) trip();
        throw error;
      }
    };

  return {
    read: guarded(log.read),
    append: guarded(log.append),
    saveSnapshot: guarded(log.saveSnapshot),
    loadSnapshot: guarded(log.loadSnapshot),
    truncate: guarded(log.truncate),
    archive: guarded(log.archive),
    archived: guarded(log.archived),
    subscribe: log.subscribe,
    ...(log.inspect === undefined ? {} : { inspect: log.inspect }),
    async status() {
      const status = await log.status();
      if (status.available) close();
      else trip();
      return status;
    },
    available: () => !open,
    async close() {
      closing.abort();
      await probing;
      await log.close();
    },
  };
}
