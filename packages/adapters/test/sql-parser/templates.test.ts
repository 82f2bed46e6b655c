import { analyseSql } from "@seneschal/governance";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { classifierKnowing, parser, rankOf } from "./support/registered.ts";

const classify = classifierKnowing({
  "hr.vault7": { tier: "RESTRICTED" },
  open1: { tier: "PUBLIC" },
  mixed3: { tier: "PUBLIC", columns: { a: "PUBLIC", b: "PUBLIC", k9: "RESTRICTED" } },
});
/** What templates put in as a text, and what drivers bind as a value. */
const TEXTS = ["${x}", "{{ x }}", "{{ f('a', b) }}", "{x}", "{}", "#{x}", "##x##", "$(x)", "@{x}", "{{ x | default('a') }}"];
const BOUND = ["?", "$1", ":x", "@p", "%s", "%(x)s", ":'x'"];
const text = fc.constantFrom(...TEXTS);
const any = fc.constantFrom(...TEXTS, ...BOUND);
const casing = fc.constantFrom<(query: string) => string>(
  (query) => query,
  (query) => `-- of a template\n${query};`,
  (query) => query.replaceAll("SELECT", "select").replaceAll("FROM", "from").replaceAll("WHERE", "where"),
  (query) => `WITH c AS (${query}) SELECT * FROM c`,
  (query) => `CREATE TABLE t AS ${query}`,
);
const runs = { numRuns: 120 };

describe("what is put in where a name or a piece of a statement may stand may be any of them", () => {
  const items = fc.constantFrom<(put: string) => string>(
    (put) => `SELECT ${put} FROM mixed3`,
    (put) => `SELECT a, ${put} FROM mixed3`,
    (put) => `SELECT ${put} AS n, b FROM mixed3 m`,
    (put) => `SELECT (${put}) FROM mixed3`,
  );
  test("an item of a select list is any column", () =>
    fc.assert(
      fc.property(items, any, casing, (item, put, cased) => {
        const query = cased(item(put));
        expect([query, classify(query).tier]).toEqual([query, "RESTRICTED"]);
      }),
      runs,
    ));

  const names = fc.constantFrom<(put: string) => string>(
    (put) => `SELECT coalesce(${put}, 1) FROM mixed3`,
    (put) => `SELECT m.${put} FROM mixed3 m`,
    (put) => `SELECT upper(m.${put}) FROM mixed3 m`,
    (put) => `SELECT k${put} FROM mixed3`,
    (put) => `SELECT a FROM ${put}`,
    (put) => `SELECT a FROM hr.${put}`,
    (put) => `SELECT a FROM vau${put}`,
    (put) => `SELECT a FROM ${put}.vault7`,
    (put) => `SELECT a FROM open1 JOIN ${put} USING (a)`,
    (put) => `SELECT a FROM open1 ${put}`,
    (put) => `SELECT a FROM open1 WHERE a = 1 ${put}`,
    (put) => `SELECT a FROM open1 UNION ALL ${put}`,
    (put) => `SELECT a FROM open1; ${put}`,
    (put) => `INSERT INTO open1 ${put}`,
    (put) => `INSERT INTO open1 SELECT ${put}`,
    (put) => `CREATE VIEW v AS ${put}`,
    (put) => `WITH q AS (${put}) SELECT * FROM q`,
    (put) => `MERGE INTO open1 USING ${put} ON 1=1 WHEN MATCHED THEN DELETE`,
  );
  test("a name of a column is any of them, one of a table, or a piece of a statement, is anything", () =>
    fc.assert(
      fc.property(names, fc.constantFrom("${x}", "{{ x }}", "{x}", "#{x}", "$(x)"), (name, put) => {
        const query = name(put);
        expect([query, rankOf(classify(query).tier) >= 3]).toEqual([query, true]);
      }),
      runs,
    ));

  test("a condition, a group or an order by it counts as all columns do that only filter, and is told", () =>
    fc.assert(
      fc.property(
        text,
        fc.constantFrom(
          "WHERE ?",
          "WHERE a = 1 AND ?",
          "WHERE NOT (?)",
          "GROUP BY ?",
          "ORDER BY ?",
          "WHERE ? = 5",
          "WHERE (? > 5)",
        ),
        (put, clause) => {
          const query = `SELECT a FROM mixed3 ${clause.replace("?", () => put)}`;
          expect([query, rankOf(classify(query).tier) >= 3]).toEqual([query, true]);
        },
      ),
      runs,
    ));

  test("beside a public table it is not public", () =>
    fc.assert(
      fc.property(text, (put) => {
        for (const query of [`SELECT ${put} FROM open1`, `SELECT a FROM open1 WHERE ${put}`])
          expect([query, classify(query).tier === "PUBLIC"]).toEqual([query, false]);
      }),
    ));

  test("a template hides nothing that a database runs", () => {
    for (const query of [
      "SELECT $${%$$, (SELECT q FROM vault7), $$%}$$",
      "SELECT '{%', (SELECT q FROM vault7), '%}'",
      'SELECT "{{", (SELECT q FROM vault7), "}}"',
      "SELECT 1 /* {# */ UNION SELECT q FROM vault7 /* #} */",
      "SELECT a FROM open1 {% if x %} UNION SELECT q FROM vault7 {% endif %}",
      "{% set q %}SELECT q FROM vault7{% endset %}{{ q }}",
    ])
      expect([query, classify(query).tier]).toEqual([query, "RESTRICTED"]);
  });
});

