import { analyseSql, createClassifier, parseSql, splitStatements } from "@seneschal/core/governance";
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

  test("a recursive CTE ends", () => {
    expect(
      read("WITH RECURSIVE r AS (SELECT id FROM e UNION ALL SELECT e.id FROM e JOIN r ON e.boss = r.id) SELECT id FROM r").inputs,
    ).toEqual(["e"]);
  });
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
    ["SELECT payload #>> '{owner,ssn}' AS m FROM t", "payload", "ssn"],
    ["SELECT json_extract(payload, '$.owner.ssn') AS m FROM t", "payload", "ssn"],
    ["SELECT payload:owner.ssn::string AS m FROM t", "payload", "ssn"],
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
