/** A task on its way to a worker: its number, and what is asked. */
export type SentTask = readonly [number: number, input: unknown];

/** What a worker made of a task. An error's class and code do not cross from a thread. */
export type SentOutcome =
  | readonly [number: number, output: unknown]
  | readonly [number: number, output: undefined, failure: string];

/** What a worker is started with. */
export interface WorkerStart {
  readonly settings: unknown;
  /** One word: the number of the task that the worker has begun last. Read by the pool, which must tell the task that hangs from those behind it. */
  readonly begun: Int32Array;
}