describe("where a value stands it is one", () => {
  const values = fc.constantFrom<(put: string) => string>(
    (put) => `SELECT a FROM mixed3 WHERE a = ${put}`,
    (put) => `SELECT a FROM mixed3 WHERE b > 1 AND a <> ${put} LIMIT 5`,
    (put) => `SELECT a FROM mixed3 WHERE a IN (${put}, 1)`,
    (put) => `SELECT a FROM mixed3 WHERE a BETWEEN ${put} AND 5`,
    (put) => `SELECT a FROM mixed3 WHERE a LIKE ${put}`,
    (put) => `SELECT a FROM mixed3 WHERE a > date_sub(${put}, 7)`,
    (put) => `SELECT a FROM mixed3 WHERE b + ${put} > 1`,
    (put) => `SELECT a FROM mixed3 LIMIT ${put}`,
    (put) => `SELECT a FROM mixed3 WHERE a = '${put.replaceAll("'", "")}'`,
    (put) => `INSERT INTO mixed3 (a, b) VALUES (${put}, 1)`,
    (put) => `UPDATE mixed3 SET a = ${put} WHERE b = ${put}`,
    (put) => `DELETE FROM mixed3 WHERE a = ${put}`,
  );
  test("and nothing else counts for it", () =>
    fc.assert(
      fc.property(
        values,
        any.filter((put) => put !== "$(x)"),
        casing,
        (value, put, cased) => {
          const query = /^(?:INSERT|UPDATE|DELETE)/.test(value("")) ? value(put) : cased(value(put));
          const { tier, reasoning } = classify(query);
          expect([query, rankOf(tier) <= 1, reasoning]).toEqual([query, true, reasoning]);
        },
      ),
      { numRuns: 250 },
    ));
});

describe("dbt names its tables by ref and source", () => {
  test.each([
    ["select q from {{ ref('vault7') }}", "RESTRICTED"],
    ['select q from {{ref("pkg", "vault7")}}', "RESTRICTED"],
    ["select k9 from {{ source('shop', 'mixed3') }}", "RESTRICTED"],
    ["select a from {{ source('shop', 'mixed3') }} where b > '{{ var('day') }}'", "INTERNAL"],
    ["{{ config(materialized='table') }}\nselect a from {{ ref('mixed3') }}", "INTERNAL"],
    ["{# of k9 #}{% set n = 1 %} select a from {{ ref('open1') }}", "PUBLIC"],
    ["select {{ dbt_utils.star(ref('mixed3')) }} from {{ ref('mixed3') }}", "RESTRICTED"],
    ["select a from {{ target.schema }}.open1", "PUBLIC"],
    ["select a from open1_{{ ds }}", "INTERNAL"],
  ])("%s is %s", (query, tier) =>
    expect([classify(query).tier, classify(query).reasoning]).toEqual([tier, classify(query).reasoning]),
  );
});

describe("work grows with the statement, not with the pairs of what is in it", () => {
  const many = (n: number, of: (i: number) => string) => Array.from({ length: n }, (_, i) => of(i)).join(",");
  /** Statements whose names stand for all pairs of what they have, or for what stands in them again and again. */
  const FORMS: readonly (readonly [how: string, write: (n: number) => string])[] = [
    ["placeholders and tables", (n) => `SELECT ${many(n, (i) => `placeholder__t${i}`)} FROM ${many(n, (i) => `t${i}`)}`],
    ["columns and tables", (n) => `SELECT ${many(n, (i) => `a${i}`)} FROM ${many(n, (i) => `t${i}`)}`],
    ["conditions and tables", (n) => `SELECT 1 FROM ${many(n, (i) => `t${i}`)} WHERE 1 IN (${many(n, (i) => `a${i}`)})`],
    [
      "placeholders in one another",
      (n) => `SELECT ${many(n, (i) => `placeholder__t${i}`)} FROM (SELECT ${many(n, (i) => `placeholder__t9${i}`)} FROM t) x`,
    ],
    [
      "columns of a query in another",
      (n) => `SELECT ${many(n, (i) => `a${i}`)} FROM (SELECT ${many(n, (i) => `a${i}`)} FROM t) x`,
    ],
    ["groups", (n) => `SELECT ${many(n, (i) => `placeholder__t${i}`)} FROM t GROUP BY ${many(n, (i) => `placeholder__t${i}`)}`],
    ["orders", (n) => `SELECT ${many(n, (i) => `placeholder__t${i}`)} FROM t ORDER BY ${many(n, (i) => `placeholder__t${i}`)}`],
    [
      "names given to columns",
      (n) =>
        `WITH c(${many(n, (i) => `c${i}`)}) AS (SELECT ${many(n, (i) => `a${i}`)}, * FROM ${many(n, (i) => `t${i}`)}) SELECT c1 FROM c`,
    ],
    ["sides of a union", (n) => `SELECT ${many(n, (i) => `a${i}`)}, * FROM t UNION SELECT ${many(n, (i) => `b${i}`)}, * FROM u`],
  ];
  test.each(FORMS)("%s", (_, write) => {
    /** What evidence is made of: each input is judged for itself. */
    const work = (n: number): number => {
      const { results } = analyseSql(parser.parse(write(n), "generic"));
      return results.reduce(
        (sum, { columns, dataset }) => columns.reduce((all, { inputs }) => all + inputs.length, sum + dataset.length),
        0,
      );
    };
    expect(work(2000)).toBeLessThan(150_000);
    expect(work(20)).toBeGreaterThan(0);
  });

  test("what is not followed to its end is of the highest tier", () => {
    const write = FORMS[1]?.[1] ?? String;
    expect(classify(write(20)).tier).toBe("INTERNAL");
    const { tier, reasoning } = classify(write(2000));
    expect([tier, reasoning]).toEqual(["RESTRICTED", expect.stringContaining("more columns of more tables than are told apart")]);
  });
});
