import { describe, expect, test } from "vitest";
import { check } from "../../src/index.ts";
import { bothWays } from "../both-ways.ts";

/** Rules of `package t` with the document that OPA 1.12.3 makes of them, or the code of its refusal. */
type Case = readonly [rules: string, opa: unknown, input?: unknown];

function answer(rules: string, input: unknown): unknown {
  const sources = [{ name: "t.rego", source: `package t\n\n${rules}\n` }];
  const [problem] = check(sources);
  if (problem !== undefined) return problem.code;
  const result = bothWays(sources, "data.t", input);
  return result.kind === "defined" ? result.value : result.kind === "error" ? result.code : undefined;
}

function agree(cases: readonly Case[]): void {
  for (const [rules, opa, input] of cases) test(rules, () => expect(answer(rules, input)).toEqual(opa));
}

const unsafe = "rego_unsafe_var_error";
const parse = "rego_parse_error";
const type = "rego_type_error";
const refused = "rego_compile_error";

describe("a function without body or value is true for its arguments", () => {
  agree([
    ["f(null)\nf(x) if count(x) == 0\np := f(null)", { p: true }],
    ['f("a", _)\np := [f("a", 2) | true]\nq := f("b", 2)', { p: [true] }],
    ['a.b.f("x", _)\np := a.b.f("x", 2)', { a: { b: {} }, p: true }],
    ["f([1, x])\np := f([1, 2])", { p: true }],
    ["default f(_) := 3\nf(1)\np := [f(1), f(2)]", { p: [true, 3] }],
    ["default f(_)\np := f(1)", { p: true }],
    ["f(1)\nf(1) := false if input.x\np := f(1)", { p: true }],
    ["f(1) := 2\nf(1)\np := f(1)", "eval_conflict_error"],
    ["f(1) else := 3\np := f(1)", parse],
    ["f()\np := 2", parse],
    ["q", parse],
    ["q.r[x]", parse],
  ]);
});

describe("a key that holds null is there", () => {
  agree([
    ['p := object.get({"a": null}, "a", "d")', { p: null }],
    ['p := object.get({"a": {"b": null}}, ["a", "b"], "d")', { p: null }],
    ['p := object.get({"a": null}, ["a", "b"], "d")', { p: "d" }],
    ['p := object.get({"a": false}, "a", true)', { p: false }],
    ['allow if object.get(input, ["user", "suspended_at"], "never") == "never"', {}, { user: { suspended_at: null } }],
    ['deny if object.get(input, ["user", "approver"], "boss") == null', { deny: true }, { user: { approver: null } }],
    ["p if not input.a\nq if input.a == null\nr if { x := input.a }", { q: true, r: true }, { a: null }],
    [
      'p := object.union({"a": 1}, {"a": null})\nq := object.union_n([{"a": {}}, {"a": null}])',
      { p: { a: null }, q: { a: null } },
    ],
    ['p := json.filter({"a": null}, ["a"])\nq := json.remove({"a": null, "b": 1}, ["b"])', { p: { a: null }, q: { a: null } }],
    ['p := json.patch({"a": null}, [{"op": "test", "path": "/a", "value": null}])', { p: { a: null } }],
    ["p if null in [null]\nq if null in {null}\nr if null in {1: null}", { p: true, q: true, r: true }],
    ["p := [x | some x in [null, 1]]\nq := {k | some k, null in [null]}", { p: [null, 1], q: [0] }],
    ["f(x) := x\np := f(null)", { p: null }],
    ["p := max([null])\nq := sort([1, null])", { p: null, q: [null, 1] }],
    ['p := x if { x := input.a.b.c with input.a.b as {"c": null} }', { p: null }],
    ["p := null\nq if p == null\nr if not p", { p: null, q: true }],
    ["p[null] := 1\nq := p[null]", { p: { null: 1 }, q: 1 }],
    ["p if every x in [null] { x == null }", { p: true }],
    ["default p := null\np := 1 if false", { p: null }],
  ]);
});

describe("what a comprehension makes is bound by its body", () => {
  agree([
    ["p := [y | x := 1]", unsafe],
    ["p := {y | x := 1}", unsafe],
    ["p := {y: x | x := 1}", unsafe],
    ["p := {x: y | x := 1}", unsafe],
    ["p if count([z | true]) == 0", unsafe],
    ["p := [_ | x := 1]", unsafe],
    ["f(x) := [y | true]", unsafe],
    ["p if not [y | true]", unsafe],
    ["p if { y := 1; x := [z | z := y; w := {v | true}] }", unsafe],
    ["p if every x in [1] { count([y | x]) == 0 }", unsafe],
    ["p if print([y | true])", unsafe],
    ['p := $"{[y | true]}"', unsafe],
    ["p := _", unsafe],
    ["p contains _ if true", unsafe],
    ["p := [x | some x in [1, 2]]", { p: [1, 2] }],
    ["p := x if { x := 1; y := [x | true] }", { p: 1 }],
    ["p := [q[y] | x := 1]\nq := [1, 2]", { p: [1, 2], q: [1, 2] }],
  ]);
});

describe("what is printed binds nothing", () => {
  agree([
    ["p if print(y)", refused],
    ["p if print(input[y])", refused],
    ["p if print(input[_])", refused],
    ['p := $"{y}"', refused],
    ['p := $"{input[_]}"', refused],
    ['p if { x := "a"; print(input[x]) }', { p: true }, { a: 1 }],
    ['p := [$"{x}" | some x in [1]]', { p: ["1"] }],
    ["p if { every x in [1] { print(x); print(q) } }\nq := 1", { p: true, q: 1 }],
  ]);
});

