import { type ColumnLink, columnImpact, LineageGraph, searchCatalogue } from "@seneschal/governance";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const direct = (from: string, to: string, subtype = "IDENTITY", masking = false): ColumnLink => ({
  from,
  to,
  type: "DIRECT",
  subtype,
  masking,
});
const filter = (from: string, to?: string): ColumnLink => ({
  from,
  ...(to === undefined ? {} : { to }),
  type: "INDIRECT",
  subtype: "FILTER",
  masking: false,
});

function graphOf(
  links: Readonly<Record<string, readonly (readonly [string, string, readonly ColumnLink[] | undefined])[]>>,
): LineageGraph {
  const graph = new LineageGraph();
  for (const [job, of] of Object.entries(links)) {
    graph.setJobLinks(
      job,
      of.map(([source, target, columns]) => ({
        source,
        target,
        operation: "ETL",
        masking: false,
        ...(columns === undefined ? {} : { columns }),
      })),
      1,
    );
  }
  return graph;
}

const told = (graph: LineageGraph, change: "drop" | "retype", resource = "a", column = "x") =>
  (columnImpact(graph, resource, column, change)?.columns ?? []).map(
    (c) => `${c.resource}.${c.column ?? "*"} ${c.effect} ${c.hop} ${c.jobs.join()}`,
  );

describe("the impact of a column's change", () => {
  const graph = graphOf({
    load: [["a", "b", [direct("x", "x"), direct("x", "h", "TRANSFORMATION", true), direct("z", "z")]]],
    report: [["b", "c", [direct("x", "same"), direct("h", "made"), filter("x"), direct("z", "other")]]],
    copy: [["c", "d", undefined]],
    last: [["d", "e", [direct("q", "q")]]],
  });

  it("follows column lineage, tells filters from values, and knows nothing for certain behind lineage without columns", () => {
    expect(told(graph, "drop")).toEqual([
      "b.h breaks 1 load",
      "b.x breaks 1 load",
      "c.* rows 2 report",
      "c.made breaks 2 report",
      "c.same breaks 2 report",
      "d.* rows 3 copy",
      "e.* rows 4 last",
    ]);
    expect(told(graph, "retype").filter((line) => !line.includes("*"))).toEqual([
      "b.h recomputed 1 load",
      "b.x retyped 1 load",
      "c.made recomputed 2 report",
      "c.same retyped 2 report",
    ]);
    expect(told(graph, "drop", "a", "z")).toEqual([
      "b.z breaks 1 load",
      "c.other breaks 2 report",
      "d.* unknown 3 copy",
      "e.* unknown 4 last",
    ]);
  });

  it("names every job that reads what is reached, with its surest effect", () => {
    expect(columnImpact(graph, "a", "X", "drop")?.jobs).toEqual([
      { job: "copy", effect: "rows" },
      { job: "last", effect: "rows" },
      { job: "load", effect: "breaks" },
      { job: "report", effect: "breaks" },
    ]);
  });

  it("is the surest of several ways, by whichever it is met first", () => {
    const two = graphOf({
      j1: [["a", "b", [filter("x", "y"), direct("x", "m")]]],
      j2: [["b", "c", [direct("y", "v"), direct("m", "n")]]],
      j3: [["c", "c2", [direct("n", "v")]]],
      j4: [["b", "c", [direct("m", "v", "AGGREGATION")]]],
    });
    expect(told(two, "retype")).toEqual([
      "b.m retyped 1 j1",
      "b.y rows 1 j1",
      "c.n retyped 2 j2",
      "c.v recomputed 2 j2,j4",
      "c2.v retyped 3 j3",
    ]);
  });

  it("goes over edges that stop a tier, and through other names and cases", () => {
    const named = graphOf({
      j: [
        ["a", "b", [direct("Email", "Mail")]],
        ["b", "a", [direct("MAIL", "email")]],
      ],
    });
    named.setBlocked("a", "b", true);
    named.alias("old", "a", 2);
    expect(told(named, "drop", "old", "EMAIL")).toEqual(["b.mail breaks 1 j"]);
  });

  it("of what nobody knows is undefined, so that a wrong name is never taken for no impact", () => {
    expect(columnImpact(graph, "nothing", "x", "drop")).toBeUndefined();
    expect(columnImpact(graph, "a", "y", "drop")).toBeUndefined();
    expect(columnImpact(graph, "e", "anything", "drop")).toEqual({ columns: [], jobs: [], truncated: false });
  });

  it("says where it ends before everything is told", () => {
    expect(columnImpact(graph, "a", "x", "drop", { depth: 1 })).toMatchObject({
      truncated: true,
      columns: [{ hop: 1 }, { hop: 1 }],
    });
    expect(columnImpact(graph, "a", "x", "drop", { limit: 3 })).toMatchObject({ truncated: true, columns: { length: 3 } });
    expect(columnImpact(graph, "a", "x", "drop", { depth: 4, limit: 7 })?.truncated).toBe(false);
  });

  it("names a job exactly where it stands between what is told, whatever the depth and the limit", () => {
    const name = fc.constantFrom("p", "q");
    const table = fc.constantFrom("a", "b", "c", "d");
    fc.assert(
      fc.property(
        fc.array(fc.tuple(table, table, name, name), { maxLength: 20 }),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 6 }),
        (drawn, depth, limit) => {
          const links = drawn.filter(([from, to]) => from !== to);
          const any = graphOf(
            Object.fromEntries(links.map(([from, to, x, y], i) => [`j${i}`, [[from, to, [direct(x, y)]]] as const])),
          );
          const impact = columnImpact(any, "a", "p", "drop", { depth, limit });
          if (impact === undefined) return;
          const seen = new Set(["a.p", ...impact.columns.map((c) => `${c.resource}.${c.column}`)]);
          const between = links.flatMap(([from, to, x, y], i) =>
            seen.has(`${from}.${x}`) && seen.has(`${to}.${y}`) ? [`j${i}`] : [],
          );
          expect(impact.jobs.map(({ job }) => job)).toEqual(between.sort());
        },
      ),
    );
    expect(columnImpact(graph, "a", "x", "drop", { depth: 1 })?.jobs).toEqual([{ job: "load", effect: "breaks" }]);
  });

  it("reaches exactly the columns that paths of column links lead to, on any graph", () => {
    const name = fc.constantFrom("p", "q", "r");
    const table = fc.constantFrom("a", "b", "c", "d", "e");
    const link = fc.tuple(table, table, name, name, fc.boolean());
    fc.assert(
      fc.property(fc.array(link, { maxLength: 25 }), (links) => {
        const any = graphOf(
          Object.fromEntries(
            links.map(([from, to, x, y, is], i) => [`j${i}`, [[from, to, [is ? direct(x, y) : filter(x, y)]]] as const]),
          ),
        );
        const reached = new Map<string, boolean>();
        // slowly: until nothing is new
        for (let again = true; again; ) {
          again = false;
          for (const [from, to, x, y, is] of links) {
            if (from === to) continue;
            const before = from === "a" && x === "p" ? true : reached.get(`${from}.${x}`);
            if (before === undefined || (to === "a" && y === "p")) continue;
            const sure = before && is;
            const known = reached.get(`${to}.${y}`);
            if (known === undefined || (sure && !known)) {
              reached.set(`${to}.${y}`, sure);
              again = true;
            }
          }
        }
        const impact = columnImpact(any, "a", "p", "drop");
        const ours = new Map((impact?.columns ?? []).map((c) => [`${c.resource}.${c.column}`, c.effect === "breaks"]));
        expect(new Map([...ours].sort())).toEqual(new Map([...reached].sort()));
      }),
    );
  });
});

