import { Worker } from "node:worker_threads";
import {
  type ClassificationAnswer,
  type ClassificationTask,
  type ConfiguredRecogniser,
  governanceError,
  type TaskClassifier,
  type TierPolicy,
} from "@seneschal/core/governance";
import { readOutcomes, writeTasks } from "./messages.ts";

/** What the classifiers of all threads have in common: plain data. */
export interface ClassifierSettings {
  readonly policy: TierPolicy;
  /** In addition to the built-in ones. */
  readonly recognisers: readonly ConfiguredRecogniser[];
  /** Whether SQL is parsed; else it is read as text. */
  readonly sql: boolean;
}

interface Waiting {
  readonly task: ClassificationTask;
  readonly resolve: (answer: ClassificationAnswer) => void;
  readonly reject: (error: unknown) => void;
}

interface Thread {
  readonly worker: Worker;
  /** What was sent and not yet answered, a batch per message. Answers come in this order. */
  readonly inHand: (readonly Waiting[])[];
}

/** Messages that one thread has in hand. The next are there when it has answered one. */
const IN_HAND = 4;

/**
 * Classifies in worker threads, so that a long text keeps nobody else waiting. The tasks of one turn of the event loop go as one message, as sending costs as much
 * as a short text; while all threads are busy tasks gather. What a thread had in hand when it ends is rejected with `classification_failed`; the next task starts another one.
 * The process lives until `close`.
 *
 * @example
 * ```ts
 * import { openClassifierThreads } from "@seneschal/adapters/classifier-threads";
 * import { DEFAULT_TIER_POLICY } from "@seneschal/core/governance";
 * const threads = openClassifierThreads(1, { policy: DEFAULT_TIER_POLICY, recognisers: [], sql: true });
 * const answer = await threads.answer({ query: "my ssn is 536-22-8726", context: {} });
 * console.log("result" in answer && answer.result.tier); // PROPRIETARY
 * await threads.close();
 * ```
 */
export function openClassifierThreads(threads: number, settings: ClassifierSettings): TaskClassifier {
  const file = new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url);
  const running = new Set<Thread>();
  let waiting: Waiting[] = [];
  let closed = false;

  const start = (): Thread => {
    const thread: Thread = { worker: new Worker(file, { workerData: settings }), inHand: [] };
    let cause: unknown;
    thread.worker
      .on("message", (message: string) => {
        const outcomes = readOutcomes(message);
        for (const [i, { resolve, reject }] of (thread.inHand.shift() ?? []).entries()) {
          const outcome = outcomes[i];
          if (outcome !== undefined && "answer" in outcome) resolve(outcome.answer);
          else reject(failed(outcome?.failure));
        }
        send();
      })
      .on("error", (error) => {
        cause = error;
      })
      .on("exit", () => {
        running.delete(thread);
        for (const batch of thread.inHand.splice(0)) refuse(batch, cause);
        send();
      });
    running.add(thread);
    return thread;
  };
  const send = (): void => {
    if (waiting.length === 0) return;
    const [idlest] = [...running].sort((one, other) => one.inHand.length - other.inHand.length);
    if (running.size === threads && idlest?.inHand.length === IN_HAND) return;
    const batch = waiting;
    waiting = [];
    try {
      // Where a thread cannot be started its tasks are refused; the service stays.
      const thread = idlest === undefined || running.size < threads ? start() : idlest;
      thread.worker.postMessage(writeTasks(batch.map(({ task }) => task)));
      thread.inHand.push(batch);
    } catch (error) {
      refuse(batch, error);
    }
  };

  while (running.size < threads) start();
  return {
    answer(task) {
      if (closed) return Promise.reject(failed("closed"));
      return new Promise((resolve, reject) => {
        waiting.push({ task, resolve, reject });
        if (waiting.length === 1) setImmediate(send);
      });
    },
    async close() {
      closed = true;
      refuse(waiting.splice(0), "closed");
      await Promise.all([...running].map(({ worker }) => worker.terminate()));
    },
  };
}

function refuse(batch: readonly Waiting[], cause: unknown): void {
  for (const { reject } of batch) reject(failed(cause));
}

function failed(cause: unknown): Error {
  return governanceError("classification_failed", "the text could not be classified", {}, cause);
}
