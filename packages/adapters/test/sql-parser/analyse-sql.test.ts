import { analyseSql, createClassifier, LineageGraph, LineageIngest, parseSql, splitStatements } from "@seneschal/governance";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openSqlParser } from "../../src/sql-parser/index.ts";

const parser = await openSqlParser();
const read = (sql: string, dialect?: string, schemas: Record<string, string[]> = {}) =>
  analyseSql(parseSql(parser, sql, dialect).statements, (table) => schemas[table]);
const inputsOf = (sql: string, column: string, dialect?: string, schemas = {}) =>
  read(sql, dialect, schemas)
    .results.at(-1)
    ?.columns.find((c) => c.name === column)
    ?.inputs.map((i) => `${i.table}.${i.field} ${i.subtype}${i.masking ? " masked" : ""}`);

describe("tables", () => {
  test.each([
    ["WITH c AS (SELECT * FROM a) SELECT * FROM c JOIN b USING (id)", ["a", "b"], []],
    ["INSERT INTO t SELECT x FROM (SELECT x FROM a UNION SELECT y FROM b) q", ["a", "b"], ["t"]],
    ["CREATE TABLE t AS SELECT * FROM a", ["a"], ["t"]],
    ["MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v", ["s"], ["t"]],
    ["UPDATE t SET v = b.v FROM b WHERE t.id = b.id", ["b"], ["t"]],
    ["DELETE FROM t WHERE id IN (SELECT id FROM gone)", ["gone"], ["t"]],
    ["SELECT 1 WHERE EXISTS (SELECT 1 FROM a)", ["a"], []],
    ["FROM src INSERT OVERWRITE TABLE a SELECT x INSERT INTO TABLE b SELECT y WHERE y > 1", ["src"], ["a", "b"]],
    ["EXPORT TABLE src TO '/tmp/x'", ["src"], ["/tmp/x"]],
    ["USE db; INSERT INTO t SELECT * FROM a", ["db.a"], ["db.t"]],
    ["UPDATE t SET v = b.v FROM dbo.t t JOIN b ON t.id = b.id", ["b"], ["dbo.t"]],
    ["DELETE t FROM dbo.t t JOIN b ON t.id = b.id", ["b"], ["dbo.t"]],
    ["INSERT ALL INTO a VALUES (x) INTO b (c) VALUES (y) SELECT x, y FROM s", ["s"], ["a", "b"]],
    ["MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *", ["s"], ["t"]],
    ["WITH x AS (DELETE FROM a RETURNING *) INSERT INTO t SELECT * FROM x", ["a"], ["a", "t"]],
    ["CREATE VIEW t AS WITH d AS (DELETE FROM a RETURNING *) SELECT * FROM d", ["a"], ["a", "t"]],
    ["INSERT INTO t SELECT * FROM ONLY a", ["a"], ["t"]],
    ["INSERT INTO t SELECT 1 LIMIT (SELECT n FROM a)", ["a"], ["t"]],
    ["EXEC('INSERT INTO t SELECT * FROM a')", ["a"], ["t"]],
  ])("%s", (sql, inputs, outputs) => {
    const got = read(sql);
    expect([[...got.inputs].sort(), [...got.outputs].sort()]).toEqual([inputs, outputs]);
  });

  test.each([
    ["SELECT 1", "READ"],
    ["COPY t TO '/tmp/x'", "EXPORT"],
    ["INSERT INTO t VALUES (1)", "WRITE"],
    ["DELETE FROM t", "DELETE"],
  ])("%s is %s", (sql, operation) => expect(read(sql, "postgres").operation).toBe(operation));
});

