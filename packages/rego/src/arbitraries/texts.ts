import fc from "fast-check";

const SEEDS = [
  'package t\n\nimport data.lib\n\ndefault p := false\n\np if {\n\tsome i, x in input.xs\n\tx.k == {"a": [1, y]}[i]\n\ty := lib.f(x) with input.a as 3\n\tnot x in {1, 2}\n}\n\nelse := $"no {x}" if x := 1\n',
  "package t.u\n\nf(x, [y, _]) := z if {\n\tz := x + y\n} else := [a | a := {k: v | some k, v in input}[_]]\n\nq contains r if every s in [1, 2] { s > input.n; r := s }\n",
  'package a\n\np[x].y[z] := w if {\n\tx := ["a", "b"][_]\n\tz = w\n\tw = `raw`\n}\n\np.a.y.c contains 1\n\nr := -1.5e3 % 2 | {1} & set()\n',
];

const PIECES =
  'package import default if else contains some every in not with as true false null input data _ x y p q f t . , ; : := = == != < <= > >= + - * / % & | ( ) [ ] { } set() count( sprintf( \n \t # " ` $" 1 0 1.5 1e9 "a" [x| {x| {x:y| every x in some x in walk( regex.match( object.get('.split(
    " ",
  );

/** Tokens of Rego in any order, behind the head of a rule: hardly ever a policy. */
export const tokenTexts: fc.Arbitrary<string> = fc
  .array(fc.constantFrom(...PIECES), { maxLength: 40 })
  .map((pieces) => `package t\n\np ${pieces.join(" ")}\n`);

/** Policies with a few characters cut out and others put in: sometimes still a policy. */
export const damagedPolicies: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom(...SEEDS),
    fc.array(fc.tuple(fc.nat(400), fc.nat(6), fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 3 }))), {
      minLength: 1,
      maxLength: 6,
    }),
  )
  .map(([seed, edits]) => edits.reduce((text, [at, cut, put]) => text.slice(0, at) + put + text.slice(at + cut), seed));
