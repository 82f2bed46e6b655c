import { createClassifier } from "@seneschal/governance";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openSqlParser } from "../../src/sql-parser/index.ts";

const classifier = createClassifier({ sql: await openSqlParser() });
const read = (query: string) => {
  const { tier, operation, form } = classifier.classify(query);
  return [tier, operation, form];
};

describe("a query inside a statement is seen", () => {
  test.each([
    ["UNLOAD ('select email from users where name = ''x''') TO 's3://bucket'", "EXPORT"],
    ["EXPORT DATA OPTIONS(uri='gs://x') AS SELECT email FROM users", "EXPORT"],
    ["COPY (SELECT email FROM users) TO 's3://x'", "EXPORT"],
    ["SELECT email FROM users INTO OUTFILE '/tmp/x'", "EXPORT"],
    ["SELECT email INTO OUTFILE '/tmp/x' FROM users", "EXPORT"],
    ["INSERT OVERWRITE DIRECTORY '/x' SELECT email FROM users", "EXPORT"],
    ["((SELECT email FROM users))", "READ"],
    ["DECLARE c CURSOR FOR SELECT email FROM users", "READ"],
    ["PREPARE p AS SELECT email FROM users", "READ"],
    ["EXPLAIN SELECT email FROM users", "READ"],
    ["BEGIN; SELECT email FROM users; COMMIT", "READ"],
    ["SET search_path = crm; SELECT email FROM users", "READ"],
    ["CREATE VIEW v AS SELECT email FROM users", "WRITE"],
  ])("%s", (query, operation) => expect(read(query)).toEqual(["CONFIDENTIAL", operation, "sql"]));
});

describe("words that begin like a statement and are none", () => {
  test.each([
    ["show revenue by month", "INTERNAL"],
    ["show all customer emails", "CONFIDENTIAL"],
    ["export all customer emails", "CONFIDENTIAL"],
    ["load every patient's diagnosis", "RESTRICTED"],
    ["I need a dump of the employee database", "INTERNAL"],
    ["Get a list of names and addresses of all employees", "CONFIDENTIAL"],
    ["hash the emails and export the customer list", "INTERNAL"],
    ["pull SSNs for everyone in payroll", "PROPRIETARY"],
    ["without delay and export all customer emails", "CONFIDENTIAL"],
  ])("%s is %s", (query, tier) => expect(read(query).slice(0, 1)).toEqual([tier]));

  test("what is left out is not asked for, whoever it belongs to", () => {
    expect(read("give me all customers without their phone numbers")[0]).toBe("INTERNAL");
    expect(read("give me all customers with their phone numbers")[0]).toBe("CONFIDENTIAL");
    expect(read("export user list excluding emails and phones")[0]).toBe("INTERNAL");
  });
});

test("a constant is no data, whatever its column is called", () => {
  expect(read("SELECT '***' AS ssn FROM users")[0]).toBe("CONFIDENTIAL");
  expect(read("SELECT NULL AS email FROM users")[0]).toBe("INTERNAL");
  expect(read("SELECT '536-22-8726' AS ssn")[0]).toBe("PROPRIETARY");
});

test("a few characters of a value count as masked, more do not", () => {
  const tier = (column: string) => read(`SELECT ${column} FROM payments`)[0];
  const whole = tier("card_number");
  for (const little of [
    "right(card_number, 4)",
    "left(card_number, 4)",
    "substring(card_number, 1, 4)",
    "substring(card_number from 13 for 4)",
  ])
    expect([little, tier(little)]).toEqual([little, "PROPRIETARY"]);
  for (const much of [
    "right(card_number, 12)",
    "substring(card_number, 1)",
    "left(card_number, n)",
    "substring(card_number from 1 for 16)",
  ])
    expect([much, tier(much)]).toEqual([much, whole]);
});

describe("SQL inside another text is read as SQL", () => {
  test.each([
    ['cursor.execute("SELECT email, ssn FROM users WHERE id = %s", (i,))', "text"],
    ["EXEC sp_executesql N'SELECT ssn FROM customers'", "sql"],
    ['{"database":"crm","sql":"SELECT ssn FROM customers"}', "json"],
    ["CALL run_report('SELECT ssn FROM customers')", "sql"],
  ])("%s", (query, form) => {
    const [tier, , as] = read(query);
    expect([tier, as]).toEqual(["PROPRIETARY", form]);
  });

  test.each([
    ["SELECT payload->>'ssn' FROM events", "PROPRIETARY"],
    ["SELECT sha256(payload->>'ssn') FROM events", "CONFIDENTIAL"],
    ["SELECT id FROM events WHERE payload->>'ssn' IS NOT NULL", "CONFIDENTIAL"],
    ["SELECT id FROM events WHERE payload->>'ssn' = 'x'", "CONFIDENTIAL"],
    ["SELECT payload->>'colour' FROM events", "INTERNAL"],
  ])("%s is %s: a member counts as a column does", (query, tier) => expect(read(query)[0]).toBe(tier));
});

describe("a name with its schema is no host", () => {
  const suffix = fc.constantFrom("services", "zone", "info", "store", "app", "id", "name", "co", "media", "net");
  const name = fc.constantFrom("crm", "hr", "shop", "t1", "data");
  const hosts = (text: string) => classifier.classify(text).findings.filter(({ entity }) => entity === "URL").length;
  const statements = fc.constantFrom<(schema: string, table: string) => string>(
    (s, t) => `select x from ${s}.${t}`,
    (s, t) => `SELECT ${s}.${t} FROM a ${s} WHERE ${s}.${t} > 3`,
    (s, t) => `update ${s}.${t} set x = 1`,
    (s, t) => `insert into ${s}.${t} (a) values (1)`,
    (s, t) => `delete from ${s}.${t} where a = 1`,
    (s, t) => `select 1 from ((${s}.${t}`,
  );
  test("in a statement, whatever its parts; what stands in quotes or in a comment still is one", () =>
    fc.assert(
      fc.property(name, suffix, statements, (schema, table, write) => {
        const text = write(schema, table);
        expect([text, hosts(text)]).toEqual([text, 0]);
        expect(hosts(`${text.replace(/\(\(.*/, "a")} -- see shop.example.com`)).toBe(1);
        expect(hosts(`select x from ${schema}.${table} where host = 'shop.example.com'`)).toBe(1);
      }),
    ));
});
