/** A process that nothing but its pool holds: it says what became of tasks behind one that never ends and one that ends its thread. */
import { openWorkerPool } from "../../src/worker-pool/index.ts";
import type { TestTask } from "./test-worker.ts";

const pool = openWorkerPool<TestTask, { readonly text: string }>({
  name: "test",
  module: new URL("./test-worker", import.meta.url),
  settings: { prefix: "> " },
  workers: 1,
  deadline: 300,
  waitingPerOwner: 100,
  batch: 8,
});
for (const first of [{ spin: true }, { exit: true }] as const) {
  const done = await Promise.allSettled([pool.run(first, "a"), pool.run({ say: "behind" }, "b"), pool.run({ say: "last" }, "a")]);
  console.log(...done.map((one) => (one.status === "fulfilled" ? one.value.text : one.reason.code)));
}
