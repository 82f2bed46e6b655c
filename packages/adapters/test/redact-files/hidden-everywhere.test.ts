import { DEFAULT_RECOGNISERS, DEFAULT_TIER_POLICY, type RedactionRule } from "@seneschal/governance";
import fc from "fast-check";
import { expect, test } from "vitest";
import { runFileTask } from "../../src/file-threads/run-file-task.ts";
import { seededRandom } from "../../src/memory/index.ts";
import { nodeCrypto } from "../../src/node-crypto/index.ts";
import { bytesOf, FORMATS, type Rows, rowsOf, type TableFormat, type Value } from "./tables.ts";

const key = new Uint8Array(32).fill(7);
const given = { policy: DEFAULT_TIER_POLICY, recognisers: DEFAULT_RECOGNISERS, crypto: nodeCrypto, random: seededRandom(3) };
const bytesFrom = async (format: TableFormat, bytes: Uint8Array, rules: readonly RedactionRule[]): Promise<Uint8Array> => {
  const done = await runFileTask({ work: "redact", format, bytes, rules, key }, given);
  return (done as { readonly bytes: Uint8Array }).bytes;
};

/** Values that only the name of their column gives away. */
const TELLING: readonly (readonly [column: string, values: readonly Value[]])[] = [
  ["ssn", [536228726, 219099999, 457555462]],
  ["patient_id", [70012345, 81234567, 90011223]],
  ["last_name", ["Zbrozkova", "Quillfeather", "Oyelaran"]],
  ["password", ["hunter2xyz", "correct horse", "letmein7"]],
  ["salary", [84512, 91257.5, 130411]],
];
/** Columns whose names say nothing, and how they say a value again. */
const AGAIN: readonly ((value: Value) => Value)[] = [
  (value) => value,
  (value) => `${value}`,
  (value) => `seen ${value} again`,
  (value) => `(${value})`,
];
/** What tells of nobody: few digits, few letters, words that say which of a few. */
const WEAK: readonly Value[] = [7, 1985, "true", "male", "x9", "none", "No"];

const files = fc.record({
  told: fc.constantFrom(...TELLING),
  again: fc.uniqueArray(fc.nat(AGAIN.length - 1), { minLength: 1, maxLength: 3 }),
  weak: fc.constantFrom(...WEAK),
  isBefore: fc.boolean(),
  format: fc.constantFrom(...FORMATS),
  operator: fc.constantFrom("mask", "replace", "hash", "tokenise", "encrypt", "drop"),
});

test("what is hidden in one value of a file is hidden in all of it, in whatever column, as a text or a number", async () => {
  await fc.assert(
    fc.asyncProperty(files, async ({ told: [column, values], again, weak, isBefore, format, operator }) => {
      const others = again.map((way) => `field ${"abcd"[way]}`);
      const names = isBefore ? [...others, column] : [column, ...others];
      const rows: Rows = values.map((value, row) =>
        Object.fromEntries(
          names.map((name) => [
            name,
            name === column ? value : (AGAIN["abcd".indexOf(name.slice(-1))]?.(values[(row + 1) % values.length] ?? "") ?? ""),
          ]),
        ),
      );
      const rules: readonly RedactionRule[] = [{ operator }];
      // A text that cells of Excel share is one value, so here they share none.
      const bytes = bytesOf(format, names, [...rows, Object.fromEntries(names.map((name) => [name, weak]))], false);
      const once = await bytesFrom(format, bytes, rules);
      const left = await rowsOf(format, names, once);
      const said = JSON.stringify(left);
      for (const value of values) expect(said, new TextDecoder().decode(bytes)).not.toContain(`${value}`);
      for (const name of others) {
        const cell = left.at(-1)?.[name] ?? "";
        expect(cell).toBe(`${weak}`);
        if (operator === "replace" && name.endsWith("c")) expect(left[0]?.[name]).toMatch(/^seen <[A-Z_]+> again$/);
      }
      expect(await rowsOf(format, names, await bytesFrom(format, once, rules))).toEqual(left);
      if (operator !== "tokenise" && operator !== "encrypt") return;
      const restored = await runFileTask({ work: "restore", format, bytes: once, key }, given);
      expect(await rowsOf(format, names, (restored as { readonly bytes: Uint8Array }).bytes)).toEqual(
        await rowsOf(format, names, bytes),
      );
    }),
    { numRuns: 120 },
  );
});

test("names are values as well: what a cell hides, no name of a column or member says", async () => {
  for (const format of FORMATS) {
    const names = ["last_name", "Zbrozkova"];
    const done = await bytesFrom(format, bytesOf(format, names, [{ last_name: "Zbrozkova", Zbrozkova: 7 }]), []);
    const [row] = await rowsOf(format, ["last_name", "<PERSON>"], done);
    expect(row, format).toEqual({ last_name: "<PERSON>", "<PERSON>": "7" });
  }
});
