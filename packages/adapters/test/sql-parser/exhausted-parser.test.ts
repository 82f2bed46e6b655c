import {
  analyseSql,
  createClassifier,
  DEFAULT_TIER_POLICY,
  MAX_QUERY_LENGTH,
  parseSql,
  readLineageSql,
} from "@seneschal/governance";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { openClassifierThreads } from "../../src/classifier-threads/index.ts";
import { openSqlParser } from "../../src/sql-parser/index.ts";

const chain = (n: number, term: (i: number) => string, by: string): string =>
  Array.from({ length: n }, (_, i) => term(i)).join(by);
const nested = (n: number, open: string, inner: string, close: string): string => open.repeat(n) + inner + close.repeat(n);

/** Statements of `n` parts in a row or in one another. */
const SHAPES: Readonly<Record<string, (n: number) => string>> = {
  or: (n) => `select * from t where ${chain(n, (i) => `a${i}=1`, " or ")}`,
  and: (n) => `select * from t where ${chain(n, (i) => `a${i}=1`, " AND ")}`,
  "or and and": (n) => `select * from t where ${chain(n, (i) => `a${i}=1 and b = 2`, " or ")}`,
  "or of names that objects have": (n) =>
    `select * from t where ${chain(n, (i) => `${i % 2 ? "constructor" : "toString"} = ${i}`, " or ")}`,
  in: (n) => `select * from t where a in (${chain(n, String, ", ")})`,
  between: (n) => `select * from t where ${chain(n, (i) => `a${i} between 1 and 2`, " and ")}`,
  union: (n) => chain(n, (i) => `select a${i} from t`, " union all "),
  concatenation: (n) => `select ${chain(n, (i) => `a${i}`, " || ")}`,
  sum: (n) => `select ${chain(n, (i) => `a${i}`, " + ")}`,
  joins: (n) => `select * from t ${chain(n, (i) => `join t${i} on t${i}.a = t.a`, " ")}`,
  casts: (n) => `select a${"::text".repeat(n)}`,
  "is null": (n) => `select a${" is null".repeat(n)}`,
  subscripts: (n) => `select a${"[1]".repeat(n)}`,
  names: (n) => `select a${".a".repeat(n)} from t`,
  not: (n) => `select ${"not ".repeat(n)}a`,
  minus: (n) => `select ${"- ".repeat(n)}a`,
  whens: (n) => `select case ${chain(n, (i) => `when a = ${i} then b`, " ")} end`,
  cases: (n) => `select ${nested(n, "case when a then ", "1", " end")}`,
  parentheses: (n) => `select ${nested(n, "(", "1", ")")}`,
  calls: (n) => `select ${nested(n, "f(", "1", ")")}`,
  arrays: (n) => `select ${nested(n, "[", "1", "]")}`,
  subqueries: (n) => nested(n, "select * from (", "select 1", ") x"),
  open: (n) => `select ${"(".repeat(n)}`,
  values: (n) => `insert into t values ${chain(n, (i) => `(${i})`, ", ")}`,
  statements: (n) => chain(n, (i) => `select ${i}`, "; "),
};
const shape = fc.constantFrom(...Object.keys(SHAPES));
const lengths = fc.oneof(
  { arbitrary: fc.constantFrom(100, 500, 800, 1000, 2000, 4000), weight: 4 },
  { arbitrary: fc.integer({ min: 1, max: 6000 }), weight: 1 },
);
const sql = (name: string, n: number): string => (SHAPES[name] as (n: number) => string)(n).slice(0, MAX_QUERY_LENGTH);

/** Statements that a reader of SQL answers without doubt. */
const PLAIN = ["select 1", "select ssn from patients", "select a, b from t where a = 1", "create table c as select a from t"];

