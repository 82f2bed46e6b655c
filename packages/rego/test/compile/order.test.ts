import { compile } from "@seneschal/rego";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rounds } from "../rounds.ts";

/** A literal with its Rego text and what it asks of an assignment. */
interface Condition {
  readonly text: string;
  readonly holds: (v: Readonly<Record<string, number>>, input: Input) => boolean;
}

interface Input {
  readonly a: readonly number[];
  readonly b: readonly number[];
  readonly c: readonly number[];
}

const NAMES = ["x", "y", "z"] as const;

const name = fc.constantFrom(...NAMES);
const condition: fc.Arbitrary<Condition> = fc.oneof(
  fc.tuple(name, fc.constantFrom("<", "<=", "!=", "=="), name).map(([p, op, q]) => ({
    text: `${p} ${op} ${q}`,
    holds: (v: Readonly<Record<string, number>>) => {
      const [a, b] = [v[p] as number, v[q] as number];
      return op === "<" ? a < b : op === "<=" ? a <= b : op === "!=" ? a !== b : a === b;
    },
  })),
  fc.tuple(name, name, fc.integer({ min: 0, max: 6 })).map(([p, q, n]) => ({
    text: `${p} + ${q} == ${n}`,
    holds: (v: Readonly<Record<string, number>>) => (v[p] as number) + (v[q] as number) === n,
  })),
  name.map((p) => ({
    text: `not ${p} in input.c`,
    holds: (v: Readonly<Record<string, number>>, input: Input) => !input.c.includes(v[p] as number),
  })),
  fc.tuple(name, name).map(([p, q]) => ({
    text: `count([i | some i in input.c; i == ${p}; i != ${q}]) > 0`,
    holds: (v: Readonly<Record<string, number>>, input: Input) => input.c.some((i) => i === v[p] && i !== v[q]),
  })),
  fc.tuple(name, name).map(([p, q]) => ({
    text: `every i in input.b { i != ${p}; i <= ${q} }`,
    holds: (v: Readonly<Record<string, number>>, input: Input) => input.b.every((i) => i !== v[p] && i <= (v[q] as number)),
  })),
);

const numbers = fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 4 });

describe("bodies", () => {
  test("have the solutions of a search through all assignments, in whatever order their literals stand", () => {
    fc.assert(
      fc.property(
        fc.array(condition, { maxLength: 4 }),
        fc.record({ a: numbers, b: numbers, c: numbers }),
        fc.infiniteStream(fc.nat()),
        (conditions, input, shuffle) => {
          const binders = ["input.a[_] = x", "input.b[_] = y", "[z, _] = [input.c[_], x]"];
          const literals = [...binders, ...conditions.map(({ text }) => text)]
            .map((text) => [text, shuffle.next().value as number] as const)
            .sort((l, r) => l[1] - r[1])
            .map(([text]) => text);
          const source = `package t\n\np contains [x, y, z] if {\n\t${literals.join("\n\t")}\n}\n`;
          const result = compile([{ name: "t.rego", source }]).evaluate("data.t.p", input);
          const want = new Set<string>();
          for (const x of input.a) {
            for (const y of input.b) {
              for (const z of input.c) {
                if (conditions.every(({ holds }) => holds({ x, y, z }, input))) want.add(JSON.stringify([x, y, z]));
              }
            }
          }
          expect(result.kind, source).toBe("defined");
          const got = result.kind === "defined" ? (result.value as unknown[]).map((v) => JSON.stringify(v)) : [];
          expect(new Set(got), source).toEqual(want);
          expect(got.length).toBe(want.size);
        },
      ),
      { numRuns: rounds(300) },
    );
  });
});
