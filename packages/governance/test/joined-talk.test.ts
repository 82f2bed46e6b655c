import fc from "fast-check";
import { expect, test } from "vitest";
import { countsAcross, readTogether } from "../src/index.ts";

const said = fc.record({
  role: fc.constantFrom("system", "user", "assistant", "tool"),
  text: fc.integer({ min: 1, max: 40_000 }).map((length) => "x".repeat(length)),
});

test("messages that follow one another, in all, in a role or without the model's, have their ends beside one another in a stretch that is read", () =>
  fc.assert(
    fc.property(fc.array(said, { maxLength: 12 }), (talk) => {
      const chains = readTogether(talk);
      const touch = (one: number, other: number): boolean =>
        chains.some((chain) =>
          chain.some(({ place, end }, i) => {
            const next = chain[i + 1];
            return place === one && end === talk[one]?.text.length && next?.place === other && next.start === 0;
          }),
        );
      for (const keeps of [() => true, (role: string) => role !== "assistant", (role: string) => role === "user"]) {
        const places = talk.flatMap(({ role }, place) => (keeps(role) ? [place] : []));
        for (const [i, place] of places.slice(1).entries()) expect(touch(places[i] ?? 0, place)).toBe(true);
      }
      for (const chain of chains) expect(chain.reduce((sum, { start, end }) => sum + end - start, 0)).toBeLessThan(200_000);
    }),
  ));

test("what lies over an end, or answers a question, counts; words that only meet where a message ends do not", () => {
  const over = (one: string, other: string): boolean => countsAcross([one, other], 0, one.length + other.length);
  for (const [one, other] of [
    ["Bob", "What"],
    ["Ada", " Lovelace"],
    ["in Paris.", "Then"],
  ] as const)
    expect(over(one, other)).toBe(false);
  for (const value of ["536-22-8726", "ada@example.org", "bXkgc3NuIGlz", "AKIAIOSFODNN"])
    for (let cut = 1; cut < value.length; cut++) expect(over(value.slice(0, cut), value.slice(cut))).toBe(true);
  expect(countsAcross(["your ssn?", "\n", "it is 536228726"], 16, 25)).toBe(true);
  expect(countsAcross(["your ssn is 536228726", "\n", "yes"], 12, 21)).toBe(false);
  expect(countsAcross(["your ssn?", "\n", `${"no ".repeat(50)} 536228726`], 161, 170)).toBe(false);
});
