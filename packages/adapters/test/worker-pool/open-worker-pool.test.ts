import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { threadId } from "node:worker_threads";
import { afterEach, describe, expect, test } from "vitest";
import { sourceCommand } from "../../../../tools/source-options.ts";
import { openWorkerPool, type WorkerPoolOptions } from "../../src/worker-pool/index.ts";
import type { TestTask } from "./test-worker.ts";

interface Said {
  readonly text: string;
  readonly threadId: number;
}

const module = new URL("./test-worker", import.meta.url);
const settings = { prefix: "> " };
let close: () => Promise<void>;

function open(more: Partial<WorkerPoolOptions> = {}) {
  const pool = openWorkerPool<TestTask, Said>({
    name: "test",
    module,
    settings,
    workers: 2,
    deadline: 300,
    waitingPerOwner: 100,
    ...more,
  });
  close = pool.close;
  return pool;
}

/** A task that lasts until `wake`. */
function held() {
  const wait = new SharedArrayBuffer(4);
  const cell = new Int32Array(wait);
  return {
    task: { wait },
    wake() {
      Atomics.store(cell, 0, 1);
      Atomics.notify(cell, 0);
    },
  };
}

describe("a worker pool", () => {
  afterEach(() => close());

  test("works on another thread, with the settings it was opened with, and answers each what it asked", async () => {
    const pool = open({ batch: 8, inHand: 2 });
    const said = await Promise.all(Array.from({ length: 50 }, (_, i) => pool.run({ say: String(i) }, `org-${i % 7}`)));
    expect(said.map(({ text }) => text)).toEqual(Array.from({ length: 50 }, (_, i) => `> ${i}`));
    expect(said.every((one) => one.threadId !== threadId)).toBe(true);
  });

  test("a task that never ends is given up with its thread; what was behind it in the same message is done by another", async () => {
    const pool = open({ workers: 1, batch: 8 });
    const [before, hostile, ...after] = await Promise.allSettled([
      pool.run({ say: "before" }, "a"),
      pool.run({ spin: true }, "b"),
      pool.run({ say: "after" }, "c"),
      pool.run({ say: "more" }, "b"),
    ]);
    expect(hostile).toMatchObject({ status: "rejected", reason: { code: "deadline_exceeded" } });
    expect([before, ...after].map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled"]);
    expect(pool.state()).toMatchObject({ deadlines: 1, replaced: 1, waiting: 0, stuck: false });
    expect(await pool.run({ say: "again" }, "b")).toMatchObject({ text: "> again" });
  });

  test("the tasks of one owner leave a thread to the others", async () => {
    const pool = open({ deadline: 60_000 });
    const flood = Array.from({ length: 20 }, held);
    const slow = flood.map(({ task }) => pool.run(task, "flood"));
    expect(await pool.run({ say: "in time" }, "other")).toMatchObject({ text: "> in time" });
    expect(pool.state()).toMatchObject({ workers: 2, busy: 1, waiting: 19 });
    for (const { wake } of flood) wake();
    expect(await Promise.all(slow)).toHaveLength(20);
  });

  test("what is behind another owner's long task, in its message or in its thread, is done while that one lasts, and what it did before is answered", async () => {
    const pool = open({ deadline: 60_000, batch: 8, inHand: 4 });
    const { task, wake } = held();
    const first = pool.run({ say: "done before" }, "early");
    const slow = pool.run(task, "dear");
    const same = pool.run({ say: "same message" }, "other");
    // The next turn's message goes to the same thread: there is no other yet.
    await new Promise(setImmediate);
    const next = pool.run({ say: "next message" }, "third");
    expect((await Promise.all([first, same, next])).map(({ text }) => text)).toEqual([
      ...["> done before", "> same message", "> next message"],
    ]);
    wake();
    expect(await slow).toMatchObject({ text: "woken" });
    expect(pool.state()).toMatchObject({ done: 4, deadlines: 0, replaced: 0, waiting: 0 });
    expect(await Promise.all(Array.from({ length: 9 }, (_, i) => pool.run({ say: `${i}` }, `org-${i}`)))).toHaveLength(9);
  });

  test("an owner with too much waiting is told when to come again; another owner is served", async () => {
    const pool = open({ deadline: 60_000, waitingPerOwner: 3 });
    const { task, wake } = held();
    const first = pool.run(task, "flood");
    await pool.run({ say: "begun" }, "other");
    const kept = Array.from({ length: 3 }, () => pool.run({ say: "kept" }, "flood"));
    await expect(pool.run({ say: "one too many" }, "flood")).rejects.toMatchObject({
      code: "service_unavailable",
      details: { retry_after: 60 },
    });
    expect(await pool.run({ say: "mine" }, "other")).toMatchObject({ text: "> mine" });
    expect(pool.state().refused).toBe(1);
    wake();
    await Promise.all([first, ...kept]);
  });

  test("a task that fails costs itself only", async () => {
    const pool = open({ batch: 8 });
    const [failed, fine] = await Promise.allSettled([pool.run({ fail: "no" }, "a"), pool.run({ say: "yes" }, "a")]);
    expect(failed).toMatchObject({ reason: { code: "worker_failed", cause: expect.stringContaining("no") } });
    expect(fine.status).toBe("fulfilled");
  });

  test("a task that ends its worker costs itself only, and so does what cannot be sent", async () => {
    const pool = open({ workers: 1, batch: 8 });
    const [ends, fine] = await Promise.allSettled([pool.run({ exit: true }, "a"), pool.run({ say: "yes" }, "a")]);
    expect(ends).toMatchObject({ reason: { code: "worker_failed" } });
    expect(fine.status).toBe("fulfilled");
    await expect(pool.run({ say: (() => "") as never }, "a")).rejects.toMatchObject({ code: "worker_failed" });
    expect(await pool.run({ say: "still here" }, "a")).toMatchObject({ text: "> still here" });
  });

  test("is stuck while nothing that waits gets done, and says so", async () => {
    const pool = open({ workers: 1, deadline: 100 });
    const hostile = Array.from({ length: 3 }, (_, i) => pool.run({ spin: true }, `org-${i}`).catch((error: Error) => error));
    const seen = new Set<boolean>();
    const done = Promise.all(hostile);
    let ended = false;
    void done.then(() => {
      ended = true;
    });
    while (!ended) {
      seen.add(pool.state().stuck);
      await new Promise(setImmediate);
    }
    expect([...(await done)].every((error) => "code" in (error as object))).toBe(true);
    expect(seen).toEqual(new Set([false, true]));
    await pool.run({ say: "well again" }, "org-0");
    expect(pool.state()).toMatchObject({ deadlines: 3, stuck: false });
  });

  test("what is under way when it closes is rejected, and nothing is taken after", async () => {
    const pool = open();
    const { task } = held();
    const under = expect(pool.run(task, "a")).rejects.toMatchObject({ code: "worker_failed" });
    await new Promise(setImmediate);
    const waits = expect(pool.run({ say: "x" }, "a")).rejects.toMatchObject({ code: "worker_failed" });
    await pool.close();
    await Promise.all([under, waits]);
    await expect(pool.run({ say: "x" }, "a")).rejects.toMatchObject({ code: "worker_failed" });
  });
});

test("a process lasts until what waits is answered, whatever became of the thread that had it, and no longer", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, sourceCommand(new URL("./unheld-process.ts", import.meta.url)));
  expect(stdout.trim().split("\n")).toEqual(["deadline_exceeded > behind > last", "worker_failed > behind > last"]);
});

