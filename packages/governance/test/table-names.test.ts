import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LineageGraph, mergedResource } from "../src/index.ts";

const word = fc.constantFrom("hr", "public", "crm", "db7", "zeta", "omega", "tau", "Ünits");
const namesOf = (parts: readonly string[]) => {
  const graph = new LineageGraph();
  graph.declare({ id: parts.join("."), direct: { tier: "RESTRICTED", tags: [] } }, 0);
  return graph;
};

/** Ways of writing the same name differently. */
const rewritings: readonly ((parts: readonly string[], more: string) => string)[] = [
  (parts) => parts.at(-1) ?? "",
  (parts) => parts.slice(-2).join("."),
  (parts, more) => [more, ...parts].join("."),
  (parts, more) => [more, "srv", ...parts].join("."),
  (parts, more) => [...parts.slice(0, -1), more, parts.at(-1)].join("."),
  (parts) => [...parts.slice(0, -1), "", parts.at(-1)].join("."),
  (parts) => parts.join(".").toUpperCase(),
  (parts) => parts.map((part) => `"${part}"`).join("."),
  (parts) => parts.map((part) => `[${part}]`).join("."),
  (parts) => `\`${parts.join(".")}\``,
  (parts) => parts.join(" . "),
  (parts) => `postgres://db:5432/${parts.join(".")}`,
  (parts) => `${parts.join(".")}@remote`,
  (parts) => `${parts.join(".")}@remote.example.org`,
  (parts) => `${parts.join(".")}$20260301`,
  (parts) => `${parts.join(".").slice(0, -1)}*`,
  (parts) => [...parts.join(".")].join("\u200b"),
  (parts) => parts.join(".").replace(/[a-z]/g, (c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0)),
  (parts) => parts.join(".").replaceAll("e", "е"),
];

describe("what a table's name may mean", () => {
  test("a registered table is found by every more or less qualified, quoted or re-cased way of naming it, and by several of them at once", () =>
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1, maxLength: 4 }),
        word,
        fc.constantFrom(...rewritings),
        fc.boolean(),
        (parts, more, rewrite, upper) => {
          const written = rewrite(parts, more);
          expect([written, namesOf(parts).named(upper ? written.toUpperCase() : written)]).toEqual([written, [parts.join(".")]]);
        },
      ),
      { numRuns: 300 },
    ));

  test.each([
    ["hr.zeta", "crm.zeta"],
    ["hr.zeta", "hr.zeta2"],
    ["hr.zeta", "zeta.hr"],
    ["a.hr.zeta", "b.hr.zeta"],
    ["zeta", "theta"],
  ])("%s is not %s", (registered, written) => expect(namesOf(registered.split(".")).named(written)).toEqual([]));

  test("a name that is none is what is alike: another number, its words put together otherwise", () => {
    const pairs = fc.constantFrom(
      ["orders", "order"],
      ["category", "categories"],
      ["address", "addresses"],
      ["person", "people"],
      ["box", "boxes"],
      ["house", "houses"],
      ["movie", "movies"],
      ["status", "statuses"],
      ["analysis", "analyses"],
      ["moon_base", "MoonBases"],
      ["moonbase", "moon-bases"],
      ["DimQuokka", "dim_quokkas"],
      ["wolf", "wolves"],
      ["orders_items", "OrderItem"],
    );
    fc.assert(
      fc.property(pairs, fc.boolean(), fc.constantFrom("", "hr."), ([a = "", b = ""], turned, schema) => {
        const [registered, written] = turned ? [b, a] : [a, b];
        expect([written, namesOf([`${schema}${registered}`]).named(written)]).toEqual([written, [`${schema}${registered}`]]);
        expect([written, namesOf([`hr.${registered}`]).named(`crm.${written}`)]).toEqual([written, []]);
      }),
    );
    const both = new LineageGraph();
    for (const id of ["order", "orders"]) both.declare({ id }, 0);
    expect(both.named("orders")).toEqual(["orders"]);
    both.remove("orders");
    expect(both.named("orders")).toEqual(["order"]);
  });

  test("a name that may mean several means all of them, by their other names too", () => {
    const graph = new LineageGraph();
    for (const id of ["zeta", "hr.zeta", "ZETA", "a.hr.zeta"]) graph.declare({ id }, 0);
    graph.alias("old.theta", "hr.zeta", 0);
    expect(graph.named("zeta")).toEqual(["zeta", "hr.zeta", "ZETA", "a.hr.zeta"]);
    expect(graph.named("crm.zeta")).toEqual(["zeta", "ZETA"]);
    expect(graph.named("THETA")).toEqual(["hr.zeta"]);
    graph.remove("zeta");
    expect(graph.named("crm.zeta")).toEqual(["ZETA"]);
  });
});

test("of several resources each says of a column what it lists, or what it says of the whole; the highest counts, and all tags", () => {
  const tiers = { tiers: ["PUBLIC", "INTERNAL", "RESTRICTED"] };
  const merged = mergedResource(tiers, [
    { tier: "INTERNAL", tags: ["A"], columns: { id: { tier: "PUBLIC", tags: [] }, QQ: { tier: "PUBLIC", tags: ["Q"] } } },
    { tier: "RESTRICTED", tags: ["B"], columns: { id: { tier: "PUBLIC", tags: [] } } },
  ]);
  expect(merged).toEqual({
    tier: "RESTRICTED",
    tags: ["A", "B"],
    columns: { id: { tier: "PUBLIC", tags: [] }, QQ: { tier: "RESTRICTED", tags: ["Q", "B"] } },
  });
});
