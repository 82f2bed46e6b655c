import { openSqlParser } from "@seneschal/adapters/sql-parser";
import type { SqlParser } from "@seneschal/governance";
import { serve } from "@seneschal/server-fastify";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Rig, startRig } from "./rig.ts";
import { type StubModel, say, startStubModel } from "./stub-model.ts";

const real = await openSqlParser();
/** What the parser of the serving thread was given. */
const read: string[] = [];
const sql: SqlParser = {
  parse(text, dialect) {
    read.push(text);
    return real.parse(text, dialect);
  },
  format(text, dialect) {
    read.push(text);
    return real.format?.(text, dialect) ?? text;
  },
};

/** A text of an eighth of the longest that is taken, full of what is found, and a query of the longest, which names a table as often as it can. */
const TEXT = "ada@example.org 4111 1111 1111 1111 ".repeat(1_821).slice(0, 65_536);
const QUERY = `SELECT 1 FROM ${Array.from({ length: 2000 }, (_, i) => `t t${i}`).join(", ")}`
  .slice(0, 16_380)
  .replace(/, \w* ?\w*$/, "");
const user_context = { user_id: "ada", role: "analyst", department: "sales" };
const enforcement = (query: string) => ({ sql: query, dialect: "postgres", user_context, view_schema: "safe" });

const DEAR: readonly (readonly [path: string, body: (text: string, query: string) => object])[] = [
  ["/api/v1/classify", (text) => ({ query: text })],
  ["/api/v1/redact", (text) => ({ text, format: "text", rules: [{ operator: "replace" }] })],
  ["/api/v1/enforce", (_, query) => enforcement(query)],
  ["/v1/chat/completions", (text) => ({ model: "stub-1", messages: [{ role: "user", content: text }] })],
  ["/v1/completions", (text) => ({ model: "stub-1", prompt: text })],
  ["/v1/embeddings", (text) => ({ model: "stub-1", input: text })],
];

async function open(model: StubModel, classification: object): Promise<Rig> {
  const rig = await startRig(serve, { sql, settings: { models: { upstream: model.url, timeout: "60s" }, classification } });
  const columns = { id: { tier: "PUBLIC", tags: [] } };
  expect((await rig.call("admin", "PUT", "/api/v1/resources/t", { tier: "PUBLIC", columns })).status).toBe(200);
  return rig;
}

describe("what reads texts and SQL leaves the serving thread to others", () => {
  let rig: Rig;
  let model: StubModel;
  beforeAll(async () => {
    model = await startStubModel();
    model.answer(({ path }, response) => say(path, "fine", response));
    rig = await open(model, { threads: 1, deadline: "60s" });
    // The thread is up.
    expect((await rig.call("admin", "POST", "/api/v1/classify", { query: "hello" })).status).toBe(200);
  });
  beforeEach(() => {
    read.length = 0;
  });
  afterAll(async () => {
    await rig.stop();
    await model.close();
  });
  const tasks = async (): Promise<number> => {
    const { body } = await rig.call("admin", "GET", "/metrics");
    return Number(/^governance_workers_tasks_total\{pool="classification"\} (\d+)$/m.exec(body)?.[1]);
  };

  test.each(DEAR)(
    "a dear body of %s is read in a thread, and others are answered meanwhile",
    async (path, bodyOf) => {
      const before = await tasks();
      const order: string[] = [];
      const dear = rig.call("admin", "POST", path, bodyOf(TEXT, QUERY)).then(({ status }) => order.push(`dear ${status}`));
      for (let i = 0; i < 5; i++) await rig.call(undefined, "GET", "/health").then(() => order.push("short"));
      await dear;
      expect(order).toEqual([...Array(5).fill("short"), "dear 200"]);
      expect(read).toEqual([]);
      expect(await tasks()).toBeGreaterThan(before);
    },
    60_000,
  );
});

describe("what is not read in time", () => {
  test.each(DEAR.slice(1))(
    "is an error of %s that is written down: nobody is told a text or a query, and nothing is sent",
    async (path, bodyOf) => {
      const model = await startStubModel();
      const rig = await open(model, { threads: 1, deadline: "1ms" });
      const { status, body } = await rig.call("admin", "POST", path, bodyOf(TEXT, QUERY));
      expect([status, body.error.code]).toEqual([500, "CLASSIFICATION_FAILED"]);
      expect(JSON.stringify(body)).not.toMatch(/4111|SELECT/);
      expect(model.told).toEqual([]);
      if (path !== "/api/v1/redact")
        expect((await rig.call("admin", "GET", "/api/v1/audit?limit=1")).body.records[0]).toMatchObject({
          operation_type: path === "/api/v1/enforce" ? "ENFORCE" : "PROMPT",
          allowed: false,
        });
      await rig.stop();
      await model.close();
    },
    60_000,
  );
});

test("an answer of a model that is not read in time is not told, and that is written down", async () => {
  const model = await startStubModel();
  model.answer(({ path }, response) => say(path, TEXT, response));
  const slow = Array.from({ length: 200 }, (_, i) => ({ entity: `BADGE_${i}`, pattern: "(?:[a-z0-9@.]{1,40} ){3}x" }));
  const rig = await open(model, { threads: 1, deadline: "1500ms", recognisers: slow });
  const { status, body } = await rig.call("admin", "POST", "/v1/completions", { model: "stub-1", prompt: "hello" });
  expect([status, body.error.code, model.told.length]).toEqual([500, "CLASSIFICATION_FAILED", 1]);
  expect((await rig.call("admin", "GET", "/api/v1/audit?limit=1")).body.records[0]).toMatchObject({
    operation_type: "COMPLETION",
    allowed: false,
  });
  await rig.stop();
  await model.close();
}, 60_000);

describe("a query that asks for too much", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig(serve);
    const columns = Object.fromEntries(Array.from({ length: 1500 }, (_, i) => [`c${i}`, { tier: "PUBLIC", tags: [] }]));
    expect((await rig.call("admin", "PUT", "/api/v1/resources/t", { tier: "PUBLIC", columns })).status).toBe(200);
  });
  afterAll(() => rig.stop());

  test("a table of many columns, named again and again, is not written out", async () => {
    const { body } = await rig.call("admin", "POST", "/api/v1/enforce", enforcement(QUERY));
    expect([body.allowed, body.sql, body.reasoning]).toEqual([false, undefined, expect.stringContaining("too long")]);
  });

  test("more tables than a decision has sources are refused", async () => {
    const many = (length: number) => `SELECT 1 FROM ${Array.from({ length }, (_, i) => `t${i}`).join(", ")}`;
    const resources = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`t${i}`, "t"]));
    const statuses = [];
    for (const length of [100, 101])
      statuses.push((await rig.call("admin", "POST", "/api/v1/enforce", { ...enforcement(many(length)), resources })).status);
    expect(statuses).toEqual([200, 400]);
  });
});
