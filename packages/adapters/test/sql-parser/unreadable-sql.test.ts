import {
  analyseSql,
  createClassifier,
  type KnownResource,
  MAX_QUERY_LENGTH,
  parseSql,
  type SqlParser,
  tierRank,
} from "@seneschal/governance";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openSqlParser } from "../../src/sql-parser/index.ts";

const parser = await openSqlParser();
const plain = createClassifier({ sql: parser });
const vault: KnownResource = { tier: "RESTRICTED", tags: [], columns: {} };
const isVault = (table: string) => /(?:^|\.)vault7$/i.test(table);
/** One table is registered as RESTRICTED; once without its columns, once with them. */
const catalogues = [undefined, ["id", "k9"]].map((columns) => ({
  schemaOf: (table: string) => (isVault(table) ? columns : undefined),
  classifier: createClassifier({
    sql: parser,
    catalogue: (table) => (isVault(table) ? vault : undefined),
    schemaOf: (table) => (isVault(table) ? columns : undefined),
  }),
}));
const rank = (tier: string) => tierRank(plain.policy, tier);

describe("rows that a statement shows have the tier of their table", () => {
  test.each([
    // What a changing statement gives back.
    "DELETE FROM vault7 RETURNING *",
    "INSERT INTO vault7 (id) VALUES (1) RETURNING k9",
    "UPDATE vault7 SET id = 2 RETURNING vault7.*",
    "INSERT INTO t SELECT 1 RETURNING (SELECT k9 FROM vault7)",
    "WITH x AS (DELETE FROM vault7 RETURNING *) SELECT * FROM x",
    "WITH x AS (UPDATE vault7 SET id = 1 RETURNING k9) SELECT k9 FROM x",
    "CREATE VIEW v AS WITH d AS (DELETE FROM vault7 RETURNING *) SELECT * FROM d",
    "MERGE INTO vault7 USING s ON vault7.id = s.id WHEN MATCHED THEN DELETE RETURNING *",
    "DELETE FROM vault7 OUTPUT deleted.k9",
    "UPDATE v SET id = 1 OUTPUT deleted.* FROM dbo.vault7 v JOIN s ON s.id = v.id",
    "MERGE INTO vault7 USING s ON vault7.id = s.id WHEN MATCHED THEN DELETE OUTPUT deleted.*;",
    // Whole rows.
    "SELECT row_to_json(u) FROM vault7 u",
    "SELECT to_jsonb(vault7) FROM vault7",
    "SELECT u FROM vault7 u",
    "SELECT u::text FROM vault7 u",
    "SELECT (u).* FROM vault7 u",
    "SELECT (u).k9 FROM vault7 u",
    "SELECT json_agg(t) FROM vault7 t",
    "SELECT ROW(u.*) FROM vault7 u",
    "SELECT object_construct(*) FROM vault7",
    "SELECT (SELECT * FROM vault7)",
    "SELECT ARRAY(SELECT v FROM vault7 v)",
    // Relations in other clothes.
    "SELECT * FROM ONLY vault7",
    "SELECT v.* FROM ONLY vault7 v",
    "SELECT v.k9 FROM ONLY (vault7) v",
    "SELECT z FROM vault7 AS u(y, z)",
    "SELECT * FROM vault7 MATCH_RECOGNIZE (PARTITION BY a MEASURES A.k9 AS s ONE ROW PER MATCH PATTERN (A B+) DEFINE B AS B.x > 1)",
    "SELECT * FROM vault7 PIVOT(SUM(k9) FOR q IN ('a', 'b'))",
    "SELECT * FROM IDENTIFIER('vault7')",
    "SELECT * FROM TABLE('vault7')",
    "FROM vault7",
    "TABLE vault7",
    "SELECT * FROM LATERAL (SELECT * FROM vault7) x",
    'SELECT U&"k\\0039" FROM U&"vault\\0037"',
    "SELECT U&\"!006b9\" UESCAPE '!' FROM vault7",
    // Texts that are run.
    "EXEC('SELECT * FROM vault7')",
    "EXECUTE IMMEDIATE 'SELECT * FROM vault7'",
    "EXEC sp_executesql N'SELECT * FROM vault7'",
    "PREPARE s FROM 'SELECT * FROM vault7'",
    "PREPARE s AS SELECT * FROM vault7",
    "SELECT query_to_xml('select * from vault7', true, false, '')",
    // Subqueries where no list of columns is.
    "SELECT 1 LIMIT (SELECT k9 FROM vault7)",
    "SELECT 1 OFFSET (SELECT k9 FROM vault7)",
    "INSERT INTO t (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET a = (SELECT k9 FROM vault7)",
    "INSERT INTO t SET a = (SELECT k9 FROM vault7)",
    "CREATE TABLE t (a int DEFAULT (SELECT k9 FROM vault7))",
    "SELECT * FROM XMLTABLE('/a' PASSING (SELECT k9 FROM vault7) COLUMNS b int)",
    "VALUES ((SELECT k9 FROM vault7))",
    "CALL p((SELECT k9 FROM vault7))",
    // Rows that go elsewhere.
    "MERGE INTO t USING vault7 s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    "INSERT ALL INTO a VALUES (k9) INTO b (c) VALUES (id) SELECT * FROM vault7",
    // Statements in words.
    "please run SELECT * FROM vault7 and send it to me",
  ])("%s", (query) => {
    for (const { classifier } of catalogues) expect(classifier.classify(query).tier).toBe("RESTRICTED");
  });

  test.each([
    "SELECT DISTINCT ON ((SELECT k9 FROM vault7)) 1",
    "SELECT sum(1) OVER w FROM t WINDOW w AS (PARTITION BY (SELECT k9 FROM vault7))",
    "SELECT a FROM t START WITH a = (SELECT k9 FROM vault7) CONNECT BY PRIOR a = b",
    "SELECT GROUP_CONCAT(a ORDER BY (SELECT k9 FROM vault7)) FROM t",
  ])("%s: what only sorts or filters counts one tier less, and is reported", (query) => {
    for (const { classifier } of catalogues) expect(classifier.classify(query).tier).toBe("PROPRIETARY");
    expect(analyseSql(parseSql(parser, query).statements).inputs).toContain("vault7");
  });
});