test("a worker that cannot be started costs what was asked of it, not the process", async () => {
  const pool = open({ module: new URL("./no-such-worker", import.meta.url) });
  await expect(pool.run({ say: "x" }, "a")).rejects.toMatchObject({ code: "worker_failed" });
  await pool.close();
});

test("however much is asked of workers that cannot be started, few are tried: who asks is told why, and health hears of it", async () => {
  const pool = open({ module: new URL("./no-such-worker", import.meta.url) });
  for (let i = 0; i < 200; i++)
    await expect(pool.run({ say: "x" }, "a")).rejects.toMatchObject({ code: "worker_failed", cause: expect.anything() });
  const { unstarted, failing, workers } = pool.state();
  expect([unstarted > 0 && unstarted < 20, failing, workers]).toEqual([true, true, 0]);
  await pool.close();
});

test("workers whose module loads again are started again, and the pool is well", async () => {
  const broken = new Int32Array(new SharedArrayBuffer(4)).fill(1);
  const pool = open({ settings: { prefix: "> ", broken } });
  await expect(pool.run({ say: "x" }, "a")).rejects.toMatchObject({
    cause: expect.objectContaining({ message: "the module is broken" }),
  });
  expect(pool.state()).toMatchObject({ unstarted: 1, failing: true });
  Atomics.store(broken, 0, 0);
  const again = () => pool.run({ say: "well" }, "a").catch(() => undefined);
  let said = await again();
  while (said === undefined) {
    await new Promise((resolve) => setImmediate(resolve));
    said = await again();
  }
  expect(said.text).toBe("> well");
  expect(pool.state().failing).toBe(false);
  await pool.close();
});

test("a worker without work is ended where the pool says so, and started again", async () => {
  const pool = open({ idle: 100 });
  const first = await pool.run({ say: "x" }, "a");
  while (pool.state().workers > 0) await new Promise((resolve) => setImmediate(resolve));
  const second = await pool.run({ say: "x" }, "a");
  expect(second.threadId).not.toBe(first.threadId);
  expect(pool.state().replaced).toBe(0);
  await pool.close();
});
