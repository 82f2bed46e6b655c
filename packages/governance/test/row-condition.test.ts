import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { conditionSql, ENFORCED_DIALECTS, type RowCondition } from "../src/index.ts";

const COLUMNS = {
  "input.row.name": { column: "name", type: "text" },
  "input.row.age": { column: "t.age", type: "integer" },
  "input.row.price": { column: "price", type: "numeric" },
  "input.row.open": { column: "open", type: "boolean" },
} as const;

const field = (operator: string, name: string, value?: unknown): RowCondition =>
  ({ type: "field", operator, field: `input.row.${name}`, ...(value === undefined ? {} : { value }) }) as RowCondition;
const compound = (operator: "and" | "or" | "not", ...value: RowCondition[]): RowCondition => ({
  type: "compound",
  operator,
  value,
});

/** What is computed, with the condition that it exists beside what is said of it. */
const call = (call: string, ...of: unknown[]) => ({
  call,
  of: of.map((arg) => (Object.hasOwn(TYPES, String(arg)) ? { field: `input.row.${arg}` } : arg)),
});
const TYPES = { name: 0, age: 0, price: 0, open: 0 };
const of = (operator: string, field: unknown, value?: unknown): RowCondition =>
  ({ type: "field", operator, field, ...(value === undefined ? {} : { value }) }) as RowCondition;
const text = fc.string({ unit: "grapheme" }).filter((each) => !each.includes("\0"));
const calls = fc.oneof(
  fc
    .tuple(fc.constantFrom("plus", "minus", "mul"), fc.constantFrom("age", "name"), fc.integer())
    .map(([f, a, b]) => call(f, a, b)),
  fc.constantFrom("age", "name").map((a) => call("abs", call("plus", a, 1))),
  text.map((b) => call("concat", "name", b)),
  fc.tuple(fc.nat(9), fc.integer({ min: -1, max: 9 })).map(([a, b]) => call("substring", "name", a, b)),
  fc.constant(call("count", "name")),
);
/** Those of which one database is not asked. */
const others = fc.oneof(
  fc
    .tuple(fc.constantFrom("trim", "trim_left", "trim_right", "trim_prefix", "trim_suffix"), text)
    .map(([f, b]) => call(f, "name", b)),
  fc.tuple(text, text).map(([a, b]) => call("replace", "name", `a${a}`, b)),
  fc.constantFrom("lower", "upper").map((f) => call(f, "name")),
);

const fields: fc.Arbitrary<RowCondition> = fc.oneof(
  fc
    .tuple(
      fc.constantFrom("eq", "lt", "ge"),
      calls,
      fc.oneof(
        text,
        fc.integer(),
        fc.constant(null),
        calls.map((field) => ({ field })),
      ),
    )
    .map(([operator, field, value]) => compound("and", of("exists", field), of(operator, field, value))),
  fc
    .tuple(fc.constantFrom("startswith", "endswith", "contains"), calls)
    .map(([operator, field]) => compound("or", compound("not", of("exists", field)), of(operator, "input.row.name", { field }))),
  fc
    .tuple(
      fc.constantFrom("eq", "ne", "lt", "le", "gt", "ge"),
      fc.constantFrom("name", "age", "price", "open"),
      fc.oneof(
        fc.string({ unit: "grapheme" }).filter((text) => !text.includes("\0")),
        fc.integer(),
        fc.double({ noNaN: true, min: -1e9, max: 1e9 }).map((n) => Math.round(n * 100) / 100),
        fc.boolean(),
        fc.constant(null),
      ),
    )
    .map(([operator, name, value]) => field(operator, name, value)),
  fc
    .tuple(
      fc.constantFrom("startswith", "endswith", "contains"),
      fc.constantFrom("name", "age"),
      fc.string().filter((s) => !s.includes("\0")),
    )
    .map(([operator, name, value]) => field(operator, name, value)),
  fc
    .array(
      fc.oneof(
        fc.string().filter((s) => !s.includes("\0")),
        fc.integer(),
        fc.constant(null),
      ),
    )
    .map((all) => field("in", "name", all)),
);
const { condition: conditions } = fc.letrec<{ condition: RowCondition }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 4 },
    fields,
    fc
      .tuple(fc.constantFrom("and", "or"), fc.array(tie("condition"), { maxLength: 3 }))
      .map(([operator, value]) => compound(operator as "and", ...value)),
    tie("condition").map((value) => compound("not", value)),
  ),
}));