describe("what cannot be read is the highest tier, and the answer says so", () => {
  test.each([
    "SELECT ssn FROM t WHERE ((((",
    "EXECUTE 'SELECT s'||'sn FROM patients'",
    "EXECUTE IMMEDIATE 'SELECT s' || 'sn FROM patients'",
    "EXEC(@q)",
    "EXEC sp_executesql @q",
    "PREPARE s FROM @q",
    "SELECT * FROM IDENTIFIER($t)",
    "DO $$ BEGIN zork frobnicate (1; END $$",
    "select name from t wibble wobble where x = 1",
    `SELECT ${"f(".repeat(45)}`,
    `SELECT * FROM t; SELECT ${"f(".repeat(45)}`,
    JSON.stringify({ sql: "SELECT * FROM t WHERE ((((" }),
    "CALL report('SELECT * FROM t WHERE ((((')",
  ])("%s", (query) => {
    const { tier, reasoning, confidence } = plain.classify(query);
    expect(tier).toBe("RESTRICTED");
    expect(reasoning).toMatch(/could not be read|is built when it runs|is built when the statement runs/);
    expect(confidence).toBeLessThan(0.9);
  });

  test("the words of it are in the tags", () => {
    expect(plain.classify("SELECT ssn, email FROM t WHERE ((((").tags).toEqual(expect.arrayContaining(["SSN", "EMAIL"]));
  });

  test.each([
    "Select a colour that you like from the list (red or blue), please.",
    "Update the front page with our new slogan before the set is built.",
    "Execute the plan that we agreed on.",
    "Call me when the train is in.",
    "Begin with the second chapter.",
    "With kind regards from the whole team",
    "Do you know when the shop opens?",
    "Insert the coin, then press the button.",
    "Merge the two lanes of the road into one.",
    "If there is rain we stay at home.",
    "Delete the old leaflets from the shelf.",
    "Lock the doors, please.",
    "Copy the poem into your notebook.",
  ])("a sentence is none: %s", (text) => expect(rank(plain.classify(text).tier)).toBeLessThanOrEqual(1));
});

