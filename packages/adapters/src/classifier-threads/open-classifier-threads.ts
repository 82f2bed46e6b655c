import {
  type ClassificationAnswer,
  type ClassificationTask,
  type ConfiguredRecogniser,
  governanceError,
  type TaskClassifier,
  type TierPolicy,
} from "@seneschal/core/governance";
import { Piscina } from "piscina";

/** What the classifiers of all threads have in common: plain data. */
export interface ClassifierSettings {
  readonly policy: TierPolicy;
  /** In addition to the built-in ones. */
  readonly recognisers: readonly ConfiguredRecogniser[];
  /** Whether SQL is parsed; else it is read as text. */
  readonly sql: boolean;
}

/** What a thread makes of one task. */
export type Outcome = { readonly answer: ClassificationAnswer } | { readonly failure: string };

interface Waiting {
  readonly task: ClassificationTask;
  readonly resolve: (answer: ClassificationAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/** Messages that one thread has in hand. The next are there when it has answered one. */
const IN_HAND = 4;

/**
 * Classifies in worker threads, so that a long text keeps nobody else waiting. The tasks of one turn of the event loop go as one message, as sending costs as much
 * as a short text. A thread that ends is replaced; what it had in hand is rejected with `classification_failed`.
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
  const pool = new Piscina<ClassificationTask[], Outcome[]>({
    filename: new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url).href,
    minThreads: threads,
    maxThreads: threads,
    concurrentTasksPerWorker: IN_HAND,
    // A thread that waits on a lock cannot be told to end.
    atomics: "disabled",
    recordTiming: false,
    workerData: settings,
  });
  // What a thread had in hand is rejected too; this is for one that ends while it has nothing.
  pool.on("error", () => undefined);
  let waiting: Waiting[] = [];

  const send = async (): Promise<void> => {
    const sent = waiting;
    waiting = [];
    try {
      const outcomes = await pool.run(sent.map(({ task }) => task));
      for (const [i, { resolve, reject }] of sent.entries()) {
        const outcome = outcomes[i];
        if (outcome !== undefined && "answer" in outcome) resolve(outcome.answer);
        else reject(failed(outcome?.failure));
      }
    } catch (error) {
      for (const { reject } of sent) reject(failed(error));
    }
  };

  return {
    answer(task) {
      return new Promise((resolve, reject) => {
        waiting.push({ task, resolve, reject });
        if (waiting.length === 1) setImmediate(() => void send());
      });
    },
    close: () => pool.destroy(),
  };
}

function failed(cause: unknown): Error {
  return governanceError("classification_failed", "the text could not be classified", {}, cause);
}
