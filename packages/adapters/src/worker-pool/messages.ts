/** A task on its way to a worker: its number, and what is asked. */
export type SentTask = readonly [number: number, input: unknown];

/** Tasks that are sent together. A worker begins none of a generation that is not the pool's any more: they were taken back. */
export interface SentMessage {
  readonly generation: number;
  readonly tasks: readonly SentTask[];
}

/** What a worker made of a task. An error's class and code do not cross from a thread. */
export type SentOutcome =
  | readonly [number: number, output: unknown]
  | readonly [number: number, output: undefined, failure: string];

/** The words of {@link WorkerStart.shared}. */
export const BEGUN = 0;
export const GENERATION = 1;

/** What a worker is started with. */
export interface WorkerStart {
  readonly settings: unknown;
  /** The number of the task that the worker has begun last: the pool must tell the task that hangs from those behind it. Then the generation of what it has to do. */
  readonly shared: Int32Array;
}
