import { describe, expect, test } from "vitest";
import { compile, type PartialCode } from "../../src/index.ts";

const input = { user: "ada", roles: ["reader"], n: 2 };
const data = { levels: { a: 1, b: 2 }, teams: ["x", "y"], nested: { ids: [[1, 2]] } };

const partial = (source: string, options: object = {}) =>
  compile([{ name: "p.rego", source: `package p\n\n${source}\n` }]).partial("data.p.allow", ["input.row"], input, {
    data,
    ...options,
  });

/** What no condition says, with the place that is told. */
const REFUSED: readonly (readonly [rule: string, code: PartialCode, at: readonly [row: number, col: number]])[] = [
  ["allow if sum(input.row.tags) > 1", "partial_function", [3, 10]],
  ["allow if input.row.age / 2 == 1", "partial_function", [3, 10]],
  ["allow if input.row.age % 2 == 1", "partial_function", [3, 10]],
  ["allow if input.row.age + 0.5 > 1", "partial_function", [3, 10]],
  ["allow if round(input.row.age) > 1", "partial_function", [3, 10]],
  ['allow if sprintf("%d", [input.row.age]) == "1"', "partial_term", [3, 10]],
  ['allow if replace(input.row.name, "", "-") == "a"', "partial_function", [3, 10]],
  ['allow if trim("a", input.row.name) == "a"', "partial_function", [3, 10]],
  ["allow if substring(input.row.name, input.row.age, 1) == input.user", "partial_function", [3, 10]],
  ['allow if split(input.row.name, "-")[0] == "a"', "partial_function", [3, 10]],
  ['allow if regex.match("a", input.row.name)', "partial_function", [3, 10]],
  ["allow if not json.marshal(input.row.name) == input.user", "partial_function", [3, 14]],
  ["q if input.row.age > 1\n\nallow if q with input.user as 1", "partial_with", [5, 10]],
  ["allow if input.row.age > 1 with data.x as 1", "partial_with", [3, 10]],
  ["allow if some x in input.row.tags", "partial_iteration", [3, 20]],
  ["allow if {\n\tsome k\n\tinput.row[k] == 1\n}", "partial_iteration", [5, 2]],
  ["allow if input.row[input.row.name] == 1", "partial_iteration", [3, 10]],
  ["allow if every x in input.row { x > 1 }", "partial_iteration", [3, 10]],
  ["allow if every x in input.row.tags { x > 1 }", "partial_iteration", [3, 10]],
  ['allow if "x" in input.row.tags', "partial_iteration", [3, 10]],
  ['allow if "x" in input.row', "partial_iteration", [3, 10]],
  ["allow if input.row.a.b == 1", "partial_path", [3, 10]],
  ['allow if not input.row.a["b"]', "partial_path", [3, 14]],
  ['allow if input.row == {"a": 1}', "partial_row", [3, 10]],
  ['allow if {\n\t{"a": x} = input.row\n\tx == 1\n}', "partial_row", [4, 2]],
  ["allow if count(input.row) > 1", "partial_row", [3, 10]],
  ['allow if object.get(input, "user", 1) == 1', "partial_row", [3, 10]],
  ["allow if walk(input, [_, 1])", "partial_row", [3, 10]],
  ["allow if [input.row.a, 1] == [1, 1]", "partial_term", [3, 10]],
  ['allow if {"k": input.row.a} == {"k": 1}', "partial_term", [3, 10]],
  ["allow if count([x | x := input.row.a]) > 0", "partial_term", [3, 16]],
  ["allow if count({x | some x in data.teams; x == input.row.a}) > 0", "partial_term", [3, 16]],
  ['allow if $"{input.row.a}" == "x"', "partial_term", [3, 10]],
  ["x := 1 if input.row.a > 1\n\nx := 2 if input.row.a > 2\n\nallow if x == 1", "partial_conflict", [5, 1]],
  ["allow := true if input.row.a > 1\n\nallow := false if input.row.b > 1", "partial_conflict", [5, 1]],
  ["f(y) := 1 if y > 1\n\nf(y) := 2 if y > 2\n\nallow if f(input.row.a) == 1", "partial_conflict", [5, 1]],
  ["x := y if {\n\tsome y in data.teams\n\tinput.row.a != y\n}\n\nallow if x", "partial_conflict", [3, 1]],
  ['deny contains "a" if input.row.a > 1\n\nallow if count(deny) == 0', "partial_document", [5, 10]],
  ['deny contains "a" if input.row.a > 1\n\nallow if deny == {"a"}', "partial_document", [5, 10]],
  ['o["k"] := 1 if input.row.a > 1\n\no[k] := 2 if some k in data.teams\n\nallow if o.k == 1', "partial_document", [7, 10]],
  ['o["k"] := 1 if input.row.a > 1\n\no[k] := 2 if some k in data.teams\n\nallow if not o.k', "partial_document", [7, 14]],
];