describe("columns", () => {
  test("aliases are followed through subqueries and CTEs", () => {
    expect(inputsOf("WITH c AS (SELECT s.ssn AS x FROM people s) SELECT d.x AS y FROM (SELECT x FROM c) d", "y")).toEqual([
      "people.ssn IDENTITY",
    ]);
  });

  test("a star is expanded where the schema is known, and kept as a star where not", () => {
    expect(read("SELECT * FROM t", "postgres", { t: ["a", "b"] }).results[0]?.columns.map((c) => c.name)).toEqual(["a", "b"]);
    expect(read("SELECT * FROM t").results[0]?.stars).toEqual(["t"]);
  });

  test("masking and aggregation are told apart, and masking inside an aggregate is kept", () => {
    expect(inputsOf("SELECT sha256(ssn) AS h FROM t", "h")).toEqual(["t.ssn TRANSFORMATION masked"]);
    expect(inputsOf("SELECT count(ssn) AS n FROM t", "n")).toEqual(["t.ssn AGGREGATION"]);
    expect(inputsOf("SELECT max(md5(ssn)) AS m FROM t", "m")).toEqual(["t.ssn AGGREGATION masked"]);
  });

  test("set operations unite by position, inserts name by the target", () => {
    expect(inputsOf("INSERT INTO t (x) SELECT a FROM p UNION ALL SELECT b FROM q", "x")).toEqual([
      "p.a IDENTITY",
      "q.b IDENTITY",
    ]);
  });

  test("members of an unnested value come from its column", () => {
    expect(inputsOf("SELECT p.key FROM e, UNNEST(params) p", "key", "bigquery")).toEqual(["e.params TRANSFORMATION"]);
  });

  test("columns of a PIVOT come from what is aggregated", () => {
    const sql = "SELECT q1 FROM s PIVOT(SUM(amount) FOR quarter IN ('q1', 'q2'))";
    expect(inputsOf(sql, "q1", "snowflake", { s: ["amount", "quarter"] })).toContain("s.amount AGGREGATION");
  });

  test("a row as a whole is all columns where they are known, else a star", () => {
    const sql = "INSERT INTO t (doc) SELECT to_jsonb(p) FROM s p";
    expect(inputsOf(sql, "doc")).toContain("s.* TRANSFORMATION");
    expect(inputsOf(sql, "doc", "postgres", { s: ["a", "b"] })).toEqual(["s.a TRANSFORMATION", "s.b TRANSFORMATION"]);
  });

  test("INSERT ALL gives each table its own values", () => {
    const { results } = read("INSERT ALL INTO a (x) VALUES (p) INTO b (y) VALUES (q) SELECT p, q FROM s");
    const made = results.map((r) => [r.table, r.columns.map((c) => [c.name, c.inputs.map((i) => i.field)])]);
    expect(made).toEqual([
      ["a", [["x", ["p"]]]],
      ["b", [["y", ["q"]]]],
    ]);
  });

  test("what comes by no rule of the SELECT list goes to every table that the statement writes", () => {
    const { results } = read("INSERT INTO t SELECT 1 LIMIT (SELECT n FROM a)");
    expect(results.filter((r) => r.table === "t").flatMap((r) => r.stars)).toEqual(["a"]);
  });

  test("a table counts wherever it cannot be told from the name of a CTE", () => {
    const tables = (sql: string, dialect?: string) => read(sql, dialect).inputs;
    const given = (name: string, used: string) => `WITH ${name} AS (SELECT 'v' AS ssn) SELECT ssn FROM ${used}`;
    for (const [name, used] of [
      ['"PG_AUTHID"', "pg_authid"],
      ['"people"', "people"],
      ["people", '"PEOPLE"'],
      ["People", "people"],
      ['"hr.people"', "hr.people"],
    ] as const)
      expect([name, tables(given(name, used)).length, tables(given(name, `(SELECT ssn FROM ${used}) q`)).length]).toEqual([
        name,
        1,
        1,
      ]);
    for (const name of ["people", '"People"', "PEOPLE"]) expect(tables(given(name, name))).toEqual([]);
    expect(tables(given("`people`", "people"), "mysql")).toEqual([]);
    expect(tables("WITH people AS (SELECT ssn FROM people) SELECT ssn FROM people")).toEqual(["people"]);
    expect(tables("SELECT ssn FROM (WITH c AS (SELECT 1 AS ssn) SELECT ssn FROM c) q, c")).toEqual(["c"]);
    expect(tables("WITH a AS (SELECT ssn FROM c), c AS (SELECT 1 AS ssn) SELECT ssn FROM a")).toEqual(["c"]);
  });

  test("of CTEs that differ in case or quotation marks alone each counts", () => {
    const { results } = read(`WITH "C" AS (SELECT ssn FROM people), c AS (SELECT 1 AS ssn) SELECT ssn FROM "C"`);
    expect(results[0]?.columns[0]?.inputs).toMatchObject([{ table: "people", field: "ssn" }]);
  });

  test("under RECURSIVE a CTE reads those behind it", () => {
    const { results, inputs } = read(
      "WITH RECURSIVE a AS (SELECT x FROM b), b AS (SELECT x FROM c), c AS (SELECT ssn AS x FROM people) SELECT x FROM a",
    );
    expect(inputs).toEqual(["people"]);
    expect(results[0]?.columns[0]?.inputs).toMatchObject([{ table: "people", field: "ssn" }]);
  });

  test("a natural join compares the columns that both sides may have", () => {
    const compared = (sql: string) =>
      read(sql, "postgres", { people: ["id", "email"] }).results[0]?.dataset.map(({ table, field }) => `${table}.${field}`) ?? [];
    for (const kind of ["NATURAL", "NATURAL LEFT", "NATURAL FULL"]) {
      expect(compared(`SELECT p.id FROM people p ${kind} JOIN (SELECT 'v' AS email) g`)).toContain("people.email");
      expect(compared(`SELECT o.id FROM other o ${kind} JOIN (SELECT 'v' AS email) g`)).toContain("other.email");
      expect(compared(`SELECT o.id FROM other o ${kind} JOIN more`)).toEqual(expect.arrayContaining(["other.*", "more.*"]));
      expect(compared(`SELECT p.id FROM people p ${kind} JOIN (SELECT 'v' AS x) g`)).toEqual([]);
    }
  });

  test("a recursive CTE ends", () => {
    expect(
      read("WITH RECURSIVE r AS (SELECT id FROM e UNION ALL SELECT e.id FROM e JOIN r ON e.boss = r.id) SELECT id FROM r").inputs,
    ).toEqual(["e"]);
  });
});

