import fc from "fast-check";

/** A module `package p` of a few rules over a small vocabulary, with an input. Most compile, many of their rules hold. */
export function policies(): fc.Arbitrary<{ readonly source: string; readonly input: unknown }> {
  const scalar = fc.constantFrom("null", "true", "false", "0", "1", "2", "-1", "1.5", '""', '"a"', '"b"', "10");
  const ref = fc.constantFrom("input.a", "input.b", "input.c", "input.c[0]", "input.d.x", "r0", "r1", "s0");
  const { term } = fc.letrec<{ term: string }>((tie) => ({
    term: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      scalar,
      ref,
      fc
        .tuple(tie("term"), fc.constantFrom("+", "-", "*", "/", "%", "==", "!=", "<", "<=", "|", "&"), tie("term"))
        .map(([a, op, b]) => `(${a} ${op} ${b})`),
      fc.array(tie("term"), { maxLength: 3 }).map((items) => `[${items.join(", ")}]`),
      fc.array(tie("term"), { minLength: 1, maxLength: 3 }).map((items) => `{${items.join(", ")}}`),
      tie("term").map((t) => `count(${t})`),
      tie("term").map((t) => `{"k": ${t}}`),
      tie("term").map((t) => `[x | some x in ${t}]`),
      tie("term").map((t) => `sprintf("%v", [${t}])`),
    ),
  }));
  const literal = fc.oneof(
    term,
    fc.tuple(fc.constantFrom("y", "z"), term).map(([name, t]) => `${name} := ${t}`),
    term.map((t) => `not ${t}`),
    fc.tuple(term, term).map(([a, b]) => `${a} = ${b}`),
    term.map((t) => `every e in ${t} { e != 1 }`),
    term.map((t) => `input.a with input.a as ${t}`),
  );
  const body = fc.array(literal, { minLength: 1, maxLength: 3 }).map((literals) => literals.join("\n\t"));
  const rule = fc.oneof(
    fc.tuple(fc.nat(2), term, body).map(([i, t, b]) => `q${i} := ${t} if {\n\t${b}\n}`),
    fc.tuple(fc.nat(1), term, body).map(([i, t, b]) => `t${i} contains ${t} if {\n\t${b}\n}`),
    fc.tuple(term, body).map(([t, b]) => `o[k] := ${t} if {\n\tsome k in ["x", "y"]\n\t${b}\n}`),
    term.map((t) => `u := ${t} if false\n\nelse := 3`),
  );
  const value = fc.oneof(
    fc.integer({ min: -3, max: 12 }),
    fc.constantFrom("a", "b", "", null, true, 1.5),
    fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 3 }),
  );
  const input = fc.record(
    { a: value, b: value, c: fc.array(value, { maxLength: 3 }), d: fc.record({ x: value }) },
    { requiredKeys: ["a", "c"] },
  );
  return fc.tuple(fc.array(rule, { minLength: 1, maxLength: 4 }), term, input).map(([rules, t, given]) => ({
    source: `package p\n\nr0 := 1\n\nr1 := {"x": [1, 2]}\n\ns0 contains v if some v in [1, "a"]\n\nv := ${t}\n\n${rules.join("\n\n")}\n`,
    input: given,
  }));
}
