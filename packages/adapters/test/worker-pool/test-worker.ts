import { threadId } from "node:worker_threads";
import { serveTasks, workerSettings } from "../../src/worker-pool/index.ts";

/** What the tests ask of a worker. */
export type TestTask =
  | { readonly say: string }
  | { readonly spin: true }
  | { readonly fail: string }
  | { readonly exit: true }
  | { readonly wait: SharedArrayBuffer };

const { prefix, broken } = workerSettings<{ readonly prefix: string; readonly broken?: Int32Array }>();
if (broken !== undefined && Atomics.load(broken, 0) === 1) throw new Error("the module is broken");

serveTasks((task: TestTask) => {
  if ("spin" in task) for (;;);
  if ("fail" in task) throw new Error(task.fail);
  if ("exit" in task) process.exit(3);
  if ("wait" in task) Atomics.wait(new Int32Array(task.wait), 0, 0);
  return { text: "say" in task ? `${prefix}${task.say}` : "woken", threadId };
});