describe("conditions of rows as SQL", () => {
  test.each([
    [field("eq", "name", "a"), '("name" = CAST($1 AS TEXT) AND "name" COLLATE "C" = CAST($1 AS TEXT))', ["a"]],
    [field("ne", "name", "a"), '("name" COLLATE "C" <> CAST($1 AS TEXT) OR "name" IS NULL)', ["a"]],
    [field("eq", "name", null), '"name" IS NULL', []],
    [field("eq", "name", 1), "FALSE", []],
    [field("lt", "name", 1), '"name" IS NULL', []],
    [field("gt", "name", 1), '"name" IS NOT NULL', []],
    [field("lt", "age", "1"), "TRUE", []],
    [field("le", "age", 3), '("t"."age" <= CAST($1 AS BIGINT) OR "t"."age" IS NULL)', ["3"]],
    [field("gt", "age", 2.5), '"t"."age" > CAST($1 AS NUMERIC)', ["2.5"]],
    [field("eq", "price", { number: "9223372036854775808" }), '"price" = CAST($1 AS NUMERIC)', ["9223372036854775808"]],
    [field("eq", "price", 1e-7), '"price" = CAST($1 AS NUMERIC)', ["0.0000001"]],
    [field("ne", "open", false), '("open" = TRUE OR "open" IS NULL)', []],
    [field("lt", "open", true), '("open" = FALSE OR "open" IS NULL)', []],
    [
      field("in", "age", ["1", null, 1, 2]),
      '("t"."age" IN (CAST($1 AS BIGINT), CAST($2 AS BIGINT)) OR "t"."age" IS NULL)',
      ["1", "2"],
    ],
    [compound("not", field("in", "age", [null, 1])), '"t"."age" NOT IN (CAST($1 AS BIGINT))', ["1"]],
    [field("startswith", "name", "a%_"), 'STARTS_WITH("name" COLLATE "C", CAST($1 AS TEXT))', ["a%_"]],
    [field("endswith", "name", "😀a"), '(RIGHT("name" COLLATE "C", 2) = CAST($1 AS TEXT))', ["😀a"]],
    [field("contains", "age", "1"), "FALSE", []],
    [field("exists", "age"), "TRUE", []],
    [compound("or"), "FALSE", []],
    [compound("and"), "TRUE", []],
    [compound("and", field("eq", "age", 1), compound("or")), "FALSE", []],
    [field("eq", "age", { field: "input.row.name" }), '("t"."age" IS NULL AND "name" IS NULL)', []],
    [of("gt", call("plus", "age", 1), 3), '(CAST("t"."age" AS NUMERIC) + CAST($1 AS NUMERIC)) > CAST($2 AS BIGINT)', ["1", "3"]],
    [of("exists", call("plus", "age", "age")), '"t"."age" IS NOT NULL', []],
    [compound("not", of("exists", call("plus", "age", 1))), '"t"."age" IS NULL', []],
    [of("exists", call("plus", "name", 1)), "FALSE", []],
    [compound("not", of("exists", call("plus", "name", 1))), "TRUE", []],
    [of("lt", call("count", "name"), null), "FALSE", []],
    [of("lt", call("count", "name"), "a"), "TRUE", []],
    [of("eq", call("trim", "name", " "), "a"), 'BTRIM("name" COLLATE "C", CAST($1 AS TEXT)) = CAST($2 AS TEXT)', [" ", "a"]],
    [of("eq", call("substring", "name", 2, -1), "a"), 'SUBSTR("name" COLLATE "C", 3) = CAST($1 AS TEXT)', ["a"]],
    [
      of("startswith", call("concat", "ada"), { field: "input.row.name" }),
      `(STARTS_WITH(CAST($1 AS TEXT), "name" COLLATE "C") OR "name" COLLATE "C" = '')`,
      ["ada"],
    ],
  ] as const)("%j", (condition, sql, parameters) => {
    expect(conditionSql("postgres", condition, COLUMNS)).toEqual({ sql, parameters });
  });

  test("other dialects have placeholders without numbers, their own types and their own ways to compare code points", () => {
    const both = compound("and", field("eq", "name", "a"), field("endswith", "name", "b"), field("ge", "price", 2.5));
    expect(conditionSql("bigquery", both, COLUMNS)).toEqual({
      sql: "((`name` = CAST(? AS STRING) AND COLLATE(`name`, '') = CAST(? AS STRING)) AND ENDS_WITH(COLLATE(`name`, ''), CAST(? AS STRING)) AND `price` >= CAST(? AS BIGNUMERIC))",
      parameters: ["a", "a", "b", "2.5"],
    });
    expect(conditionSql("snowflake", both, COLUMNS)).toEqual({
      sql: `(("name" = CAST(? AS VARCHAR) AND COLLATE("name", 'utf8') = CAST(? AS VARCHAR)) AND ENDSWITH(COLLATE("name", 'utf8'), CAST(? AS VARCHAR)) AND "price" >= CAST(? AS NUMBER(38, 1)))`,
      parameters: ["a", "a", "b", "2.5"],
    });
  });

  test("placeholders may begin behind those of the statement around", () => {
    expect(conditionSql("postgres", field("gt", "age", 1), COLUMNS, 4).sql).toBe('"t"."age" > CAST($4 AS BIGINT)');
  });

  test("nothing of a value stands in the statement: only words, names, placeholders and signs do", () => {
    const word =
      /^(?:[ (),<>=]|"(?:name|t|age|price|open)"|\.|`(?:name|t|age|price|open)`|COLLATE|"C"|'(?:utf8)?'|CAST|\$\d+|\?|AS|TEXT|STRING|VARCHAR|BIGINT|INT64|NUMERIC|BIGNUMERIC|NUMBER|38|\d+|AND|OR|NOT|IN|IS|NULL|TRUE|FALSE|STARTS_?WITH|ENDS_?WITH|CONTAINS|STRPOS|RIGHT|LEFT|LENGTH|(?:OCTET|BYTE)_LENGTH|SUBSTR|REPLACE|[BLR]?TRIM|TRANSLATE|LOWER|UPPER|ABS|CASE|WHEN|THEN|ELSE|END|\|\||[-+*])+$/;
    fc.assert(
      fc.property(conditions, others, fc.constantFrom(...ENFORCED_DIALECTS), (given, other, dialect) => {
        const condition = dialect === "snowflake" ? given : compound("or", given, of("eq", other, "a"));
        const { sql, parameters } = conditionSql(dialect, condition, COLUMNS);
        expect(sql.replaceAll("= ''", "").replaceAll("<> ''", "")).toMatch(word);
        const places = dialect === "postgres" ? new Set(sql.match(/\$\d+/g)).size : (sql.match(/\?/g) ?? []).length;
        expect(parameters).toHaveLength(places);
      }),
    );
  });

  test.each<readonly [what: string, condition: unknown, columns?: object]>([
    ["a field without a column", field("eq", "other", 1)],
    ["a field without a column where nothing else is asked", compound("or", field("exists", "other"), compound("and"))],
    ["a field of the prototype", { type: "field", operator: "exists", field: "constructor" }],
    ["an operator that is not known", field("regex", "name", "a")],
    ["a compound that is not known", { type: "compound", operator: "xor", value: [] }],
    ["a not of two", compound("not", field("exists", "age"), field("exists", "age"))],
    ["no condition", { type: "other" }],
    ["a part that is none", { type: "compound", operator: "and", value: [null] }],
    ["a text with U+0000", field("eq", "name", "a\0b")],
    ["half a character", field("contains", "name", "\ud800")],
    ["a number that was rounded", field("eq", "age", 2 ** 53 + 2)],
    ["a number that is none", field("eq", "age", { number: "1; DROP TABLE t" })],
    ["a number of many digits", field("eq", "age", { number: "1e999999" })],
    ["NaN", field("eq", "age", Number.NaN)],
    ["a list as a value", field("eq", "age", [1])],
    ["a function that is not known", of("eq", call("pg_read_file", "name"), "a")],
    ["a function of the prototype", of("eq", call("constructor", "name"), "a")],
    ["a call without arguments", of("eq", call("concat"), "a")],
    ["arithmetic of what may have fractions", of("gt", call("plus", "price", 1), 1)],
    ["arithmetic with a fraction", of("gt", call("plus", "age", 0.5), 1)],
    ["a number in arithmetic that is none", of("gt", call("plus", "age", { number: "1; --" }), 1)],
    ["more digits than any database computes with", of("gt", call("mul", "age", { number: "9".repeat(990) }), 1)],
    ["an offset that is no number", of("eq", call("substring", "name", "1; --", 1), "a")],
    ["an offset below zero", of("eq", call("substring", "name", -1, 1), "a")],
    ["an empty text that is replaced", of("eq", call("replace", "name", "", "b"), "a")],
    ["half a character that is trimmed", of("eq", call("trim", "name", "\ud800"), "a")],
    [
      "what becomes longer with each call",
      of(
        "eq",
        Array.from({ length: 20 }).reduce((field) => call("trim_prefix", { field }, "a"), call("trim", "name", "b")),
        "a",
      ),
    ],
    [
      "a name that ends its quotation",
      field("exists", "age"),
      { "input.row.age": { column: 'age" OR TRUE --', type: "integer" } },
    ],
    ["a type that is not known", field("exists", "age"), { "input.row.age": { column: "age", type: "float" } }],
    ["a column without a name", field("exists", "age"), { "input.row.age": { column: "", type: "integer" } }],
  ])("%s is refused", (_, condition, columns = COLUMNS) => {
    for (const dialect of ENFORCED_DIALECTS)
      expect(() => conditionSql(dialect, condition as RowCondition, columns as typeof COLUMNS)).toThrow(
        expect.objectContaining({ code: "validation_failed" }),
      );
  });

  test("what a dialect computes in another way, or may, is refused there", () => {
    const wide = of("gt", call("mul", "age", { number: "9".repeat(20) }), 1);
    expect(conditionSql("postgres", wide, COLUMNS).parameters).toHaveLength(2);
    for (const dialect of ["bigquery", "snowflake"] as const)
      expect(() => conditionSql(dialect, wide, COLUMNS)).toThrow(/digits/);
    expect(() => conditionSql("snowflake", of("eq", call("lower", "name"), "a"), COLUMNS)).toThrow(/not on this database/);
  });

  test("numbers that a dialect does not hold are refused there", () => {
    const long = field("lt", "price", { number: "1".repeat(39) });
    expect(conditionSql("postgres", long, COLUMNS).parameters).toEqual(["1".repeat(39)]);
    for (const dialect of ["bigquery", "snowflake"] as const)
      expect(() => conditionSql(dialect, long, COLUMNS)).toThrow(/digits/);
  });
});
