import fc from "fast-check";

/** Where a piece of Rego stands: what it may name. */
const scalars = ["null", "true", "false", "0", "1", "2", "-1", "1.5", '""', '"a"', '"b"', "10", "9223372036854775808", "`r`"];
const refs = [
  ...["input.a", "input.b", "input.c", "input.c[0]", "input.d.x", "input.d", "input[k0]", "input.c[_]", "input.d[_]", "input"],
  ...[
    "r0",
    "r1",
    "s0",
    "r1.x",
    "r1.x[1]",
    "s0[1]",
    "o.x",
    "n.m.x",
    "n.m",
    "q0",
    "q1",
    "t0",
    "f0(1)",
    "f1(input.a, 2)",
    "data.p.r0",
  ],
  ...["data.p.n", "k0", "p2.z", "p2", "e0", "d0", "any0", "any1", "any2", "any0", "any1", "any2"],
];
const binary = ["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "|", "&", "in"];
const unary = [
  ...["count", "sum", "max", "min", "sort", "type_name", "is_string", "to_number", "upper", "abs", "round", "json.marshal"],
  ...["object.keys", "array.reverse", "format_int", "product", "base64.encode", "is_set"],
];
const names = ["x", "y", "z"];
/** Bound at the head of every body. */
const PRELUDE = 'some u in [1, "a", input.a]\n\tsome v, w in input.d';

const { term, body } = fc.letrec<{ term: string; literal: string; body: string }>((tie) => ({
  term: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { weight: 1, arbitrary: fc.constantFrom(...scalars) },
    { weight: 5, arbitrary: fc.constantFrom(...refs) },
    { weight: 4, arbitrary: fc.constantFrom("u", "u", "v", "w") },
    fc.tuple(tie("term"), fc.constantFrom(...binary), tie("term")).map(([a, op, b]) => `(${a} ${op} ${b})`),
    fc.array(tie("term"), { maxLength: 3 }).map((items) => `[${items.join(", ")}]`),
    // One that is computed, or several that are not: OPA goes through a set in the order of its terms as they are written (docs/rego.md).
    fc
      .oneof(
        tie("term").map((item) => [item]),
        fc.array(fc.constantFrom(...scalars), { minLength: 1, maxLength: 3 }),
      )
      .map((items) => `{${items.join(", ")}}`),
    fc
      .tuple(fc.constantFrom(...unary), tie("term"))
      .map(([f, t]) => (f === "format_int" ? `format_int(${t}, 10)` : `${f}(${t})`)),
    fc.tuple(fc.constantFrom('"k"', "1", "x", "null", "[1]"), tie("term")).map(([k, t]) => `{${k}: ${t}, "l": 1}`),
    fc.tuple(tie("term"), tie("term")).map(([t, u]) => `[x | some x in ${t}; x != ${u}]`),
    tie("term").map((t) => `{k: v | some k, v in ${t}}`),
    tie("term").map((t) => `{i | some i in ${t}; not i == 1}`),
    tie("term").map((t) => `sprintf("%v|%s", [${t}, "é"])`),
    tie("term").map((t) => `object.get(input, "d", ${t})`),
    tie("term").map((t) => `$"a {${t}} \\{b}"`),
    tie("term").map((t) => `walked(${t})`),
    fc.tuple(tie("term"), tie("term")).map(([t, u]) => `f1(${t}, ${u})`),
  ),
  literal: fc.oneof(
    { weight: 3, arbitrary: tie("term") },
    { weight: 3, arbitrary: fc.tuple(fc.constantFrom(...names), tie("term")).map(([name, t]) => `${name} := ${t}`) },
    fc.tuple(fc.constantFrom(...names), tie("term")).map(([name, t]) => `some ${name} in ${t}`),
    tie("term").map((t) => `some i, y in ${t}`),
    tie("term").map((t) => `not ${t}`),
    fc.tuple(tie("term"), tie("term")).map(([a, b]) => `${a} = ${b}`),
    tie("term").map((t) => `[x, y] = ${t}`),
    tie("term").map((t) => `{"x": y, "z": _} = ${t}`),
    fc.tuple(tie("term"), tie("literal")).map(([t, l]) => `every e in ${t} { e != 1; ${l} }`),
    tie("term").map((t) => `every k, v in ${t} { k != v }`),
    fc
      .tuple(tie("term"), fc.constantFrom("input", "input.a", "input.d.x", "data.p.r0", "r1", "data.p.s0", "n.m"), tie("term"))
      .map(([a, target, t]) => `${a} with ${target} as ${t}`),
    fc.tuple(tie("term"), tie("term")).map(([a, t]) => `${a} with count as ${t} with upper as f0`),
    fc.tuple(tie("term"), tie("term")).map(([a, t]) => `${a} with data.p.f0 as ${t}`),
    fc.tuple(fc.constantFrom(...names)).map(([name]) => `input.c[${name}] > 0`),
    fc.tuple(fc.constantFrom(...names), fc.constantFrom(...names)).map(([a, b]) => `walk(input, [${a}, ${b}])`),
  ),
  body: fc.array(tie("literal"), { minLength: 1, maxLength: 4 }).map((literals) => [PRELUDE, ...literals].join("\n\t")),
}));

