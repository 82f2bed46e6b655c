import fc from "fast-check";

/** The columns of the rows that {@link rowPolicies} judge, and what they hold. */
export const ROW_COLUMNS = {
  name: "text",
  note: "text",
  age: "integer",
  level: "integer",
  price: "numeric",
  active: "boolean",
  open: "boolean",
} as const;

/** A row by its columns; numbers are their digits. */
export type GeneratedRow = Readonly<Record<keyof typeof ROW_COLUMNS, string | boolean | null>>;

/** A module `package p` with a rule `allow` about `input.row`, the rest of its input, and its data. */
export interface GeneratedRowPolicy {
  readonly source: string;
  readonly input: unknown;
  readonly data: unknown;
}

const TEXTS = [
  "",
  "a",
  "A",
  "ab",
  "ba",
  "b",
  "é",
  "e\u0301",
  "%",
  "_",
  "a%",
  "'",
  "\\",
  '"',
  "😀",
  "\uffff",
  "'; DROP TABLE t; --",
  "1",
  "null",
];
const INTEGERS = ["-1", "0", "1", "2", "3", "1000", "9007199254740992", "9007199254740993", "9223372036854775807"];
const NUMBERS = [
  ...INTEGERS,
  "0.1",
  "2.5",
  "-0.5",
  "0.30000000000000004",
  "3.3000000000000000002",
  "12345678901234567890.125",
  "9223372036854775808",
];

const text = fc.constantFrom(...TEXTS).map((value) => JSON.stringify(value));
const number = fc.constantFrom(...NUMBERS);
const literal = fc.oneof(
  { weight: 4, arbitrary: text },
  { weight: 4, arbitrary: number },
  { weight: 2, arbitrary: fc.constantFrom("true", "false", "null") },
  fc.constantFrom("[1]", "[]", '{"a": 1}', "{1}", "input.user", "input.limit", "input.nobody", "data.first"),
);
const name = fc.constantFrom(...Object.keys(ROW_COLUMNS));
const column = fc.tuple(fc.constantFrom("input.row.", "input.row.", "r."), name).map(([of, column]) => of + column);
const literals = fc.array(literal, { maxLength: 4 }).map((all) => all.join(", "));
const collection = fc.oneof(
  literals.map((all) => `[${all}]`),
  literals.map((all) => (all === "" ? "set()" : `{${all}}`)),
  fc.constantFrom("data.names", "data.numbers", "data.levels", "input.list", "input.user", "names"),
);
const operator = fc.constantFrom("==", "!=", "<", "<=", ">", ">=");
const texts = fc.constantFrom(...["name", "name", "note", "note", "age", "open"].map((name) => `input.row.${name}`));
const integers = fc.constantFrom(...["age", "age", "level", "level", "name", "active"].map((name) => `input.row.${name}`));
const { text: madeText, number: madeNumber } = fc.letrec<{ text: string; number: string }>((tie) => ({
  /** What functions make of texts. */
  text: fc.oneof(
    { maxDepth: 2, depthIdentifier: "terms" },
    texts,
    fc.tuple(fc.constantFrom("lower", "upper", "trim_space"), tie("text")).map(([f, x]) => `${f}(${x})`),
    fc
      .tuple(fc.constantFrom("trim", "trim_left", "trim_right", "trim_prefix", "trim_suffix"), tie("text"), text)
      .map(([f, x, y]) => `${f}(${x}, ${y})`),
    fc.tuple(tie("text"), fc.constantFrom(0, 1, 2), fc.constantFrom(-1, 0, 1)).map(([x, a, b]) => `substring(${x}, ${a}, ${b})`),
    fc.tuple(tie("text"), text, text).map(([x, a, b]) => `replace(${x}, ${a}, ${b})`),
    fc.tuple(text, tie("text"), fc.oneof(text, tie("text"))).map(([glue, x, y]) => `concat(${glue}, [${x}, ${y}])`),
  ),
  /** Arithmetic of integers. */
  number: fc.oneof(
    { maxDepth: 2, depthIdentifier: "terms" },
    integers,
    tie("text").map((x) => `count(${x})`),
    tie("number").map((x) => `abs(${x})`),
    fc
      .tuple(fc.oneof(tie("number"), fc.constantFrom(...INTEGERS)), fc.constantFrom("+", "-", "*"), tie("number"))
      .map(([a, op, b]) => `(${a} ${op} ${b})`),
  ),
}));
/** A column that stands alone among them is no function's. */
const made = fc.oneof(
  madeText.map((x) => (x.endsWith(")") ? x : `lower(${x})`)),
  madeNumber.map((x) => (x.endsWith(")") ? x : `(${x} - 1)`)),
);
const other = fc.oneof({ weight: 4, arbitrary: literal }, { weight: 3, arbitrary: column }, { weight: 1, arbitrary: made });
const holds = fc.constantFrom("startswith", "endswith", "contains");

