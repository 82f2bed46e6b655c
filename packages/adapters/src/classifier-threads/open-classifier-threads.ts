import {
  type ClassificationAnswer,
  type ColumnClassifier,
  type ColumnReport,
  type ConfiguredRecogniser,
  type Enforcement,
  governanceError,
  heard,
  type QueryReads,
  type Redacted,
  type Redactor,
  type SqlEnforcer,
  type SqlReader,
  type SqlReading,
  type TaskClassifier,
  type TierPolicy,
  type Unheard,
  unreadable,
} from "@seneschal/governance";
import { CodedError, checkArgument, checkOptions, isCoded } from "@seneschal/kernel";
import type { EntityRecogniser, WorkerPoolState } from "@seneschal/kernel/ports";
import { openWorkerPool } from "../worker-pool/index.ts";
import { type Refusal, readAnswer, writeColumn, writeEnforcement, writeQuestion, writeRedaction, writeTask } from "./messages.ts";

/** What the classifiers of all threads have in common: plain data. */
export interface ClassifierSettings {
  readonly policy: TierPolicy;
  /** In addition to the built-in ones. */
  readonly recognisers: readonly ConfiguredRecogniser[];
  /** Whether SQL is parsed; else it is read as text. */
  readonly sql: boolean;
}

export interface ClassifierThreadsOptions {
  /** At most. */
  readonly threads: number;
  /** Milliseconds that one text may take; beyond, it counts as unreadable. Default 3000. */
  readonly deadline?: number;
  /** Texts of one owner that may wait. Default 256. */
  readonly waitingPerOwner?: number;
}

/** A classifier whose threads can be looked at. */
export interface ClassifierThreads extends TaskClassifier, ColumnClassifier, SqlReader, SqlEnforcer, Redactor {
  state(): WorkerPoolState;
}

const UNREAD = "the query could not be read";

/**
 * Classifies and redacts, and reads and rewrites SQL, in worker threads, so that a long text keeps nobody else waiting. A text that takes longer than the deadline is answered as {@link unreadable}: the highest tier,
 * with the reason. With a `recogniser` each text is searched with what it says, and it rejects as the recogniser does. What fails otherwise is rejected with `classification_failed`, what is beyond its owner's budget with `service_unavailable`.
 *
 * @example
 * ```ts
 * import { openClassifierThreads } from "@seneschal/adapters/classifier-threads";
 * import { DEFAULT_TIER_POLICY } from "@seneschal/governance";
 * const threads = openClassifierThreads({ threads: 1 }, { policy: DEFAULT_TIER_POLICY, recognisers: [], sql: true });
 * const answer = await threads.answer({ query: "my ssn is 536-22-8726", context: {} }, "acme");
 * console.log("result" in answer && answer.result.tier); // PROPRIETARY
 * await threads.close();
 * ```
 */
export function openClassifierThreads(
  options: ClassifierThreadsOptions,
  settings: ClassifierSettings,
  recogniser?: EntityRecogniser,
): ClassifierThreads {
  checkOptions("options", options, { threads: "number", deadline: "number?", waitingPerOwner: "number?" });
  checkArgument("settings", settings, "object");
  const { threads, deadline = 3000, waitingPerOwner = 256 } = options;
  const pool = openWorkerPool<string, string>({
    name: "classification",
    module: new URL("./worker", import.meta.url),
    settings,
    workers: threads,
    deadline,
    waitingPerOwner,
    batch: 64,
    inHand: 4,
  });
  /** What a thread made of a task, or why it refused it. */
  const done = async <Done extends object>(message: string, owner: string, failure: string): Promise<Done> => {
    const answer = await pool.run(message, owner).catch((error: unknown) => {
      if (isCoded(error, "service_unavailable")) throw error;
      throw governanceError("classification_failed", failure, {}, error);
    });
    const read = JSON.parse(answer) as Done | Refusal;
    if (!("refused" in read)) return read;
    const { code, message: reason, details } = read.refused;
    throw new CodedError(code, reason, details);
  };
  return {
    async answer(task, owner) {
      try {
        return await heard<ClassificationAnswer>(recogniser, owner, async (recognised) =>
          readAnswer<ClassificationAnswer | Unheard>(await pool.run(writeTask(task, recognised), owner)),
        );
      } catch (error) {
        if (isCoded(error, "service_unavailable", "classification_failed")) throw error;
        if (isCoded(error, "deadline_exceeded")) return { result: unreadable(settings.policy, "reading it takes too long") };
        throw governanceError("classification_failed", "the text could not be classified", {}, error);
      }
    },
    async classifyColumn(column, owner) {
      try {
        return await heard<ColumnReport>(
          recogniser,
          owner,
          async (recognised) => JSON.parse(await pool.run(writeColumn(column, recognised), owner)) as ColumnReport | Unheard,
        );
      } catch (error) {
        if (isCoded(error, "service_unavailable", "classification_failed")) throw error;
        if (isCoded(error, "deadline_exceeded"))
          return { column: "(name withheld)", ...unreadable(settings.policy, "reading it takes too long") };
        throw governanceError("classification_failed", "the column could not be classified", {}, error);
      }
    },
    async readSql(question, owner) {
      try {
        return readAnswer<SqlReading | null>(await pool.run(writeQuestion(question), owner));
      } catch (error) {
        if (isCoded(error, "deadline_exceeded")) return null;
        if (isCoded(error, "service_unavailable")) throw error;
        throw governanceError("classification_failed", "the SQL could not be read", {}, error);
      }
    },
    redact: (task, owner) =>
      heard<Redacted>(recogniser, owner, (recognised) =>
        done<Redacted | Unheard>(writeRedaction(task, recognised), owner, "the text could not be redacted"),
      ),
    async reads(task, owner) {
      checkArgument("task", task, "object");
      const { sql, dialect } = task;
      return done<QueryReads>(writeEnforcement({ sql, dialect }), owner, UNREAD);
    },
    enforce: async (task, owner) => done<Enforcement>(writeEnforcement(task), owner, UNREAD),
    state: pool.state,
    close: pool.close,
  };
}
