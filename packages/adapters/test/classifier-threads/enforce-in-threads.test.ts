import { DEFAULT_TIER_POLICY, type EnforcementTask, enforceTask, type Obligation } from "@seneschal/governance";
import { afterAll, describe, expect, test } from "vitest";
import { openClassifierThreads } from "../../src/classifier-threads/index.ts";
import { openSqlParser } from "../../src/sql-parser/index.ts";

const settings = { policy: DEFAULT_TIER_POLICY, recognisers: [], sql: true };
const mask: Obligation = { type: "masking", id: "m", properties: { columns: ["ssn"], operator: "mask", keep_last: 4 } };
const task = (sql: string, more: Partial<EnforcementTask> = {}): EnforcementTask => ({
  sql,
  dialect: "postgres",
  obligations: [mask],
  tables: [{ name: "orders", columns: ["id", "ssn"] }],
  ...more,
});
const tasks: readonly EnforcementTask[] = [
  task("SELECT id, ssn FROM orders WHERE id = 5"),
  task("SELECT * FROM orders", { viewSchema: "safe" }),
  task("SELECT * FROM `orders`", { dialect: "bigquery", viewSchema: "safe" }),
  task("DELETE FROM orders"),
  task("SELECT id FROM people"),
  task("SELECT id FROM orders", { obligations: [{ type: "watermark", id: "w", properties: {} }] }),
  task("SELECT id FROM orders", { tables: [{ name: "orders", columns: [] }] }),
];
const outcome = async (work: () => unknown): Promise<unknown> => {
  try {
    return await work();
  } catch (error) {
    const { code, message, details } = error as { code: string; message: string; details: object };
    return { code, message, details };
  }
};

describe("queries in classifier threads", () => {
  const threads = openClassifierThreads({ threads: 1 }, settings);
  afterAll(() => threads.close());

  test("are read, rewritten and refused as in this thread", async () => {
    const parser = await openSqlParser();
    for (const each of tasks) {
      const { sql, dialect } = each;
      expect(await outcome(() => threads.enforce(each, "acme"))).toEqual(await outcome(() => enforceTask(parser, each)));
      expect(await outcome(() => threads.reads(each, "acme"))).toEqual(
        await outcome(() => enforceTask(parser, { sql, dialect })),
      );
    }
  });

  test("are refused without a parser, by the code that says so", async () => {
    const bare = openClassifierThreads({ threads: 1 }, { ...settings, sql: false });
    const [query] = tasks as [EnforcementTask];
    await expect(bare.reads(query, "acme")).rejects.toMatchObject({ code: "service_unavailable" });
    await expect(bare.enforce(query, "acme")).rejects.toMatchObject({ code: "service_unavailable" });
    await bare.close();
  });

  test("of one owner beyond its budget are refused, those of others are not", async () => {
    const narrow = openClassifierThreads({ threads: 1, waitingPerOwner: 1 }, settings);
    const [query] = tasks as [EnforcementTask];
    const [first, second, other] = await Promise.allSettled([
      narrow.enforce(query, "acme"),
      narrow.enforce(query, "acme"),
      narrow.enforce(query, "globex"),
    ]);
    expect([first?.status, other?.status]).toEqual(["fulfilled", "fulfilled"]);
    expect(second).toMatchObject({ status: "rejected", reason: { code: "service_unavailable" } });
    await narrow.close();
  });

  test("of a thread that is ended are classification_failed, and never what they were", async () => {
    const ended = openClassifierThreads({ threads: 1 }, settings);
    const waiting = [ended.enforce(tasks[0] as EnforcementTask, "acme"), ended.reads(tasks[0] as EnforcementTask, "acme")];
    const refused = Promise.allSettled(waiting);
    await ended.close();
    for (const each of await refused)
      expect(each).toMatchObject({ status: "rejected", reason: { code: "classification_failed" } });
  });
});