describe("lineage of a job whose SQL is", () => {
  const linked = (query: string) => {
    const graph = new LineageGraph();
    const dataset = (name: string) => ({ namespace: "db", name });
    new LineageIngest(graph, parser).add(
      {
        eventType: "COMPLETE",
        eventTime: "2026-01-01T00:00:00Z",
        producer: "https://example.org/producer",
        schemaURL: "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        run: { runId: "01890000-0000-7000-8000-000000000000" },
        job: {
          namespace: "db",
          name: "job",
          facets: { sql: { _producer: "https://example.org", _schemaURL: "https://example.org", query } },
        },
        inputs: [dataset("a"), dataset("b")],
        outputs: [dataset("t")],
      },
      0,
    );
    return graph.edgesAmong(["db/a", "db/b", "db/t"]);
  };
  const columnsFrom = (query: string) =>
    Object.fromEntries(linked(query).map((edge) => [edge.source, edge.columns.map((c) => `${c.from}>${c.to ?? ""}`)]));

  test.each([
    [
      "read whole is narrowed to its columns",
      "INSERT INTO t (x) SELECT a.k FROM a JOIN b ON true",
      { "db/a": ["k>x"], "db/b": [] },
    ],
    [
      "partly unread is not",
      "INSERT INTO t (x) SELECT a.k FROM a; INSERT INTO t SELECT b.k FROM b WHERE ((",
      { "db/a": [], "db/b": [] },
    ],
    ["partly unexplained is not", "INSERT INTO t (x) SELECT a.k FROM a WHERE other.k = 1", { "db/a": [], "db/b": [] }],
    ["built when it runs is not", "INSERT INTO t (x) SELECT a.k FROM a; EXEC(@q)", { "db/a": [], "db/b": [] }],
    ["a star beside a column is a star", "INSERT INTO t (x, y) SELECT a, a.k FROM a", { "db/a": [], "db/b": [] }],
  ])("%s", (_, query, expected) => expect(columnsFrom(query)).toEqual(expected));
});

describe("any text", () => {
  test("is parsed or counted as failed, never thrown at the caller", () => {
    const words = fc.constantFrom(
      "SELECT",
      "*",
      "FROM",
      "t",
      "(",
      ")",
      ",",
      "'",
      '"',
      ";",
      "--",
      "WITH",
      "a AS",
      "INSERT INTO",
      "1",
      "/*",
      "*/",
      "FROM t INSERT",
      "EXPORT TABLE",
      "LOAD DATA",
    );
    fc.assert(
      fc.property(fc.array(words, { maxLength: 20 }), (parts) => {
        const { statements } = parseSql(parser, parts.join(" "));
        expect(() => analyseSql(statements)).not.toThrow();
      }),
    );
  });

  test("statements are split outside quotes and comments only", () => {
    expect(splitStatements("SELECT ';' -- ;\n; SELECT /* ; */ 2")).toEqual(["SELECT ';' -- ;", "SELECT /* ; */ 2"]);
  });
});

test("sensitivity: min shows a value, count does not; a literal leaks what it is", () => {
  const classifier = createClassifier({ sql: parser });
  expect(classifier.classify("SELECT min(ssn) FROM people").tier).toBe("PROPRIETARY");
  expect(classifier.classify("SELECT count(ssn) FROM people").tier).toBe("CONFIDENTIAL");
  expect(classifier.classify("SELECT city FROM people WHERE card = '4111111111111111'").tier).toBe("RESTRICTED");
  expect(classifier.classify("SELECT 1").tier).toBe("PUBLIC");
});

describe("members of structures", () => {
  test.each([
    ["SELECT payload->>'ssn' AS m FROM t", "payload", "ssn"],
    ["SELECT payload #>> '{owner,ssn}' AS m FROM t", "payload", "owner.ssn"],
    ["SELECT json_extract(payload, '$.owner.ssn') AS m FROM t", "payload", "owner.ssn"],
    ["SELECT payload:owner.ssn::string AS m FROM t", "payload", "owner.ssn"],
    ["SELECT payload['ssn'] AS m FROM t", "payload", "ssn"],
    ["SELECT x.profile.ssn AS m FROM t x", "profile", "ssn"],
  ])("%s takes a member of the column", (sql, field, member) => {
    const inputs = read(sql)
      .results.at(-1)
      ?.columns.find((c) => c.name === "m")?.inputs;
    expect(inputs).toMatchObject([{ table: "t", field, member, type: "DIRECT" }]);
  });

  test("an index takes none", () => {
    expect(read("SELECT tags[1] AS m FROM t").results[0]?.columns[0]?.inputs[0]?.member).toBeUndefined();
  });

  test("COPY INTO a stage moves rows out, COPY INTO a table brings them in", () => {
    expect(read("COPY INTO @stage/x FROM (SELECT email FROM customers)", "snowflake")).toMatchObject({
      operation: "EXPORT",
      inputs: ["customers"],
    });
    expect(read("COPY INTO customers FROM @stage/x", "snowflake")).toMatchObject({ operation: "WRITE", outputs: ["customers"] });
  });
});