const expression = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(column, operator, other).map(([a, op, b]) => `${a} ${op} ${b}`) },
  { weight: 2, arbitrary: fc.tuple(literal, operator, column).map(([a, op, b]) => `${a} ${op} ${b}`) },
  fc.tuple(column, other).map(([a, b]) => `${a} = ${b}`),
  { weight: 3, arbitrary: fc.tuple(column, collection).map(([a, all]) => `${a} in ${all}`) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(holds, column, fc.oneof(text, fc.constantFrom("input.user", "input.limit")))
      .map(([f, a, b]) => `${f}(${a}, ${b})`),
  },
  { weight: 2, arbitrary: column },
  fc.tuple(fc.constantFrom("same", "ranked", "own", "odd"), column, other).map(([f, a, b]) => `${f}(${a}, ${b})`),
  fc.tuple(column, operator, literal).map(([a, op, b]) => `rank(${a}) ${op} ${b}`),
  fc.tuple(column, operator, literal).map(([a, op, b]) => `data.levels[${a}] ${op} ${b}`),
  fc.tuple(operator, literal).map(([op, b]) => `grade ${op} ${b}`),
  fc.constantFrom("fallen", "flag", '"x" in deny', "deny.y", "deny[input.user]", "open_one", "owns(input.row)"),
  fc.tuple(column, fc.constantFrom("deny", "grades")).map(([a, set]) => `${a} in ${set}`),
  { weight: 3, arbitrary: fc.tuple(made, operator, other).map(([a, op, b]) => `${a} ${op} ${b}`) },
  fc.tuple(made, collection).map(([a, all]) => `${a} in ${all}`),
  fc.tuple(holds, fc.oneof(column, made, text), fc.oneof(column, made)).map(([f, a, b]) => `${f}(${a}, ${b})`),
  fc.tuple(other, column, other, fc.boolean()).map(([a, b, c, set]) => `${a} in ${set ? `{${b}, ${c}}` : `[${b}, ${c}]`}`),
  fc
    .tuple(fc.constantFrom("is_null", "is_string", "is_number", "is_boolean", "is_array"), fc.oneof(column, made))
    .map(([f, a]) => `${f}(${a})`),
  fc.tuple(holds, column, text, fc.boolean()).map(([f, a, b, c]) => `${f}(${a}, ${b}) == ${c}`),
);

const statement = fc.oneof(
  { weight: 6, arbitrary: expression },
  { weight: 3, arbitrary: expression.map((e) => `not ${e}`) },
  fc
    .tuple(column, operator, fc.constantFrom("data.names", "data.numbers", "deny"))
    .map(([a, op, all]) => `some e in ${all}\n\t${a} ${op} e`),
  fc
    .tuple(expression, fc.constantFrom("data.numbers", "data.names", "input.user"))
    .map(([e, all]) => `every n in ${all} {\n\t\tn != 7\n\t\t${e}\n\t}`),
  fc.tuple(column, operator).map(([a, op]) => `every n in data.numbers {\n\t\t${a} ${op} n\n\t}`),
  fc
    .tuple(column, operator, literal, fc.constantFrom("true", "false", "null"))
    .map(([a, op, b, c]) => `(${a} ${op} ${b}) == ${c}`),
  fc.tuple(fc.oneof(column, made), other).map(([a, b]) => `v := ${a}\n\tv == ${b}`),
  fc.tuple(column, other, operator, other).map(([a, b, op, c]) => `some w in [${a}, ${b}]\n\tw ${op} ${c}`),
  fc.tuple(column, other, operator, other).map(([a, b, op, c]) => `every w in {${a}, ${b}} {\n\t\tw ${op} ${c}\n\t}`),
  fc.tuple(column, operator, literal).map(([a, op, b]) => `some k, l in data.levels\n\t${a} == k\n\tl ${op} ${b}`),
);

/** Names that literals declare may stand in a body once. */
const body = fc.array(statement, { minLength: 1, maxLength: 3 }).map((all) => {
  const used = new Set<string>();
  const kept = all.filter((each) => {
    const declared = /^(?:some [ekw]|v :=)/.exec(each)?.[0];
    if (declared === undefined) return true;
    return !used.has(declared) && used.add(declared) !== undefined;
  });
  return ["r := input.row", ...kept].join("\n\t");
});