const rule = fc.oneof(
  fc.tuple(fc.nat(2), term, body).map(([i, t, b]) => `q${i} := ${t} if {\n\t${b}\n}`),
  fc.tuple(fc.nat(1), term, body).map(([i, t, b]) => `t${i} contains ${t} if {\n\t${b}\n}`),
  fc
    .tuple(fc.constantFrom("k", '"w"', "k[0]"), term, body)
    .map(([k, t, b]) => `o[${k}] := ${t} if {\n\tsome k in ["x", "y"]\n\t${b}\n}`),
  fc.tuple(term, body).map(([t, b]) => `n.m[k] := ${t} if {\n\tsome k in ["x", 1]\n\t${b}\n}`),
  fc.tuple(term, body).map(([t, b]) => `n.l[k].g contains ${t} if {\n\tsome k in ["x", input.a]\n\t${b}\n}`),
  fc.tuple(term, term, body).map(([t, v, b]) => `p2[${t}] := ${v} if {\n\t${b}\n}`),
  fc.tuple(term, body, term, body).map(([t, b, u, c]) => `e0 := ${t} if {\n\t${b}\n} else := ${u} if {\n\t${c}\n} else := 3`),
  fc.tuple(term, body).map(([t, b]) => `f0(x) := ${t} if {\n\t${b}\n}`),
  fc
    .tuple(fc.constantFrom("x", "[x, _]", '{"a": x}', "1", '"a"'), term, body)
    .map(([a, t, b]) => `f1(${a}, g) := ${t} if {\n\t${b}\n}`),
  fc.tuple(term, body).map(([t, b]) => `d0 := ${t} if {\n\t${b}\n}`),
);

const value: fc.Arbitrary<unknown> = fc.oneof(
  fc.integer({ min: -3, max: 12 }),
  fc.constantFrom("a", "b", "", null, true, 1.5, "x"),
  fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 3 }),
  fc.record({ x: fc.constantFrom(1, "a", [1]), a: fc.constantFrom(1, "z") }, { requiredKeys: [] }),
);

/** A module `package p`, and a document for its `input`. */
export interface GeneratedPolicy {
  readonly source: string;
  readonly input: unknown;
}

/**
 * A module `package p` of a few rules over a small vocabulary, with an input. Most compile, many of their rules hold.
 *
 * @example
 * ```ts
 * import { check } from "@seneschal/rego";
 * import { policies } from "@seneschal/rego/arbitraries";
 * import fc from "fast-check";
 *
 * fc.assert(fc.property(policies(), ({ source }) => Array.isArray(check([{ name: "p.rego", source }]))));
 * ```
 */
export function policies(): fc.Arbitrary<GeneratedPolicy> {
  const input = fc.record(
    {
      a: value,
      b: value,
      c: fc.array(value, { maxLength: 3 }),
      d: fc.record({ x: value }),
      any: fc.array(value, { minLength: 2, maxLength: 3 }),
    },
    { requiredKeys: ["a", "c", "any"] },
  );
  return fc.tuple(fc.array(rule, { minLength: 1, maxLength: 4 }), input).map(([rules, given]) => ({
    source: `${FIXED}\n${rules.join("\n\n")}\n`,
    input: given,
  }));
}

const FIXED = `package p

r0 := 1

r1 := {"x": [1, 2]}

k0 := "a"

any0 := input.any[0]

any1 := input.any[1]

any2 := input.any[2]

s0 contains v if some v in [1, "a"]

default f0(_) := "none"

default d0 := "nothing"

f1(x, y) := "both" if x == y

q0 := 7 if input.b == 1

q1 := {"b": 2}

t0 contains "t"

o["k"] := 1

n.m.x := {"y": 1}

p2.z := "z"

e0 := 0 if input.a == 0

walked(x) := count([v | walk(x, [_, v])])
`;
