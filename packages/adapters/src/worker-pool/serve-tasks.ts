import { parentPort, workerData } from "node:worker_threads";
import { checkArgument } from "@seneschal/kernel";
import { BEGUN, GENERATION, type SentMessage, type SentOutcome, type WorkerStart } from "./messages.ts";

/** After so many milliseconds what is done is sent, though more tasks of the same message are left. */
const SEND_AFTER = 5;

/** The settings that the pool was opened with; for the module of a worker. */
export function workerSettings<Settings>(): Settings {
  return (workerData as WorkerStart).settings as Settings;
}

/** Does a pool's tasks, one after the other: called once by the module of a worker. */
export function serveTasks<Input, Output>(work: (input: Input) => Output | Promise<Output>): void {
  checkArgument("work", work, "function");
  const { shared } = workerData as WorkerStart;
  const serve = async ({ generation, tasks }: SentMessage): Promise<void> => {
    let outcomes: SentOutcome[] = [];
    let since = performance.now();
    for (const [number, input] of tasks) {
      if (Atomics.load(shared, GENERATION) !== generation) break;
      Atomics.store(shared, BEGUN, number);
      try {
        const output = work(input as Input);
        outcomes.push([number, output instanceof Promise ? await output : output]);
      } catch (error) {
        outcomes.push([number, undefined, error instanceof Error ? `${error.message}: ${String(error.cause)}` : String(error)]);
      }
      if (performance.now() - since > SEND_AFTER) {
        parentPort?.postMessage(outcomes);
        outcomes = [];
        since = performance.now();
      }
    }
    if (outcomes.length > 0) parentPort?.postMessage(outcomes);
  };
  let last = Promise.resolve();
  parentPort?.on("message", (message: SentMessage) => {
    last = last.then(() => serve(message));
  });
  // Nothing done: that there is somebody who could.
  parentPort?.postMessage([]);
}
