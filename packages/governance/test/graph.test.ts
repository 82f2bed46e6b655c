import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DEFAULT_TIER_POLICY, LineageGraph, LineageIngest, loweredTier, tierRank } from "../src/index.ts";

const { tiers } = DEFAULT_TIER_POLICY;
const names = ["a", "b", "c", "d", "e", "f"];

describe("tier propagation", () => {
  test("after any changes the tiers are those of a fixpoint computed from scratch", () => {
    const name = fc.constantFrom(...names);
    const step = fc.oneof(
      fc.record({ kind: fc.constant("declare" as const), id: name, tier: fc.constantFrom(...tiers) }),
      fc.record({ kind: fc.constant("undeclare" as const), id: name }),
      fc.record({
        kind: fc.constant("job" as const),
        job: fc.constantFrom("j1", "j2", "j3"),
        edges: fc.array(fc.record({ source: name, target: name, masking: fc.boolean() }), { maxLength: 4 }),
      }),
      fc.record({ kind: fc.constant("block" as const), source: name, target: name, blocked: fc.boolean() }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
        const graph = new LineageGraph();
        const direct = new Map<string, string>();
        const jobs = new Map<string, { source: string; target: string; masking: boolean }[]>();
        const blocked = new Set<string>();
        for (const [at, s] of steps.entries()) {
          if (s.kind === "declare") {
            graph.declare({ id: s.id, direct: { tier: s.tier, tags: [] } }, at);
            direct.set(s.id, s.tier);
          } else if (s.kind === "undeclare") {
            graph.undeclare(s.id, at);
            direct.delete(s.id);
          } else if (s.kind === "job") {
            const last = new Map(s.edges.filter((e) => e.source !== e.target).map((e) => [`${e.source}>${e.target}`, e]));
            graph.setJobLinks(
              s.job,
              [...last.values()].map((e) => ({ ...e, operation: "x" })),
              at,
            );
            jobs.set(s.job, [...last.values()]);
          } else {
            // Also of an edge that comes later, or comes back.
            graph.setBlocked(s.source, s.target, s.blocked);
            blocked[s.blocked ? "add" : "delete"](`${s.source}>${s.target}`);
          }
        }
        const expected = new Map(names.map((id) => [id, direct.get(id) ?? "INTERNAL"]));
        for (let round = 0; round < names.length * tiers.length; round++) {
          for (const edge of [...jobs.values()].flat()) {
            if (blocked.has(`${edge.source}>${edge.target}`)) continue;
            const from = expected.get(edge.source) ?? "PUBLIC";
            const carried = edge.masking ? loweredTier(DEFAULT_TIER_POLICY, from) : from;
            if (tierRank(DEFAULT_TIER_POLICY, carried) > tierRank(DEFAULT_TIER_POLICY, expected.get(edge.target) ?? ""))
              expected.set(edge.target, carried);
          }
        }
        for (const id of names) if (graph.has(id)) expect([id, graph.effective(id)?.tier]).toEqual([id, expected.get(id)]);
      }),
    );
  });

  test("what people, events and scans say holds together in whatever order it came, and what one takes back leaves the rest", () => {
    const tier = fc.constantFrom(...tiers);
    const facts = fc.record({
      id: fc.constantFrom(...names),
      by: fc.constantFrom("declared" as const, "events" as const, "scan" as const),
      direct: fc.option(tier, { nil: undefined }),
      columns: fc.dictionary(fc.constantFrom("mail", "Mail", "__proto__", "id"), fc.option(tier, { nil: undefined })),
    });
    const said = fc.uniqueArray(facts, { selector: ({ id, by }) => `${id} ${by}`, maxLength: 12 });
    const job = { source: "a", target: "b", operation: "x", masking: false };
    const toldOf = (graph: LineageGraph) =>
      names.map((id) => [
        id,
        graph.info(id)?.direct?.tier,
        graph.effective(id)?.tier,
        Object.entries(graph.info(id)?.columns ?? {})
          .map(([name, { direct }]) => [name, direct?.tier, graph.effective(id, name)?.tier])
          .sort(),
      ]);
    const built = (steps: readonly (typeof facts extends fc.Arbitrary<infer F> ? F | "job" | "block" : never)[]) => {
      const graph = new LineageGraph();
      for (const [at, step] of steps.entries()) {
        if (step === "job") graph.setJobLinks("j", [job], at);
        else if (step === "block") graph.setBlocked("a", "b", true);
        else {
          const { id, by, direct, columns } = step;
          const of = (one: string | undefined) => (one === undefined ? {} : { direct: { tier: one, tags: [] } });
          const all = Object.fromEntries(Object.entries(columns).map(([name, one]) => [name, of(one)]));
          graph.declare({ id, columns: all, ...of(direct) }, at, by);
        }
      }
      return graph;
    };
    fc.assert(
      fc.property(
        said.chain((all) => {
          const steps = [...all, "job" as const, "block" as const];
          return fc.tuple(fc.constant(steps), fc.shuffledSubarray(steps, { minLength: steps.length }), fc.nat({ max: 12 }));
        }),
        ([steps, shuffled, back]) => {
          const graph = built(steps);
          expect(toldOf(built(shuffled))).toEqual(toldOf(graph));
          const gone = steps[back % steps.length];
          if (gone === undefined || gone === "job" || gone === "block") return;
          graph.undeclare(gone.id, 99, gone.by);
          expect(toldOf(graph)).toEqual(toldOf(built(steps.filter((step) => step !== gone))));
        },
      ),
    );
  });

  test("column lineage carries the tier of its column only", () => {
    const graph = new LineageGraph();
    graph.declare(
      {
        id: "src",
        columns: { ssn: { direct: { tier: "PROPRIETARY", tags: ["SSN"] } }, city: { direct: { tier: "INTERNAL", tags: [] } } },
      },
      0,
    );
    const column = (from: string, to: string, masking = false) => ({
      from,
      to,
      type: "DIRECT" as const,
      subtype: "IDENTITY",
      masking,
    });
    graph.setJobLinks(
      "j",
      [{ source: "src", target: "cities", operation: "x", masking: false, columns: [column("city", "city")] }],
      1,
    );
    graph.setJobLinks(
      "k",
      [{ source: "src", target: "hashed", operation: "x", masking: false, columns: [column("ssn", "h", true)] }],
      1,
    );
    expect(graph.effective("cities")?.tier).toBe("INTERNAL");
    expect(graph.effective("hashed", "h")).toEqual({ tier: "CONFIDENTIAL", tags: ["SSN"] });
  });

  test("a declared tier that no told column explains holds for the columns that were not told", () => {
    const graph = new LineageGraph();
    const columns = { email: { direct: { tier: "CONFIDENTIAL", tags: [] } }, note: {} };
    graph.declare({ id: "a", direct: { tier: "RESTRICTED", tags: [] }, columns }, 0);
    expect(graph.effective("a", "note")?.tier).toBe("RESTRICTED");
    graph.declare({ id: "b", direct: { tier: "CONFIDENTIAL", tags: [] }, columns }, 0);
    expect(graph.effective("b", "note")?.tier).toBe("INTERNAL");
  });

  test("cycles settle and a walk meets each resource once, at its shortest distance, in order", () => {
    const graph = new LineageGraph();
    graph.declare({ id: "a", direct: { tier: "RESTRICTED", tags: ["PII"] } }, 0);
    const link = (source: string, target: string) => ({ source, target, operation: "x", masking: false });
    graph.setJobLinks("j", [link("a", "c"), link("a", "b"), link("b", "d"), link("c", "d"), link("d", "a")], 1);
    expect(graph.walk("a", "downstream", 10).visits.map((v) => [v.id, v.hop])).toEqual([
      ["b", 1],
      ["c", 1],
      ["d", 2],
    ]);
    expect(graph.walk("a", "downstream", 1).visits).toHaveLength(2);
    expect(graph.walk("a", "downstream", 0).visits).toEqual([]);
    expect(graph.effective("d")?.tier).toBe("RESTRICTED");
    expect(graph.propagatedFrom("d")).toEqual(["b", "a"]);
    graph.undeclare("a", 2);
    expect(graph.effective("d")?.tier).toBe("INTERNAL");
  });
});

