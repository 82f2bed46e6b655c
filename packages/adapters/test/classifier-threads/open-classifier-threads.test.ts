import {
  type ClassificationTask,
  type ConfiguredRecogniser,
  classifyTask,
  configuredRecogniser,
  DEFAULT_RECOGNISERS,
  DEFAULT_TIER_POLICY,
} from "@seneschal/governance";
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
  const threads = openClassifierThreads({ threads: 2 }, { policy, recognisers: [badge], sql: true });
  let here: (task: ClassificationTask) => unknown;
  beforeAll(async () => {
    const recognisers = [...DEFAULT_RECOGNISERS, ...[configuredRecogniser(badge)].flatMap((r) => r ?? [])];
    const options = { policy, recognisers, sql: await openSqlParser() };
    here = (task) => classifyTask(task, options);
  });
  afterAll(() => threads.close());

  test("answer as this thread does, alone and many at once", async () => {
    for (const task of tasks) expect(await threads.answer(task, "acme")).toEqual(here(task));
    const many = Array.from({ length: 20 }, () => tasks).flat();
    expect(await Promise.all(many.map((task) => threads.answer(task, "acme")))).toEqual(many.map(here));
  });

  test("a task that fails is classification_failed, and its neighbours are answered", async () => {
    const broken = { query: 5, context: {} } as unknown as ClassificationTask;
    const [before, failed, after] = await Promise.allSettled([{ query: "hello", context: {} }, broken, tasks[1]].map(answer));
    expect(failed).toMatchObject({ status: "rejected", reason: { code: "classification_failed" } });
    expect([before?.status, after?.status]).toEqual(["fulfilled", "fulfilled"]);
  });

  test("what cannot be sent is classification_failed", async () => {
    const unsendable = { query: "hello", context: { n: 1n } } as unknown as ClassificationTask;
    await expect(threads.answer(unsendable, "acme")).rejects.toMatchObject({ code: "classification_failed" });
    expect(await threads.answer({ query: "hello", context: {} }, "acme")).toHaveProperty("result");
  });

  function answer(task: ClassificationTask | undefined) {
    return threads.answer(task as ClassificationTask, "acme");
  }
});

describe("a text that takes too long", () => {
  const hello = { query: "hello", context: {} };

  test("is of the highest tier, with the reason, and keeps nobody else waiting", async () => {
    const recognisers = Array.from({ length: 300 }, () => ({ ...badge, pattern: "(?:[a-z0-9@.]{1,40} ){3}x" }));
    const slow = { query: "ada@example.org 4111 1111 1111 1111 ".repeat(14_000), context: {} };
    const threads = openClassifierThreads({ threads: 1, deadline: 1500 }, { policy, recognisers, sql: false });
    await threads.answer(hello, "warm");
    const answers = await Promise.all([
      threads.answer(slow, "acme"),
      threads.answer(hello, "globex"),
      threads.answer(hello, "acme"),
    ]);
    expect(answers[0]).toMatchObject({
      result: { tier: "RESTRICTED", confidence: 0, reasoning: expect.stringContaining("takes too long") },
    });
    expect(answers.slice(1)).toMatchObject([{ result: { tier: "PUBLIC" } }, { result: { tier: "PUBLIC" } }]);
    expect(threads.state()).toMatchObject({ deadlines: 1, replaced: 1 });
    await threads.close();
  });

  test("nested calls are answered, in every dialect, and so is what comes with them", async () => {
    const threads = openClassifierThreads({ threads: 1 }, { policy, recognisers: [], sql: true });
    const hostile = [undefined, "postgres", "mssql"].flatMap((dialect) =>
      [
        `SELECT ${"f(".repeat(45)}`,
        `SELECT ${"f(".repeat(45)}1${")".repeat(45)}`,
        `SELECT ${"(SE".repeat(45)}`,
        `SELECT ${"INTERVAL ".repeat(45)}`,
      ].map((query) => threads.answer({ query, context: dialect === undefined ? {} : { dialect } }, "hostile")),
    );
    expect(await threads.answer(hello, "acme")).toHaveProperty("result");
    for (const answer of await Promise.all(hostile)) expect(answer).toHaveProperty("result");
    expect(threads.state()).toMatchObject({ deadlines: 0, replaced: 0 });
    await threads.close();
  });

  test("closed threads classify nothing", async () => {
    const threads = openClassifierThreads({ threads: 1 }, { policy, recognisers: [], sql: false });
    const sent = expect(threads.answer(hello, "acme")).rejects.toMatchObject({ code: "classification_failed" });
    await threads.close();
    await sent;
    await expect(threads.answer(hello, "acme")).rejects.toMatchObject({ code: "classification_failed" });
  });
});