const rule = (head: string) => body.map((b) => `${head} if {\n\t${b}\n}`);

/**
 * Policies about rows, in the part of Rego that becomes conditions, and somewhat beyond: comparisons of all kinds with all kinds, sets, functions, `else`, defaults, negations.
 *
 * @example
 * ```ts
 * import { check } from "@seneschal/rego";
 * import { rowPolicies } from "@seneschal/rego/arbitraries";
 * import fc from "fast-check";
 *
 * fc.assert(fc.property(rowPolicies(), ({ source }) => Array.isArray(check([{ name: "p.rego", source }]))));
 * ```
 */
export function rowPolicies(): fc.Arbitrary<GeneratedRowPolicy> {
  const simple = fc.tuple(column, operator, literal).map(([a, op, b]) => `${a} ${op} ${b}`.replaceAll("r.", "input.row."));
  const plain = fc
    .array(simple, { minLength: 6, maxLength: 6 })
    .map((all) => [
      `grade := 1 if ${all[0]}\nelse := "a" if ${all[1]}\nelse := input.row.age`,
      `fallen if ${all[2]}`,
      `flag := false if ${all[3]}`,
      `deny contains "x" if ${all[4]}`,
      "deny contains input.row.name if input.row.age > 1",
      `grades contains 1 if ${all[5]}`,
    ]);
  const allows = fc.array(rule("allow"), { minLength: 1, maxLength: 3 });
  const value = fc.constantFrom(...TEXTS);
  const input = fc.record({
    user: value,
    limit: fc.constantFrom(0, 1, 2.5, null, true),
    list: fc.array(fc.oneof(value, fc.constantFrom(1, 2.5, null, true)), { maxLength: 3 }),
  });
  const data = fc.record({
    first: fc.oneof(value, fc.constantFrom(1, 2, null, false)),
    names: fc.array(value, { maxLength: 3 }),
    numbers: fc.array(fc.constantFrom(0, 1, 2.5, 1000), { maxLength: 3 }),
    levels: fc.dictionary(value, fc.constantFrom(1, 2, "a", false), { maxKeys: 3 }),
  });
  return fc.tuple(plain, allows, fc.boolean(), input, data).map(([rules, all, isDefault, given, base]) => ({
    source: `${FIXED}\n${[...rules, ...(isDefault ? ["default allow := false"] : []), ...all].join("\n\n")}\n`,
    input: given,
    data: base,
  }));
}

const FIXED = `package p

names := {name | some name in data.names}

same(a, b) if a == b

rank("a") := 1

rank("b") := 2

rank(1) := "one"

default ranked(_, _) := false

ranked(a, b) := a < b

own(a, _) if a in names

own(null, b) if b == input.user

odd(a, b) := b if a == 1

odd(a, b) := b if a == "a"

owns(row) if row.name == input.user

open_one := input.row.open if input.row.age == 1

default flag := true
`;

/**
 * Rows for them.
 *
 * @example
 * ```ts
 * import { readJson } from "@seneschal/rego";
 * import { generatedRows, rowJson } from "@seneschal/rego/arbitraries";
 * import fc from "fast-check";
 *
 * fc.assert(fc.property(generatedRows(), (row) => typeof readJson(rowJson(row)) === "object"));
 * ```
 */
export function generatedRows(): fc.Arbitrary<GeneratedRow> {
  const of = (values: readonly (string | boolean)[]) => fc.option(fc.constantFrom(...values), { freq: 5 });
  const kinds = { text: TEXTS, integer: INTEGERS, numeric: NUMBERS, boolean: [true, false] };
  return fc.record({
    name: of(kinds.text),
    note: of(kinds.text),
    age: of(kinds.integer),
    level: of(kinds.integer),
    price: of(kinds.numeric),
    active: of(kinds.boolean),
    open: of(kinds.boolean),
  });
}

/**
 * A row as JSON, with all digits of its numbers.
 *
 * @example
 * ```ts
 * import { rowJson } from "@seneschal/rego/arbitraries";
 * const row = { name: "ada", note: null, age: "9007199254740993", level: "1", price: "2.5", active: true, open: null };
 * console.log(rowJson(row).slice(0, 50)); // {"name":"ada","note":null,"age":9007199254740993,"
 * ```
 */
export function rowJson(row: GeneratedRow): string {
  const members = Object.entries(row).map(([column, value]) => {
    const isDigits = typeof value === "string" && ROW_COLUMNS[column as keyof GeneratedRow] !== "text";
    return `${JSON.stringify(column)}:${isDigits ? value : JSON.stringify(value)}`;
  });
  return `{${members.join(",")}}`;
}
