import { type Obligation, tableQuery, tableRules, tableView } from "@seneschal/governance";
import { expect, test } from "vitest";

const TABLES = [{ name: "public.orders", columns: ["id", "region", "ssn"] }];
const of = (type: string, properties: object): Obligation => ({
  type,
  id: type,
  properties: properties as Obligation["properties"],
});

test("masks and filters of obligations become those of tables; the strictest mask of a column holds", () => {
  const [rules] = tableRules(
    [
      of("masking", { columns: ["SSN"], operator: "mask", keep_last: 4 }),
      of("transform", { transformations: [{ type: "drop", columns: ["ssn"] }] }),
      of("row_filter", { column: "Region", equals: ["EU", "UK"] }),
      of("notice", { to: "owner" }),
    ],
    TABLES,
  );
  expect(rules).toMatchObject({ masks: { ssn: { operator: "drop" } }, filters: [{ column: "region", values: ["EU", "UK"] }] });
});

test.each<[string, Obligation]>([
  ["of an unknown type", of("watermark", {})],
  ["of a transformation that a query cannot do", of("transform", { transformations: [{ type: "aggregate", k: 10 }] })],
  ["of a mask that is not known", of("masking", { columns: ["ssn"], operator: "hash" })],
  ["that masks nothing", of("masking", { columns: [] })],
  ["that masks what no table has", of("masking", { columns: ["salary"] })],
  ["that filters by what a table lacks", of("row_filter", { column: "tenant", equals: "x" })],
  ["that filters without a value", of("row_filter", { column: "region" })],
  ["that filters by an object", of("row_filter", { column: "region", equals: { a: 1 } })],
])("an obligation %s lets no query run", (_, obligation) => {
  expect(() => tableRules([obligation], TABLES)).toThrow(/obligations: /);
});

test.each(["it's", "a\\", "a\nb"])("a value that a dialect could read otherwise is refused: %j", (value) => {
  const [rules] = tableRules([of("row_filter", { column: "region", equals: value })], TABLES);
  for (const dialect of ["postgres", "bigquery", "snowflake"] as const)
    expect(() => tableQuery(dialect, rules as never, "orders")).toThrow(/cannot/);
});

test("views keep conditions of the outside from hidden rows, where the database knows such views", () => {
  const [rules] = tableRules([of("masking", { columns: ["ssn"] }), of("row_filter", { column: "region", equals: "EU" })], TABLES);
  const masked = (q: string) =>
    `SELECT ${q}id${q}, ${q}region${q}, CASE WHEN ${q}ssn${q} IS NULL THEN NULL ELSE '***' END AS ${q}ssn${q} FROM ${q}public${q}.${q}orders${q} WHERE ${q}region${q} IN ('EU')`;
  expect(tableView("postgres", rules as never, "safe.orders")).toBe(
    `CREATE OR REPLACE VIEW "safe"."orders" WITH (security_barrier = true) AS ${masked('"')}`,
  );
  expect(tableView("snowflake", rules as never, "safe.orders")).toBe(
    `CREATE OR REPLACE SECURE VIEW "safe"."orders" AS ${masked('"')}`,
  );
  expect(tableView("bigquery", rules as never, "safe.orders")).toBe(
    `CREATE OR REPLACE VIEW \`safe\`.\`orders\` AS ${masked("`")}`,
  );
  expect(() => tableView("postgres", rules as never, 'x" AS SELECT 1; --')).toThrow();
});
