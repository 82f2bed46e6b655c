import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { namedEvidence } from "../src/classification/code/code-evidence.ts";
import { DEFAULT_TIER_POLICY, LineageGraph } from "../src/index.ts";
import { TableNames } from "../src/sql/table-names.ts";
import { countedPattern, looksDuring } from "./counted-pattern.ts";

/** What names are written with, and what patterns of names begin and end at. */
const units = [
  ..."aA1_-$~.*/:?\"'`@#{\n\t \\é",
  "a-",
  "a.",
  "a/",
  "/a",
  "aB1",
  "a_a",
  "-1",
  ".gz",
  "$1",
  "@a",
  "0123456789abcdef",
  "es",
  "ies",
  "Yf3/",
  "{ a ",
  "\n{",
  "query ",
  "cdc.a_",
  "all_",
  "Repository",
];
const catalogues = [[], ["a", "zz", "hr.zeta", "cdc.orders", "s3://lake/orders", "A-a", "a_a_a", "a.gz"]];

describe("looking up the names of a text is work that grows with the text, not faster", () => {
  const work = (text: string, names: readonly string[], code: boolean): number => {
    const graph = new LineageGraph();
    for (const id of names) graph.declare({ id, direct: { tier: "RESTRICTED", tags: [] } }, 0);
    const asked = (name: string): undefined => void graph.named(name);
    return looksDuring(() => void namedEvidence(text, DEFAULT_TIER_POLICY, asked, code));
  };

  test.each(units.map((unit) => [JSON.stringify(unit), unit]))(
    "%s, without an end, in front of a text and within it",
    (_, unit) => {
      for (const catalogue of catalogues)
        for (const [before, behind] of [
          ["", ""],
          ["https://x/", ""],
          ["cdc.", "_ct\0"],
          ["select ", "!"],
        ]) {
          const of = (length: number): number =>
            work(`${before}${unit.repeat(Math.ceil(length / unit.length)).slice(0, length)}${behind}`, catalogue, true) / length;
          expect(of(1200), `${catalogue} ${before}`).toBeLessThanOrEqual(of(400) * 2 + 1);
        }
    },
  );
});

test("a pattern that looks to the end of a text from each of its places is told from one that does not", () => {
  const of = (regex: RegExp, length: number): number => countedPattern(regex).looks("a".repeat(length), 0, false) / length;
  expect(of(/a+b/, 2000)).toBeGreaterThan(of(/a+b/, 1000) * 1.9);
  expect(of(/(?<!a)a+b/, 2000)).toBeLessThan(of(/(?<!a)a+b/, 1000) * 1.1);
});

test("a table is found by its name behind and before whatever else a path has, however long that is", () =>
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4000 }), (length) => {
      const names = new TableNames();
      names.add("s3://lake/orders");
      names.add("lake.orders");
      const long = "x".repeat(length);
      expect(names.meant(`s3://lake/orders/${long}.csv`)).toContain("s3://lake/orders");
      expect(names.meant(`/${long}/lake/orders.csv`)).toContain("lake.orders");
    }),
  ));