describe("no cliff", () => {
  const depths = fc.constantFrom(1, 2, 3, 5, 8, 12, 20, 30, 50, 100, 267, 1000);
  const wraps: readonly ((expression: string, n: number) => string)[] = [
    (e, n) => `SELECT ${"(".repeat(n)}${e}${")".repeat(n)}`,
    (e, n) => `SELECT ${"coalesce(".repeat(n)}${e}${")".repeat(n)}`,
    (e, n) => `SELECT ${"CASE WHEN 1=1 THEN ".repeat(n)}${e}${" END".repeat(n)}`,
    (e, n) => `SELECT ${"CAST(".repeat(n)}${e}${" AS TEXT)".repeat(n)}`,
    (e, n) => `SELECT ${"(SELECT ".repeat(n)}${e}${")".repeat(n)}`,
  ];
  const expressions = fc.constantFrom(
    "1",
    "(SELECT ssn FROM patients)",
    "(SELECT email FROM users)",
    "(SELECT id FROM orders)",
    "(SELECT count(*) FROM patients)",
  );
  const tierOf = (query: string) => rank(plain.classify(query.slice(0, MAX_QUERY_LENGTH)).tier);

  test("wrapping an expression in parentheses, calls, CASE, CAST or subqueries never lowers its tier", () =>
    fc.assert(
      fc.property(fc.constantFrom(...wraps), expressions, depths, (wrap, expression, n) => {
        expect(tierOf(wrap(expression, n))).toBeGreaterThanOrEqual(tierOf(`SELECT ${expression}`));
      }),
    ));

  test("wrapping a query in subselects never lowers its tier", () =>
    fc.assert(
      fc.property(
        fc.constantFrom("SELECT ssn, diagnosis FROM patients", "SELECT email FROM users", "SELECT 1", "select ssn from patients"),
        depths,
        (query, n) => {
          expect(tierOf(`${"SELECT * FROM (".repeat(n)}${query}${") x".repeat(n)}`)).toBeGreaterThanOrEqual(tierOf(query));
        },
      ),
    ));
});

test("a text is not given to the parser in a dialect in which reading it could take for ever", () => {
  let given: string[] = [];
  const counting: SqlParser = {
    parse(_, dialect) {
      given.push(dialect);
      throw new Error("not read");
    },
  };
  const triedFor = (sql: string): readonly string[] => {
    given = [];
    const { failed, unread } = parseSql(counting, sql);
    expect([failed, unread.length]).toEqual([1, 1]);
    return given;
  };
  for (const opening of ["CAST(", "INTERVAL CAST(", "INTERVAL ", "CASE WHEN ", "ARRAY[", "(SELECT 1 FROM ("])
    expect([opening, triedFor(`SELECT ${opening.repeat(45)}`)]).toEqual([opening, []]);
  // Arguments of calls are read twice in these alone.
  for (const opening of ["f(", '"f"(', "f(x -> "])
    for (const dialect of ["postgres", "mssql", "snowflake"])
      expect(triedFor(`SELECT ${opening.repeat(45)}`)).not.toContain(dialect);
  // What stands in a row costs nothing.
  expect(triedFor(`SELECT 1 1, ${"f(1), ".repeat(200)}`)).toContain("postgres");
});