describe("what no condition says", () => {
  test.each(REFUSED)("%s", (rule, code, [row, col]) => {
    expect(partial(rule)).toMatchObject({ kind: "refused", code, file: "p.rego", row, col });
  });

  test("a package of rules of which one depends on a row, as a whole", () => {
    const policy = compile([
      { name: "p.rego", source: "package p\n\nallow if count(data.q) > 1\n\nmay if data.q.y == 1\n\nmust if data.q.z == 1\n" },
      { name: "q.rego", source: "package q\n\nx := 1 if input.row.a > 1\n\ny := 1\n" },
    ]);
    expect(policy.partial("data.p.allow", ["input.row"])).toMatchObject({
      kind: "refused",
      code: "partial_document",
      row: 3,
      col: 16,
    });
    expect(policy.partial("data.p.may", ["input.row"])).toMatchObject({
      kind: "condition",
      condition: { operator: "and", value: [] },
    });
    const base = { data: { q: { z: 1 } } };
    expect(policy.partial("data.p.must", ["input.row"], {}, base)).toMatchObject({
      kind: "condition",
      condition: { operator: "and" },
    });
  });

  test("a refusal in what no row reaches changes nothing", () => {
    expect(partial('allow if {\n\tinput.user == "eve"\n\tcount(input.row.tags) > 1\n}')).toEqual({
      kind: "condition",
      condition: { type: "compound", operator: "or", value: [] },
    });
  });

  test("a conflict in what is known, a limit and a query that does not compile are no conditions", () => {
    expect(partial("x := 1\n\nx := input.n\n\nallow if {\n\tinput.row.a == 1\n\tx == 1\n}")).toMatchObject({
      kind: "error",
      code: "eval_conflict_error",
    });
    const many = "allow if {\n\tsome x in numbers.range(1, 10001)\n\tinput.row.a == x\n}";
    expect(partial(many)).toMatchObject({ kind: "error", code: "eval_limit_error" });
    expect(
      partial("allow if {\n\tsome x in numbers.range(1, 500)\n\tinput.row.a == x\n}", { budgets: { ticks: 100 } }),
    ).toMatchObject({
      kind: "error",
      code: "eval_limit_error",
    });
    const policy = compile([{ name: "p.rego", source: "package p\n\nallow := true\n" }]);
    expect(() => policy.partial("data.p.allow ==", ["input.row"])).toThrow(/rego_parse_error/);
  });

  test.each([["data.rows"], ["input.row[_]"], ["input.row.x == 1"], [""], ["row"]])("%j is no path of rows", (unknown) => {
    const policy = compile([{ name: "p.rego", source: "package p\n\nallow := true\n" }]);
    expect(() => policy.partial("data.p.allow", [unknown])).toThrow(TypeError);
  });

  test("rows stand apart: none holds another one", () => {
    const policy = compile([{ name: "p.rego", source: "package p\n\nallow := true\n" }]);
    expect(() => policy.partial("data.p.allow", ["input.a", "input.a.b"])).toThrow(TypeError);
    expect(() => policy.partial("data.p.allow", ["input.a", "input"])).toThrow(TypeError);
    expect(policy.partial("data.p.allow", ["input.a", "input.b"]).kind).toBe("condition");
  });
});

describe("what conditions say", () => {
  test.each([
    ["allow if input.row.owner == input.user", { operator: "eq", field: "input.row.owner", value: "ada" }],
    ['allow if input.row["odd name"] == 1', { operator: "eq", field: 'input.row["odd name"]', value: 1 }],
    [
      "allow if 9007199254740993 < input.row.id",
      { operator: "gt", field: "input.row.id", value: { number: "9007199254740993" } },
    ],
    ["allow if input.row.team in data.teams", { operator: "in", field: "input.row.team", value: ["x", "y"] }],
    [
      "allow if {\n\tsome t in data.teams\n\tinput.row.team == t\n}",
      { operator: "in", field: "input.row.team", value: ["x", "y"] },
    ],
    ["allow if data.levels[input.row.kind] > 1", { operator: "eq", field: "input.row.kind", value: "b" }],
    ["allow if not input.row.open", { operator: "eq", field: "input.row.open", value: false }],
    ["allow if input.row.a == input.row.b", { operator: "eq", field: "input.row.a", value: { field: "input.row.b" } }],
    ['deny contains "a" if input.row.a > 1\n\nallow if not "a" in deny', { operator: "le", field: "input.row.a", value: 1 }],
    ["allow if {\n\tx := input.row.a\n\tprint(x)\n}", { operator: "exists", field: "input.row.a" }],
    ["allow if input.row.a != [1]", { operator: "exists", field: "input.row.a" }],
  ])("%s", (rule, condition) => {
    expect(partial(rule)).toEqual({ kind: "condition", condition: { type: "field", ...condition } });
  });

  test("where the row does not matter the answer is all rows, or none", () => {
    expect(partial('allow if "reader" in input.roles')).toEqual({
      kind: "condition",
      condition: { type: "compound", operator: "and", value: [] },
    });
    expect(partial('allow if "writer" in input.roles')).toEqual({
      kind: "condition",
      condition: { type: "compound", operator: "or", value: [] },
    });
  });

  test("what is given in the place of a row is not read", () => {
    const policy = compile([{ name: "p.rego", source: "package p\n\nallow if input.row.a == 1\n" }]);
    const told = policy.partial("data.p.allow", ["input.row"], { row: { a: 1 } });
    expect(told).toEqual({ kind: "condition", condition: { type: "field", operator: "eq", field: "input.row.a", value: 1 } });
  });
});