describe("a search in the catalogue", () => {
  const graph = new LineageGraph();
  graph.declare(
    {
      id: "crm.customers",
      direct: { tier: "CONFIDENTIAL", tags: ["GOLD"] },
      columns: { Email: { direct: { tier: "CONFIDENTIAL", tags: ["PII"] } } },
      owners: ["ada"],
    },
    0,
  );
  graph.declare({ id: "crm.orders", direct: { tier: "PUBLIC", tags: [] }, owners: ["ada", "bob"] }, 0);
  graph.declare({ id: "dwh.all", owners: [] }, 0);

  it("finds what has all that is asked for, sorted by id", () => {
    expect(searchCatalogue(graph, {})).toEqual(["crm.customers", "crm.orders", "dwh.all"]);
    expect(searchCatalogue(graph, { text: "CRM" })).toEqual(["crm.customers", "crm.orders"]);
    expect(searchCatalogue(graph, { text: "  mail crm " })).toEqual(["crm.customers"]);
    expect(searchCatalogue(graph, { tiers: ["PUBLIC", "INTERNAL"] })).toEqual(["crm.orders", "dwh.all"]);
    expect(searchCatalogue(graph, { tags: ["PII", "GOLD"] })).toEqual(["crm.customers"]);
    expect(searchCatalogue(graph, { tags: ["PII", "NONE"] })).toEqual([]);
    expect(searchCatalogue(graph, { owner: "ada", text: "orders" })).toEqual(["crm.orders"]);
    expect(searchCatalogue(graph, { owner: "ad" })).toEqual([]);
  });

  it("goes by the tier that lineage brought", () => {
    graph.setJobLinks("etl", [{ source: "crm.customers", target: "dwh.all", operation: "ETL", masking: false }], 1);
    expect(searchCatalogue(graph, { tiers: ["CONFIDENTIAL"] })).toEqual(["crm.customers", "dwh.all"]);
  });
});