describe("generated statements", () => {
  // Each shows two columns of the names that the next one asks for.
  const columns = fc.constantFrom(
    "*",
    "v.*",
    "id, k9",
    "v.id, v.k9",
    "id, v AS k9",
    "id, to_jsonb(v) AS k9",
    "min(id) AS id, max(k9) AS k9",
    "id, CASE WHEN id = 1 THEN k9 END AS k9",
    "id, k9 || 'x' AS k9",
    "1 AS id, array_agg(v) AS k9",
  );
  const { query } = fc.letrec<{ query: string; relation: string; scalar: string }>((tie) => ({
    query: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.tuple(columns, tie("relation")).map(([c, r]) => `SELECT ${c} FROM ${r}`),
      tie("query").map((q) => `WITH c AS (${q}) SELECT * FROM c`),
      tie("query").map((q) => `(${q}) UNION ALL SELECT * FROM other`),
      tie("query").map((q) => `SELECT 1 AS id, 2 AS k9 UNION ALL (${q})`),
      tie("query").map((q) => `WITH a AS (SELECT 1), c AS (${q}) SELECT x.* FROM a CROSS JOIN c x`),
      tie("query").map((q) => `SELECT z.* FROM (VALUES (1)) t(a), LATERAL (${q}) z`),
      tie("scalar").map((s) => `SELECT 1 AS id, ${s} AS k9`),
      fc.constant("WITH d AS (DELETE FROM vault7 v RETURNING *) SELECT * FROM d"),
    ),
    relation: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.constantFrom(
        "vault7 v",
        "vault7 AS v",
        "public.vault7 v",
        '"vault7" v',
        "VAULT7 v",
        "ONLY vault7 v",
        "a JOIN vault7 v ON a.id = v.id",
        "a, vault7 v",
        "(a CROSS JOIN vault7 v)",
      ),
      tie("query").map((q) => `(${q}) v`),
    ),
    scalar: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      tie("query").map((q) => `(${q})`),
      tie("query").map((q) => `ARRAY(${q})`),
      tie("scalar").map((s) => `coalesce(${s}, 'x')`),
      tie("scalar").map((s) => `CASE WHEN 1 = 1 THEN ${s} END`),
      tie("scalar").map((s) => `upper(${s}::text)`),
    ),
  }));
  const statement = fc.oneof(
    query,
    query.map((q) => `CREATE TABLE copied AS ${q}`),
    query.map((q) => `INSERT INTO copied ${q}`),
    query.map((q) => `CREATE VIEW shown AS ${q}`),
    query.map((q) => `COPY (${q}) TO STDOUT`),
    query.map((q) => `UPDATE copied SET a = (${q})`),
    query.map((q) => `INSERT INTO copied (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET a = (${q})`),
    query.map((q) => `DELETE FROM copied RETURNING (${q})`),
    query.map((q) => `EXPLAIN ANALYZE ${q}`),
    query.map((q) => `EXECUTE IMMEDIATE '${q.replaceAll("'", "''")}'`),
    query.map((q) => `DECLARE c CURSOR FOR ${q}`),
  );
  const anywhere = fc.oneof(
    statement,
    query.map((q) => `SELECT 1 WHERE 1 IN (${q})`),
    query.map((q) => `SELECT 1 WHERE EXISTS (${q})`),
    query.map((q) => `SELECT a FROM t ORDER BY (${q})`),
    query.map((q) => `SELECT a FROM t GROUP BY (${q})`),
    query.map((q) => `SELECT a FROM t LIMIT (${q})`),
    query.map((q) => `SELECT count(*) FROM (${q}) n`),
    query.map((q) => `SELECT sum(a) FILTER (WHERE a IN (${q})) OVER (PARTITION BY (${q})) FROM t`),
    query.map((q) => `DELETE FROM t USING (${q}) u WHERE t.id = u.id`),
    query.map((q) => `MERGE INTO t USING (${q}) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET a = s.id`),
    query.map((q) => `CREATE POLICY p ON t USING (id IN (${q}))`),
  );

  test("have the tier of the table whose rows they show", () =>
    fc.assert(
      fc.property(statement, fc.constantFrom(...catalogues), (sql, { classifier }) => {
        expect([sql, classifier.classify(sql).tier]).toEqual([sql, "RESTRICTED"]);
      }),
      { numRuns: 300 },
    ));

  test("report each table that they name, or say that something is not explained; and are never PUBLIC", () =>
    fc.assert(
      fc.property(anywhere, fc.constantFrom(...catalogues), (sql, { classifier, schemaOf }) => {
        const { statements, failed } = parseSql(parser, sql);
        const { inputs, outputs, unexplained, unread } = analyseSql(statements, schemaOf);
        expect([sql, [...inputs, ...outputs].some(isVault) || failed + unexplained.length + unread.length > 0]).toEqual([
          sql,
          true,
        ]);
        expect([sql, rank(classifier.classify(sql).tier)]).not.toEqual([sql, 0]);
      }),
      { numRuns: 300 },
    ));
});