describe("ingestion", () => {
  const run = (id: string, eventType: string, time: string, more: Record<string, unknown> = {}) => ({
    eventType,
    eventTime: time,
    run: { runId: id },
    job: { namespace: "n", name: "job" },
    ...more,
  });
  const io = { inputs: [{ namespace: "n", name: "in" }], outputs: [{ namespace: "n", name: "out" }] };
  const fresh = () => {
    const graph = new LineageGraph();
    return { graph, ingest: new LineageIngest(graph) };
  };
  const upstream = (graph: LineageGraph) => graph.walk("n/out", "upstream", 1).visits.map((v) => v.id);

  test("the data sets of a run's events belong together, and count when it completes", () => {
    const { graph, ingest } = fresh();
    ingest.add(run("r", "START", "2026-01-01T00:00:00Z", { inputs: io.inputs }), 0);
    expect(upstream(graph)).toEqual([]);
    ingest.add(run("r", "COMPLETE", "2026-01-01T00:01:00Z", { outputs: io.outputs }), 0);
    expect(upstream(graph)).toEqual(["n/in"]);
  });

  test.each(["ABORT", "FAIL"])("%s leaves no edges", (type) => {
    const { graph, ingest } = fresh();
    ingest.add(run("r", "START", "2026-01-01T00:00:00Z", io), 0);
    ingest.add(run("r", type, "2026-01-01T00:01:00Z", io), 0);
    expect(upstream(graph)).toEqual([]);
  });

  test("a later version of a job replaces its edges, a late older event does not", () => {
    const { graph, ingest } = fresh();
    ingest.add(run("r1", "COMPLETE", "2026-01-01T00:00:00Z", io), 0);
    ingest.add(run("r2", "COMPLETE", "2026-01-03T00:00:00Z", { ...io, inputs: [{ namespace: "n", name: "new" }] }), 0);
    ingest.add(run("r3", "COMPLETE", "2026-01-02T00:00:00Z", io), 0);
    expect(upstream(graph)).toEqual(["n/new"]);
  });

  test("a job with more links than a product may have goes over a resource of its own: everything still reaches everything", () => {
    const { graph, ingest } = fresh();
    const many = (name: string) => Array.from({ length: 70 }, (_, i) => ({ namespace: "n", name: `${name}${i}` }));
    graph.declare({ id: "n/in42", direct: { tier: "RESTRICTED", tags: ["PHI"] } }, 0);
    ingest.add(run("r", "COMPLETE", "2026-01-01T00:00:00Z", { inputs: many("in"), outputs: many("out") }), 0);
    expect(graph.size.edges).toBe(140);
    for (let i = 0; i < 70; i++) expect(graph.effective(`n/out${i}`)).toMatchObject({ tier: "RESTRICTED" });
    expect(graph.walk("n/in7", "downstream", 2, 1000).visits.filter(({ id }) => id.startsWith("n/out"))).toHaveLength(70);
  });

  test("symlinks and renames unite ids", () => {
    const { graph, ingest } = fresh();
    ingest.add(run("r", "COMPLETE", "2026-01-01T00:00:00Z", io), 0);
    const renamed = {
      namespace: "n",
      name: "moved",
      facets: { lifecycleStateChange: { lifecycleStateChange: "RENAME", previousIdentifier: { namespace: "n", name: "out" } } },
    };
    ingest.add({ eventTime: "2026-01-02T00:00:00Z", dataset: renamed }, 0);
    expect(graph.canonical("n/out")).toBe("n/moved");
    expect(graph.walk("n/moved", "upstream", 1).visits.map((v) => v.id)).toEqual(["n/in"]);
  });

  test("an id of a run, its own or its parent's, that is no UUID is taken with a warning that names where it stands", () => {
    const uuid = fc.uuid();
    const other = fc.string({ minLength: 1 }).filter((text) => !/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text));
    const either = fc.oneof(
      uuid.map((id) => [id, true] as const),
      other.map((id) => [id, false] as const),
    );
    fc.assert(
      fc.property(either, fc.option(either), ([id, right], parent) => {
        const { graph, ingest } = fresh();
        const job = { namespace: "n", name: "parent" };
        const facets = parent === null ? {} : { parent: { run: { runId: parent[0] }, job } };
        const event = run(id, "COMPLETE", "2026-01-01T00:00:00Z", { ...io, run: { runId: id, facets } });
        const warned = ingest.add(event, 0).filter(({ code }) => code === "invalid_run_id");
        expect(warned.map(({ path }) => path)).toEqual([
          ...(right ? [] : ["run.runId"]),
          ...(parent === null || parent[1] ? [] : ["run.facets.parent.run.runId"]),
        ]);
        expect(upstream(graph)).toEqual(["n/in"]);
      }),
    );
  });

  test("an invalid facet is dropped with a warning that names it, the event stays", () => {
    const { graph, ingest } = fresh();
    const warnings = ingest.add(
      run("r", "COMPLETE", "2026-01-01T00:00:00", {
        ...io,
        inputs: [{ ...io.inputs[0], facets: { ownership: { owners: [{ no: "name" }] } } }],
      }),
      0,
    );
    expect(warnings.map((w) => w.code)).toEqual([
      "missing_producer",
      "missing_schema_url",
      "missing_time_zone",
      "invalid_facet",
      "invalid_run_id",
    ]);
    expect(upstream(graph)).toEqual(["n/in"]);
  });

  test("no JSON value makes it fail otherwise than by validation_failed", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.jsonValue(),
          fc.record({
            job: fc.jsonValue(),
            run: fc.jsonValue(),
            inputs: fc.jsonValue(),
            outputs: fc.jsonValue(),
            eventTime: fc.jsonValue(),
            eventType: fc.jsonValue(),
          }),
        ),
        (value) => {
          const { ingest } = fresh();
          try {
            ingest.add(value, 0);
          } catch (error) {
            expect(error).toMatchObject({ code: "validation_failed" });
          }
        },
      ),
    );
  });
});
