import { governanceError, heard, type Recognised, type Unheard, unreadable } from "@seneschal/governance";
import { CodedError, checkArgument, checkOptions, isCoded } from "@seneschal/kernel";
import type { EntityRecogniser, WorkerPoolState } from "@seneschal/kernel/ports";
import type { ClassifierSettings } from "../classifier-threads/index.ts";
import type { RedactedFile, RestoredFile } from "../redact-files/index.ts";
import { openWorkerPool } from "../worker-pool/index.ts";
import type { ClassifiedFile, FileAnswer, FileTask } from "./run-file-task.ts";

export interface FileThreadsOptions {
  /** At most. */
  readonly threads: number;
  /** Milliseconds that one file may take. */
  readonly deadline: number;
  /** MiB of heap that a thread may have; what takes more ends it, and no other. */
  readonly heap: number;
  /** Files of one owner that may wait, and in all: they are held. */
  readonly waitingPerOwner: number;
  readonly waiting: number;
}

/** What a thread is sent: a file, and what a recogniser said of its texts so far. */
export interface AskedTask {
  readonly task: FileTask;
  readonly recognised: Recognised | undefined;
}

/** Texts of a file that a recogniser is asked about in one call. */
const BATCH = 64;
/** Seconds after which to ask again. */
const RETRY_AFTER = 5;

/** Files are classified and redacted in threads of their own. */
export interface FileThreads {
  /** A file that takes longer than the deadline is of the highest tier. */
  classify(task: Extract<FileTask, { readonly work: "classify" }>, owner: string): Promise<ClassifiedFile>;
  redact(task: Extract<FileTask, { readonly work: "redact" }>, owner: string): Promise<RedactedFile>;
  restore(task: Extract<FileTask, { readonly work: "restore" }>, owner: string): Promise<RestoredFile>;
  state(): WorkerPoolState;
  close(): Promise<void>;
}

/**
 * Classifies, redacts and restores whole files in worker threads, apart from the texts of others. A thread is started with the first file and ended when there is none for a minute. With a `recogniser` each text of a file (a cell, a member, a page) is
 * searched with what it says; a file about which it does not answer, or not within the deadline, rejects with `service_unavailable`. What is wrong with a file rejects with
 * `validation_failed` or `file_invalid`; what is beyond its owner's budget with `service_unavailable`; what fails otherwise, or takes too long or too much memory, with `classification_failed`.
 *
 * @example
 * ```ts
 * import { openFileThreads } from "@seneschal/adapters/file-threads";
 * import { DEFAULT_TIER_POLICY } from "@seneschal/governance";
 * const limits = { threads: 1, deadline: 30_000, heap: 512, waitingPerOwner: 4, waiting: 16 };
 * const files = openFileThreads(limits, { policy: DEFAULT_TIER_POLICY, recognisers: [], sql: false });
 * const bytes = new TextEncoder().encode("city,contact\nBern,ada@example.org\n");
 * const { tier } = await files.classify({ work: "classify", format: "csv", bytes, about: "" }, "acme");
 * console.log(tier); // CONFIDENTIAL
 * await files.close();
 * ```
 */
export function openFileThreads(
  options: FileThreadsOptions,
  settings: ClassifierSettings,
  recogniser?: EntityRecogniser,
): FileThreads {
  checkOptions("options", options, {
    threads: "number",
    deadline: "number",
    heap: "number",
    waitingPerOwner: "number",
    waiting: "number",
  });
  checkArgument("settings", settings, "object");
  const { threads, deadline, heap, waitingPerOwner, waiting } = options;
  /** Files that one owner, and all together, may have here. The pool refuses none of them: until its first thread runs all of them wait there. */
  const most = { own: waitingPerOwner + threads, all: waiting + threads };
  const pool = openWorkerPool<AskedTask, FileAnswer | Unheard>({
    name: "files",
    module: new URL("./worker", import.meta.url),
    settings,
    workers: threads,
    deadline,
    waitingPerOwner: most.own,
    waiting: most.all,
    heap,
    idle: 60_000,
  });
  /** Files that are worked off, wait, or are asked about: they are held. */
  const held = new Map<string, number>();
  const work = async <Done extends FileAnswer>(task: FileTask, owner: string): Promise<Exclude<Done, { refused: unknown }>> =>
    heard(asked(recogniser, deadline), owner, async (recognised) => {
      const answer = await pool.run({ task, recognised }, owner);
      if (!("refused" in answer)) return answer as Exclude<Done, { refused: unknown }> | Unheard;
      const { code, message, details } = answer.refused;
      throw new CodedError(code, message, details);
    });
  const done = async <Done extends FileAnswer>(task: FileTask, owner: string): Promise<Exclude<Done, { refused: unknown }>> => {
    checkArgument("task", task, "object");
    const own = held.get(owner) ?? 0;
    const all = [...held.values()].reduce((sum, count) => sum + count, 0);
    if (own >= most.own || all >= most.all) throw unavailable("too many files wait: try again");
    held.set(owner, own + 1);
    try {
      return await work<Done>(task, owner);
    } finally {
      const left = (held.get(owner) ?? 1) - 1;
      if (left === 0) held.delete(owner);
      else held.set(owner, left);
    }
  };
  const failed = (error: unknown): never => {
    if (isCoded(error, "deadline_exceeded", "worker_failed"))
      throw governanceError("classification_failed", "the file could not be worked off", {}, error);
    throw error;
  };
  return {
    async classify(task, owner) {
      try {
        return await done<ClassifiedFile>(task, owner);
      } catch (error) {
        if (!isCoded(error, "deadline_exceeded")) return failed(error);
        const why = "reading it takes too long";
        const { tier, tags } = unreadable(settings.policy, why);
        return { tier, tags, unread: [`the file: ${why}`] };
      }
    },
    redact: (task, owner) => done<RedactedFile>(task, owner).catch(failed),
    restore: (task, owner) => done<RestoredFile>(task, owner).catch(failed),
    state: pool.state,
    close: pool.close,
  };
}

/** A recogniser that is asked about the many texts of one file by and by, for as long as the file may take. */
function asked(recogniser: EntityRecogniser | undefined, deadline: number): EntityRecogniser | undefined {
  if (recogniser === undefined) return undefined;
  const until = performance.now() + deadline;
  return {
    name: recogniser.name,
    entities: recogniser.entities,
    async recognise(texts, owner) {
      const answers: Awaited<ReturnType<EntityRecogniser["recognise"]>>[number][] = [];
      for (let at = 0; at < texts.length; at += BATCH) {
        if (performance.now() > until) throw unavailable("asking the recogniser about the file takes too long");
        answers.push(...(await recogniser.recognise(texts.slice(at, at + BATCH), owner)));
      }
      return answers;
    },
    close: async () => undefined,
  };
}

function unavailable(message: string): CodedError {
  return new CodedError("service_unavailable", message, { retry_after: RETRY_AFTER });
}
