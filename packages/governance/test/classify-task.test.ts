import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type ClassificationTask,
  classifierInThread,
  classifyTask,
  classifyWith,
  configuredRecogniser,
  createClassifier,
  MAX_QUERY_LENGTH,
  type SqlParser,
  type TableFacts,
} from "../src/index.ts";

/** One statement, as sqlparser-rs writes `SELECT * FROM a, b`. */
const star = (tables: readonly string[]) => ({
  Query: {
    body: {
      Select: {
        projection: [{ Wildcard: {} }],
        from: tables.map((value) => ({ relation: { Table: { name: [{ Identifier: { value } }] } }, joins: [] })),
      },
    },
  },
});
const sql: SqlParser = { parse: (text) => [star(text.replace(/^select \* from /i, "").split(", "))] };
const names = fc.uniqueArray(fc.constantFrom("users", "orders", "notes", "__proto__", "constructor"), { minLength: 1 });
const facts: fc.Arbitrary<TableFacts> = fc.record(
  {
    resource: fc.record({ tier: fc.constantFrom("PUBLIC", "CONFIDENTIAL", "RESTRICTED"), tags: fc.constant(["PII"]) }),
    columns: fc.uniqueArray(fc.constantFrom("id", "email", "ssn", "note"), { minLength: 1 }),
  },
  { requiredKeys: [] },
);

describe("a task classified away from the catalogue", () => {
  test("comes to what a classifier with the catalogue says, whatever is known of the tables", () =>
    fc.assert(
      fc.asyncProperty(names, fc.array(fc.tuple(fc.constantFrom("users", "orders", "notes"), facts)), async (tables, known) => {
        const of = new Map<string, TableFacts>(known);
        const whole = createClassifier({
          sql,
          catalogue: (table) => of.get(table)?.resource,
          schemaOf: (table) => of.get(table)?.columns,
        });
        const query = `SELECT * FROM ${tables.join(", ")}`;
        const apart = await classifyWith(classifierInThread({ sql }), query, {}, (table) => of.get(table) ?? {}, "acme");
        expect(apart).toEqual(whole.classify(query));
      }),
    ));

  test("asks for tables that its task does not speak of, once each, and only where there is a catalogue", () => {
    const query = "SELECT * FROM users, orders, users";
    expect(classifyTask({ query, context: {}, tables: new Map([["orders", {}]]) }, { sql })).toEqual({ unknown: ["users"] });
    expect(classifyTask({ query, context: {} }, { sql })).toHaveProperty("result.form", "sql");
    expect(classifyTask({ query: "hello", context: {}, tables: new Map() }, { sql })).toHaveProperty("result.tier", "PUBLIC");
  });

  test("lets others of the thread go on between many look-ups, and behind each of a pattern", async () => {
    let pauses = 0;
    const pause = async () => {
      pauses++;
    };
    const names = Array.from({ length: 2000 }, (_, i) => `t_${i}`).join(" ");
    for (const text of [names, "t_1* = u_2*"])
      await classifyWith(classifierInThread({ sql }), text, {}, () => ({}), "acme", pause);
    expect(pauses).toBe(4 + 2);
  });

  test("is not sent when it is too long, nor for a dialect that nobody knows", async () => {
    const sent: ClassificationTask[] = [];
    const classifier = {
      ...classifierInThread(),
      answer: async (task: ClassificationTask) => {
        sent.push(task);
        return classifyTask(task);
      },
    };
    const long = "a".repeat(MAX_QUERY_LENGTH + 1);
    await expect(classifyWith(classifier, long, {}, undefined, "acme")).rejects.toMatchObject({ code: "validation_failed" });
    await expect(classifyWith(classifier, "SELECT 1", { dialect: "postgress" }, undefined, "acme")).rejects.toMatchObject({
      code: "validation_failed",
      details: { field: "context.dialect" },
    });
    expect(sent).toEqual([]);
  });
});

test("an answer tells a bounded number of findings, and how many it leaves out", () => {
  const answer = classifyTask({ query: "a@example.org ".repeat(10_000), context: {} });
  if (!("result" in answer)) throw new Error("not classified");
  expect([answer.result.findings.length, answer.result.findings_omitted]).toEqual([8192, 10_000 - 8192]);
  const few = classifyTask({ query: "a@example.org", context: {} });
  expect("result" in few && "findings_omitted" in few.result).toBe(false);
});

test("what is no text, and a context that is no object, is a TypeError that names the argument", () => {
  const { classify } = createClassifier();
  for (const query of [5, undefined, null, {}, ["a"]])
    expect(() => classify(query as never)).toThrow(new TypeError("query: expected a string"));
  for (const context of [5, null, "a"])
    expect(() => classify("text", context as never)).toThrow(new TypeError("context: expected an object"));
});

test("a configured recogniser needs no context words", () => {
  const one = configuredRecogniser({ entity: "BADGE", pattern: "B-[0-9]{4}", score: 0.6 });
  expect(one).toMatchObject({ entity: "BADGE", context: [] });
});
