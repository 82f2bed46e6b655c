/** What a pool of workers is doing. Counts of the past only grow. */
export interface WorkerPoolState {
  readonly name: string;
  /** Workers that run, and those of them that have work. */
  readonly workers: number;
  readonly busy: number;
  /** Tasks that no worker has yet. */
  readonly waiting: number;
  readonly done: number;
  /** Tasks that were given up at their deadline. */
  readonly deadlines: number;
  /** Workers that ended, or were ended, with work in hand. */
  readonly replaced: number;
  /** Tasks that were refused because a budget was used up. */
  readonly refused: number;
  /** Workers that could not be started: their module did not load. */
  readonly unstarted: number;
  /** Tasks wait, and for longer than a deadline none was done. */
  readonly stuck: boolean;
  /** The last worker that was to be started was not: the next one is tried later. */
  readonly failing: boolean;
}

/**
 * Work beside the thread that serves. `owner` is whose budget a task is charged to, usually an organisation.
 *
 * Laws: a task that never ends is given up at the pool's deadline and costs no other task its answer; the tasks of one owner
 * never take the last worker from the others, where there are two or more; a task beyond its owner's budget is rejected with
 * `service_unavailable` and `retry_after`, whatever other owners have waiting; tasks are repeatable, as one may be begun again on another worker.
 */
export interface WorkerPool<Input, Output> {
  /** Rejects with `service_unavailable`, with `deadline_exceeded`, or with `worker_failed`, whose cause is what the worker said. */
  run(input: Input, owner: string): Promise<Output>;
  state(): WorkerPoolState;
  /** Rejects what is under way and ends the workers. */
  close(): Promise<void>;
}

/** Why a pool did not do a task. Closed. */
export type WorkerPoolErrorCode = "service_unavailable" | "deadline_exceeded" | "worker_failed";
