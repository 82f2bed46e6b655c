import type { Worker } from "node:worker_threads";
import {
  type ClassificationTask,
  type ConfiguredRecogniser,
  classifyTask,
  configuredRecogniser,
  DEFAULT_RECOGNISERS,
  DEFAULT_TIER_POLICY,
} from "@seneschal/core/governance";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openClassifierThreads } from "../../src/classifier-threads/index.ts";
import { openSqlParser } from "../../src/sql-parser/index.ts";

const badge: ConfiguredRecogniser = { entity: "BADGE", pattern: "EMP-\\d{5}", score: 0.6, context: ["Badge"] };
const policy = { ...DEFAULT_TIER_POLICY, entities: { ...DEFAULT_TIER_POLICY.entities, BADGE: { tier: "RESTRICTED", tags: [] } } };
const crm = {
  resource: { tier: "RESTRICTED", tags: ["PII"], columns: { note: { tier: "RESTRICTED", tags: ["PII"] } } },
  columns: ["id", "note"],
};
const tasks: readonly ClassificationTask[] = [
  { query: "hello", context: {} },
  { query: "my ssn is 536-22-8726", context: {} },
  { query: "badge EMP-12345 was used", context: {} },
  { query: "number 943 476 5919", context: { country: "gb" } },
  { query: '{"email":"ada@example.org","notes":["none"]}', context: {} },
  { query: "SELECT * FROM crm.notes", context: { dialect: "postgres" } },
  { query: "SELECT * FROM crm.notes", context: {}, tables: new Map() },
  { query: "SELECT * FROM crm.notes", context: {}, tables: new Map([["crm.notes", crm]]) },
  { query: "an e\u0301migre\u0301 \u{1f600} wrote to ada@example.org", context: {} },
];

describe("classifier threads", () => {
  const threads = openClassifierThreads(2, { policy, recognisers: [badge], sql: true });
  let here: (task: ClassificationTask) => unknown;
  beforeAll(async () => {
    const recognisers = [...DEFAULT_RECOGNISERS, ...[configuredRecogniser(badge)].flatMap((r) => r ?? [])];
    const options = { policy, recognisers, sql: await openSqlParser() };
    here = (task) => classifyTask(task, options);
  });
  afterAll(() => threads.close());

  test("answer as this thread does, alone and many at once", async () => {
    for (const task of tasks) expect(await threads.answer(task)).toEqual(here(task));
    const many = Array.from({ length: 20 }, () => tasks).flat();
    expect(await Promise.all(many.map((task) => threads.answer(task)))).toEqual(many.map(here));
  });

  test("a task that fails is classification_failed, and its neighbours are answered", async () => {
    const broken = { query: 5, context: {} } as unknown as ClassificationTask;
    const [before, failed, after] = await Promise.allSettled([{ query: "hello", context: {} }, broken, tasks[1]].map(answer));
    expect(failed).toMatchObject({ status: "rejected", reason: { code: "classification_failed" } });
    expect([before?.status, after?.status]).toEqual(["fulfilled", "fulfilled"]);
  });

  test("what cannot be sent is classification_failed", async () => {
    const unsendable = { query: "hello", context: { n: 1n } } as unknown as ClassificationTask;
    await expect(threads.answer(unsendable)).rejects.toMatchObject({ code: "classification_failed" });
    expect(await threads.answer({ query: "hello", context: {} })).toHaveProperty("result");
  });

  function answer(task: ClassificationTask | undefined) {
    return threads.answer(task as ClassificationTask);
  }
});

describe("what a thread has in hand when it ends", () => {
  const hello = { query: "hello", context: {} };
  const long = { query: "ada@example.org 4111 1111 1111 1111 ".repeat(10_000), context: {} };
  const failed = { code: "classification_failed" };

  test("is classification_failed, never an answer", async () => {
    const threads = openClassifierThreads(1, { policy, recognisers: [], sql: false });
    const sent = expect(threads.answer(long)).rejects.toMatchObject(failed);
    // The task leaves with this turn of the event loop; the next one does not.
    await new Promise(setImmediate);
    const kept = expect(threads.answer(hello)).rejects.toMatchObject(failed);
    await threads.close();
    await sent;
    await kept;
    await expect(threads.answer(hello)).rejects.toMatchObject(failed);
  });

  test("is no task of the thread that comes after it", async () => {
    const started: Worker[] = [];
    const note = (worker: Worker): number => started.push(worker);
    process.on("worker", note);
    const threads = openClassifierThreads(1, { policy, recognisers: [], sql: false });
    const sent = expect(threads.answer(long)).rejects.toMatchObject(failed);
    await new Promise(setImmediate);
    await started[0]?.terminate();
    await sent;
    expect(await Promise.all([threads.answer(hello), threads.answer(hello)])).toHaveLength(2);
    expect(started).toHaveLength(2);
    process.off("worker", note);
    await threads.close();
  });

  test("was not all: what waited behind it goes to the next thread", async () => {
    const started: Worker[] = [];
    const note = (worker: Worker): number => started.push(worker);
    process.on("worker", note);
    const threads = openClassifierThreads(1, { policy, recognisers: [], sql: false });
    const outcomes: Promise<unknown>[] = [];
    // A message for each turn: the thread takes some, and the rest waits here.
    for (let i = 0; i < 8; i++) {
      outcomes.push(
        threads.answer(i === 0 ? long : hello).then(
          () => "answered",
          (error: { code: string }) => error.code,
        ),
      );
      await new Promise(setImmediate);
    }
    await started[0]?.terminate();
    const seen = await Promise.all(outcomes);
    expect(seen.slice(0, 4)).toEqual(Array(4).fill("classification_failed"));
    expect(seen.slice(4)).toEqual(Array(4).fill("answered"));
    process.off("worker", note);
    await threads.close();
  });
});