describe("braces behind `if` are a body unless they are a comprehension", () => {
  const sets = "\na := {1}\nb := {2}";
  const both = { a: [1], b: [2] };
  agree([
    [`p if { not (a | b) }${sets}`, both],
    [`p if { not a | b }${sets}`, both],
    [`p := x if { x := 1 } else := 2 if { not (a | b) }${sets}`, { ...both, p: 1 }],
    ["p if { (input.a) | input.b }", { p: true }],
    [`p if { (a | b) }${sets}`, { ...both, p: true }],
    [`p if { a | b\n true }${sets}`, { ...both, p: true }],
    ["p if { {1} | {2}; true }", { p: true }],
    ["p if {1} == {1}", { p: true }],
    ["p if { true; }", parse],
    ["p if { true;; true }", parse],
  ]);
});

describe("inside of a mock every function is itself", () => {
  agree([
    [
      'f(_) := 7\ng(x, y) := {"n": count([1])}\nq := object.union({}, {})\nr := x if { x := q with object.union as g }\np := x if { x := r with count as f }',
      { p: { n: 1 }, q: {}, r: { n: 1 } },
    ],
    ["f(x) := count(x) + 10\np := x if { x := count([1]) with count as f }", { p: 11 }],
  ]);
});

describe("an argument is the same whether functions are replaced or not", () => {
  agree([
    ['p := [w | w := "b"; $"{w}" < "a" with count as 2]', { p: [] }],
    ['p if { w := "b"; $"{w}" == "b" with count as 2 }', { p: true }],
    ["p if { [x | some x in [5]] == [5] with count as 2 }", { p: true }],
    ["p if { {x | some x in [5]} != {6} with count as 2 }", { p: true }],
    ['p if { "b" in {k: v | some k, v in {"a": "b"}} with count as 2 }', { p: true }],
    ['p if { w := "b"; startswith($"{w}c", "bc") with count as 2 }', { p: true }],
    ["p if { is_array([x | some x in [5]]) with is_array as is_set }", {}],
    ["f(x) := x\np := y if { y := [f([x | some x in [5]]), f([x | some x in [6]])] with count as 2 }", { p: [[5], [6]] }],
  ]);
});

describe("a document of rules in a function's place is read when its value is asked for, and not before", () => {
  const f = "\nf(_) := 1\nnone := 5 if input.never\nfive := 5\nno := false";
  const always = { five: 5, no: false };
  agree([
    [`p if { true with f as none }${f}`, { ...always, p: true }],
    [`p if { true with count as none }${f}`, { ...always, p: true }],
    [`p if { f(1) with f as none }${f}`, { ...always, p: true }],
    [`p if { f(1) with f as no }${f}`, { ...always, p: true }],
    [`p if { not f(1) with f as none }${f}`, always],
    [`p if { f(1) == 1 with f as none }${f}`, always],
    [`p := x if { x := [y | y := f(1)] with f as none }${f}`, { ...always, p: [] }],
    [`p := x if { x := [y | y := f(1)] with f as five }${f}`, { ...always, p: [5] }],
    [`p := x if { x := q with f as none }\nq := y if { y := f(1) } else := 2${f}`, { ...always, p: 2, q: 1 }],
    [`p if { true with f as input.nothing }${f}`, always],
    [`p if { true with f as {"a": none} }${f}`, always],
  ]);
});

describe("answers and refusals in single places", () => {
  agree([
    ['p := [split("", ""), split("", ","), split("a", "")]', { p: [[], [""], ["a"]] }],
    ["p := [][0]\nq := {}.a\nr if not [][0]", { r: true }],
    ["p := [1][5]", type],
    ['p := {"a": 1}.b', type],
    ["f := input.x\np := f()", { f: 1, p: 1 }, { x: 1 }],
    ['p if every x in [1] { x > 0; y := 1; y == "a" }', {}],
    ["p := object.subset([], set())\nq := object.subset([1], set())", { p: false, q: true }],
    [
      'p := [e.error | some e in json.match_schema("1", {"type": ["object", "null"]})[1]]',
      { p: ["(Root): Invalid type. Expected: [object,null], given: integer"] },
    ],
    [
      'p := [e.type | some e in json.match_schema({"a": 5}, {"properties": {"a": {"minimum": 6, "maximum": 4}}, "minProperties": 2, "anyOf": [{"required": ["x"]}]})[1]]',
      { p: ["number_any_of", "required", "array_min_properties", "number_lte", "number_gte"] },
    ],
  ]);
});

describe("annotations that cannot be read are told with their row", () => {
  const problems = (yaml: string) => check([{ name: "t.rego", source: `package t\n\n# METADATA\n# title: ${yaml}\np := 1\n` }]);

  test.each(["*x", "&x [*x]", "{a: b", "[a", "'a", "a: b: c", "{<<: *x}"])("%s", (yaml) => {
    expect(problems(yaml)).toEqual([expect.objectContaining({ code: parse, file: "t.rego" })]);
    expect(problems(yaml)[0]?.row).toBeGreaterThanOrEqual(4);
  });

  test("as are more aliases than a reader follows", () => {
    const lines = Array.from(
      { length: 12 },
      (_, i) =>
        `#   a${i}: &a${i} [${
          i === 0
            ? "x"
            : Array(12)
                .fill(`*a${i - 1}`)
                .join(", ")
        }]`,
    );
    const source = `package t\n\n# METADATA\n# custom:\n${lines.join("\n")}\np := 1\n`;
    expect(check([{ name: "t.rego", source }])).toEqual([expect.objectContaining({ code: parse })]);
  });
});
