import { openSqlParser } from "@seneschal/adapters/sql-parser";
import { ENFORCED_DIALECTS, enforceSql, queryReads, type TableRules } from "@seneschal/governance";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const parser = await openSqlParser();
const rules = (name: string): TableRules => ({
  name,
  columns: ["id", "region", "ssn"],
  masks: { ssn: { operator: "mask", keepLast: 4 } },
  filters: [{ column: "region", values: ["EU"] }],
});

describe("queries that show what the rules let through", () => {
  test("each dialect gets its own quotation marks and functions", () => {
    expect(enforceSql(parser, "SELECT ssn FROM orders o WHERE id = 1", "postgres", [rules("orders")]).sql).toBe(
      `SELECT ssn FROM (SELECT "id", "region", CASE WHEN LENGTH(CAST("ssn" AS TEXT)) > 8 THEN REPEAT('*', LENGTH(CAST("ssn" AS TEXT)) - 4) || RIGHT(CAST("ssn" AS TEXT), 4) ELSE REPEAT('*', LENGTH(CAST("ssn" AS TEXT))) END AS "ssn" FROM orders WHERE "region" IN ('EU') OFFSET 0) o WHERE id = 1`,
    );
    expect(enforceSql(parser, "SELECT * FROM `p.d.orders`", "bigquery", [rules("p.d.orders")]).sql).toContain(
      "FROM `p`.`d`.`orders` WHERE `region` IN ('EU')) AS `orders`",
    );
    expect(enforceSql(parser, "SELECT * FROM db.orders", "snowflake", [rules("DB.ORDERS")]).sql).toContain(
      `FROM db.orders WHERE "region" IN ('EU')) AS orders`,
    );
  });

  test("every place where a table stands is found", () => {
    const sql = `WITH a AS (SELECT * FROM orders WHERE id IN (SELECT id FROM orders)), b AS (SELECT 1 AS id)
      SELECT x.id, (SELECT max(id) FROM orders), CASE WHEN EXISTS (SELECT 1 FROM orders) THEN 1 ELSE 0 END
      FROM a x JOIN (orders AS y CROSS JOIN b) ON y.id = x.id, LATERAL (SELECT id FROM orders WHERE id = y.id) z
      WHERE x.id > ALL_OF GROUP BY x.id HAVING count(*) > (SELECT count(*) FROM orders)
      ORDER BY (SELECT min(id) FROM orders) LIMIT 5`;
    const { sql: safe, tables } = enforceSql(parser, sql, "postgres", [rules("orders")]);
    expect(tables).toEqual(["orders"]);
    expect(safe.match(/FROM orders WHERE "region" IN \('EU'\) OFFSET 0\)/g)).toHaveLength(8);
    expect(safe.match(/\borders\b/g)?.length).toBe(8 + 7);
    expect(queryReads(parser, sql, "postgres").tables).toEqual(["orders"]);
  });

  test("names are folded as the database folds them", () => {
    expect(enforceSql(parser, "SELECT id FROM Orders", "postgres", [rules("orders")]).tables).toEqual(["orders"]);
    expect(() => enforceSql(parser, 'SELECT id FROM "Orders"', "postgres", [rules("orders")])).toThrow(/nothing is said/);
    expect(() => enforceSql(parser, "SELECT id FROM Orders", "bigquery", [rules("orders")])).toThrow(/nothing is said/);
  });

  test.each([
    ["another table", "SELECT * FROM people"],
    ["the same table of another schema", "SELECT * FROM public.orders"],
    ["two statements", "SELECT 1; SELECT 2"],
    ["no query", "DELETE FROM orders"],
    ["a change inside of a query", "WITH d AS (DELETE FROM orders RETURNING *) SELECT * FROM d"],
    ["a new table", "SELECT * INTO copy FROM orders"],
    ["a lock", "SELECT * FROM orders FOR UPDATE"],
    ["the command TABLE", "TABLE orders"],
    ["a recursion", "WITH RECURSIVE r AS (SELECT id FROM orders UNION ALL SELECT id FROM r) SELECT * FROM r"],
    ["a name that is a table's", "WITH orders AS (SELECT * FROM orders) SELECT * FROM orders"],
    ["a sample", "SELECT * FROM orders TABLESAMPLE SYSTEM (10)"],
    ["a function that reads", "SELECT query_to_xml('select * from orders', true, true, '')"],
    ["a function of files", "SELECT pg_read_file('/etc/passwd')"],
    ["a function as a table", "SELECT * FROM dblink('x', 'select 1') AS t(a int)"],
    ["a function of a schema", "SELECT public.lower(ssn) FROM orders"],
    ["a function by a quoted name", 'SELECT "lower"(ssn) FROM orders'],
    ["an operator of one's own", "SELECT id OPERATOR(public.+) 1 FROM orders"],
    ["a cast to a type of one's own", "SELECT ssn::leak FROM orders"],
    ["a cast to a table", "SELECT 'orders'::regclass"],
    ["values", "VALUES (1)"],
    ["a comment", "SELECT 1 -- x"],
    ["a comment inside", "SELECT /* x */ 1"],
    ["an escape", "SELECT 'a\\' OR 1 = 1' FROM orders"],
    ["dollars", "SELECT $$x$$"],
    ["a parameter", "SELECT * FROM orders WHERE id = $1"],
    ["an escaped text", "SELECT E'x' FROM orders"],
    ["a Unicode name", 'SELECT * FROM U&"orders"'],
    ["columns by other names", "SELECT * FROM orders AS o (a, b)"],
    ["no SQL", "SELEC 1"],
    ["nothing", ""],
    ["endless brackets", `SELECT ${"(".repeat(500)}1${")".repeat(500)}`],
    ["an endless union", Array.from({ length: 2200 }, () => "SELECT 1").join(" UNION ")],
    ["a set", "SET ROLE admin"],
    ["a copy", "COPY orders TO STDOUT"],
    ["an explanation", "EXPLAIN SELECT * FROM orders"],
  ])("what is not understood is refused: %s", (_, sql) => {
    for (const dialect of ENFORCED_DIALECTS)
      expect(() => enforceSql(parser, sql, dialect, [rules("orders")])).toThrow(/^(?:sql|a name)/);
  });

  describe("a name is one that WITH gave only where the database takes both for one", () => {
    const spelling = fc
      .tuple(fc.constantFrom("people", "PEOPLE", "People", "\u00e9t\u00e9", "\u00c9T\u00c9"), fc.boolean())
      .map(([value, inQuotes]) => ({ value, inQuotes }));
    type Spelling = { readonly value: string; readonly inQuotes: boolean };
    const mark = { postgres: '"', snowflake: '"', bigquery: "`" };
    const kept = (dialect: keyof typeof mark, { value, inQuotes }: Spelling) => {
      if (dialect === "bigquery") return value.toLowerCase();
      if (inQuotes) return value;
      return dialect === "snowflake" ? value.toUpperCase() : value.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
    };
    const places: readonly ((given: string, used: string) => string)[] = [
      (given, used) => `WITH ${given} AS (SELECT 'v' AS ssn) SELECT ssn FROM ${used}`,
      (given, used) => `WITH ${given} AS (SELECT 'v' AS ssn) SELECT (SELECT max(ssn) FROM ${used})`,
      (given, used) => `SELECT ssn FROM (WITH ${given} AS (SELECT 'v' AS ssn) SELECT ssn FROM ${used}) AS q`,
      (given, used) => `WITH ${given} AS (SELECT 'v' AS ssn), b AS (SELECT ssn FROM ${used}) SELECT ssn FROM b`,
      (given, used) => `WITH ${given} AS (SELECT 'v' AS ssn) SELECT 1 WHERE EXISTS (SELECT 1 FROM ${used})`,
    ];
    test.each(ENFORCED_DIALECTS)("on %s, or it is refused", (dialect) => {
      fc.assert(
        fc.property(spelling, spelling, fc.constantFrom(...places), (given, used, place) => {
          const write = ({ value, inQuotes }: Spelling) => (inQuotes ? `${mark[dialect]}${value}${mark[dialect]}` : value);
          const sql = place(write(given), write(used));
          const alike = given.value.toLowerCase() === used.value.toLowerCase();
          const same = kept(dialect, given) === kept(dialect, used);
          let tables: readonly string[] | undefined;
          try {
            ({ tables } = queryReads(parser, sql, dialect));
          } catch (error) {
            // Other letters are none of a name without quotation marks, for some.
            if (/cannot be parsed/.test(String(error))) {
              expect(given.value + used.value).toMatch(/[^a-z]/i);
              return;
            }
            expect(String(error)).toMatch(/WITH: /);
          }
          if (!alike) expect(tables).toHaveLength(1);
          else if (!same) expect(tables).toBeUndefined();
          else if (/^[a-z]*$/i.test(given.value)) expect(tables).toEqual([]);
        }),
        { numRuns: 300 },
      );
    });
    test.each([
      ["outside of the query that gave it", "SELECT ssn FROM (WITH c AS (SELECT 1 AS ssn) SELECT ssn FROM c) q JOIN c ON TRUE"],
      ["in a part of a union", "(WITH c AS (SELECT 1 AS ssn) SELECT ssn FROM c) UNION SELECT ssn FROM c"],
      ["in itself", "WITH c AS (SELECT ssn FROM c) SELECT ssn FROM c"],
      ["before it is given", "WITH a AS (SELECT ssn FROM c), c AS (SELECT 1 AS ssn) SELECT ssn FROM a"],
      ["of a schema", "WITH c AS (SELECT 1 AS ssn) SELECT ssn FROM hr.c"],
    ])("a table's name stays one %s", (_, sql) => {
      for (const dialect of ENFORCED_DIALECTS) expect(queryReads(parser, sql, dialect).tables).toHaveLength(1);
    });
  });

  test.each(["NATURAL", "NATURAL INNER", "NATURAL LEFT", "NATURAL RIGHT OUTER", "NATURAL FULL"])(
    "%s JOIN compares all columns",
    (join) => {
      const sql = `SELECT p.id FROM orders p ${join} JOIN (SELECT 'v' AS ssn) g`;
      for (const dialect of ENFORCED_DIALECTS) expect(queryReads(parser, sql, dialect).columns).toBeUndefined();
    },
  );
});