describe("no statement changes how the next one is read", () => {
  test("by the parser: its trees are those of a fresh one", async () => {
    const parser = await openSqlParser();
    const fresh = PLAIN.map((text) => parser.parse(text, "generic"));
    for (const [name, write] of Object.entries(SHAPES)) {
      for (const n of [800, 3000]) {
        try {
          parser.parse(write(n), "generic");
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
        expect([name, n, PLAIN.map((text) => parser.parse(text, "generic"))]).toEqual([name, n, fresh]);
      }
    }
  }, 60_000);

  test("in this thread, to classify or for its lineage", async () => {
    const parser = await openSqlParser();
    const classifier = createClassifier({ sql: parser });
    const answers = () => PLAIN.map((query) => [classifier.classify(query), readLineageSql(parser, { query, tables: [] })]);
    const fresh = answers();
    expect(fresh).toMatchObject([
      [{ tier: "PUBLIC" }, {}],
      [{ tier: "PROPRIETARY" }, {}],
      [{}, {}],
      [{}, {}],
    ]);
    fc.assert(
      fc.property(shape, lengths, fc.boolean(), (name, n, lineage) => {
        const query = sql(name, n);
        if (lineage) readLineageSql(parser, { query, tables: [] });
        else classifier.classify(query);
        expect([name, n, answers()]).toEqual([name, n, fresh]);
      }),
      { numRuns: 12 },
    );
  }, 120_000);

  test("a tree that nests too deep for those who read it is unread, of the highest tier, and a UNION of a thousand parts is not", async () => {
    const parser = await openSqlParser();
    const classifier = createClassifier({ sql: parser });
    for (const [n, failed] of [
      [1000, 0],
      [2200, 1],
    ] as const) {
      const query = sql("union", n);
      expect(parseSql(parser, query)).toMatchObject({ failed });
      expect(readLineageSql(parser, { query, tables: [] }) === null).toBe(failed === 1);
    }
    expect(classifier.classify(sql("union", 2200))).toMatchObject({ tier: "RESTRICTED" });
  });

  const threads = openClassifierThreads(
    { threads: 1, deadline: 60_000 },
    { policy: DEFAULT_TIER_POLICY, recognisers: [], sql: true },
  );
  afterAll(() => threads.close());

  test.each(["or", "casts"])(
    "in a classifier thread, after: %s",
    async (name) => {
      const answers = () =>
        Promise.all(
          PLAIN.flatMap((query) => [
            threads.answer({ query, context: {} }, "acme"),
            threads.readSql({ query, tables: [] }, "acme"),
          ]),
        );
      const fresh = await answers();
      expect(fresh).toMatchObject([{ result: { tier: "PUBLIC", confidence: 0.9 } }, ...Array.from({ length: 7 }, () => ({}))]);
      for (const n of [800, 1000, 4000]) {
        await threads.answer({ query: sql(name, n), context: {} }, "hostile");
        expect([n, await answers()]).toEqual([n, fresh]);
        await threads.readSql({ query: sql(name, n), tables: [] }, "hostile");
        expect([n, await answers()]).toEqual([n, fresh]);
      }
      expect(threads.state()).toMatchObject({ deadlines: 0, replaced: 0 });
    },
    120_000,
  );
});

describe("long rows of OR and AND are read as short ones are", () => {
  const terms: readonly ((i: number) => string)[] = [
    (i) => `a${i} = 1`,
    (i) => `(a${i} = 1 or b < 2)`,
    (i) => `a${i} between 1 and 2`,
    (i) => `not a${i} = 'x or y'`,
    (i) => `a${i} in (1, 2) /* or */`,
    (i) => `case when a${i} = 1 or b = 2 and c = 3 then d else e end = 1`,
    (i) => `a${i} = 1 -- and\n`,
    (i) => `exists (select 1 from vault7 where k9 = ${i} or k8 between 1 and 2)`,
  ];
  const WHERES: readonly ((condition: string) => string)[] = [
    (condition) => `select * from t where ${condition} order by b`,
    (condition) => `select * from t join u on ${condition} where c = 2`,
    (condition) => `select (${condition}) as x, a from t`,
    (condition) => `insert into o select a, case when ${condition} then b end as y from t`,
    (condition) => `update t set a = 1 where ${condition}`,
  ];

  test("whatever their operands are and wherever they stand", async () => {
    const parser = await openSqlParser();
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...terms), { minLength: 1, maxLength: 4 }),
        fc.array(fc.constantFrom(" or ", " and ", "\nOR "), { minLength: 1, maxLength: 3 }),
        fc.constantFrom(...WHERES),
        fc.constantFrom(300, 1000, 3000),
        (operands, operators, where, n) => {
          const row = (length: number) =>
            where(
              Array.from(
                { length },
                (_, i) =>
                  (operands[i % operands.length]?.(i % 20) ?? "") + (i + 1 < length ? operators[i % operators.length] : ""),
              ).join(""),
            );
          const [short, long] = [80, n].map((length) => parseSql(parser, row(length)));
          expect([row(4), long?.failed, short?.failed]).toEqual([row(4), 0, 0]);
          const [few, many] = [short, long].map((read) => {
            const { inputs, outputs, operation, unexplained, unread } = analyseSql(read?.statements ?? []);
            return { inputs, outputs, operation, unexplained, unread };
          });
          expect(many).toEqual(few);
        },
      ),
      { numRuns: 8, examples: [[[terms[5] as never], [" or "], WHERES[0] as never, 1000]] },
    );
  }, 120_000);

  test("so that a generated statement of a thousand conditions has the tier of one of two", async () => {
    const classifier = createClassifier({ sql: await openSqlParser() });
    for (const name of ["or", "and", "or and and", "between"]) {
      const [few, many] = [2, 1000].map((n) => classifier.classify(sql(name, n)));
      expect([name, many?.tier, many?.confidence]).toEqual([name, few?.tier, few?.confidence]);
    }
  });
});
