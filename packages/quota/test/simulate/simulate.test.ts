import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseSwf, parseTrace, plotSvg, plotText, simulate, summarise, type Workload } from "../../src/simulate/index.ts";
import { runs } from "../runs.ts";

const TRACE = `
cluster nodes=4
tenant name=physics max_nodes=2 share=0.5
tenant name=biology share=0.5        # as many as there are
submit at=0 id=a tenant=physics nodes=2 runtime=3600
submit at=10 id=b tenant=physics nodes=1 runtime=60
submit at=20 id=c tenant=biology nodes=2 runtime=600 user=eve
complete at=320 id=c
submit at=30 id=never tenant=physics nodes=3 runtime=60
tenant at=1000 name=physics max_nodes=3
`;

test("a trace runs by the quotas: what is over a limit is refused and submitted again, what can never fit is not", () => {
  const { jobs } = simulate(parseTrace(TRACE), { cycle: 10, resubmit: 60 });
  const job = Object.fromEntries(jobs.map((j) => [j.id, j]));
  expect(job["a"]).toMatchObject({ start: 0, end: 3600, refusals: 0 });
  expect(job["c"]).toMatchObject({ start: 20, end: 320 }); // ended as recorded
  // its user comes back a minute after the limit was raised
  expect(job["b"]).toMatchObject({ start: 1060, end: 1120, refusals: 1 });
  expect(job["never"]).toMatchObject({ start: null, end: null, refusals: 1 });
});

test.each([
  ["submit at=0 id=a tenant=t runtime=1", "names no cluster"],
  ["cluster nodes=1\nsubmit at=0 id=a tenant=t", "neither a runtime"],
  ["cluster nodes=1\nsubmit at=x id=a tenant=t runtime=1", "line 2: at must be"],
  ["cluster nodes=1\nsubmit at=0 id=a tenant=t runtime=1 colour=red", "line 2: colour is not"],
  ["cluster nodes=1\ntenant name=t share=2", "line 2: fairShareTarget"],
  ["cluster nodes=1\nstop", "line 2: unknown verb"],
  ["cluster nodes=1\ncomplete at=1 id=z", "line 2: completes a job"],
])("a trace that is wrong is refused with its line: %j", (text, message) => {
  expect(() => parseTrace(text)).toThrow(
    expect.objectContaining({ code: "invalid_trace", message: expect.stringContaining(message) }),
  );
});

describe("the Standard Workload Format", () => {
  const SWF = `; Version: 2.2
; MaxNodes: 8
; MaxProcs: 16
1 0 5 100 4 -1 -1 4 200 -1 1 3 7 -1 1 -1 -1 -1
2 10 -1 50 -1 -1 -1 5 -1 -1 1 4 7 -1 1 -1 -1 -1
3 20 -1 -1 -1 -1 -1 4 10 -1 5 4 8 -1 1 -1 -1 -1
`;

  test("groups are tenants, processors become nodes, what never ran is left out", () => {
    const { nodes, jobs } = parseSwf(SWF);
    expect(nodes).toBe(8);
    expect(jobs).toMatchObject([
      { id: "j00000001", submit: 0, runtime: 100, walltime: 200, tenant: "g7", user: "u3", nodes: 2 },
      { id: "j00000002", submit: 10, runtime: 50, walltime: 50, tenant: "g7", user: "u4", nodes: 3 },
    ]);
    expect(simulate(parseSwf(SWF), { cycle: 10 }).jobs.map(({ end }) => end)).toEqual([100, 60]);
  });

  test("a line that is not 18 numbers is refused", () => {
    expect(() => parseSwf("1 2 3")).toThrow(expect.objectContaining({ code: "invalid_trace", details: { line: 1 } }));
  });
});

const workload: fc.Arbitrary<Workload> = fc.record({
  nodes: fc.integer({ min: 1, max: 6 }),
  quotas: fc.constant([]),
  jobs: fc
    .array(
      fc.record({
        submit: fc.nat(500),
        runtime: fc.nat(300),
        tenant: fc.constantFrom("x", "y"),
        nodes: fc.integer({ min: 1, max: 7 }),
        priority: fc.nat(9),
      }),
      { maxLength: 25, size: "max" },
    )
    .map((jobs) =>
      jobs
        .map((job, i) => ({ ...job, id: `j${i}`, user: "u", walltime: Math.max(1, job.runtime) }))
        .sort((a, b) => a.submit - b.submit),
    ),
});

test("every job that can fit ends, no sooner than it can; nodes are never used twice; nothing depends on chance", () => {
  fc.assert(
    fc.property(workload, (given) => {
      const result = simulate(given, { cycle: 10 });
      for (const { id, submit, start, end } of result.jobs) {
        const job = given.jobs.find((j) => j.id === id)!;
        if (job.nodes > given.nodes) expect([start, end]).toEqual([null, null]);
        else expect(end! - start!).toBeGreaterThanOrEqual(job.runtime);
        if (start !== null) expect(start).toBeGreaterThanOrEqual(submit);
      }
      for (const { utilisation } of result.samples) expect(utilisation).toBeLessThanOrEqual(1);
      expect(result.samples.at(-1)).toMatchObject({ utilisation: 0, waiting: 0 });
      expect(simulate(given, { cycle: 10 })).toEqual(result);
    }),
    runs(40),
  );
});

test("a job that takes no time ends in the cycle that starts it, and the next one follows a cycle later", () => {
  const job = { submit: 491, runtime: 0, tenant: "x", nodes: 1, priority: 0, user: "u", walltime: 1 };
  const { jobs } = simulate(
    {
      nodes: 1,
      quotas: [],
      jobs: [
        { ...job, id: "a" },
        { ...job, id: "b" },
      ],
    },
    { cycle: 10 },
  );
  expect(jobs.map(({ start, end }) => [start, end])).toEqual([
    [500, 500],
    [510, 510],
  ]);
});

test("the text plot shows every series and the figures; the SVG is one well-formed drawing with names escaped", () => {
  const result = simulate(parseTrace(TRACE.replaceAll("biology", "<bio&logy>")), { cycle: 10 });
  const text = plotText(result, 40);
  expect(text).toContain("utilisation (of all nodes");
  expect(text.split("\n").filter((line) => line.includes("|"))).toHaveLength(5);
  expect(summarise(result).find(({ tenant }) => tenant === "all")).toMatchObject({ jobs: 4, finished: 3 });
  const svg = plotSvg(result, 50);
  expect(svg.match(/<polyline/g)).toHaveLength(5);
  expect(svg).toContain("&#60;bio&#38;logy&#62;");
  expect(svg).not.toContain("<bio");
});
