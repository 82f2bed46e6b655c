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
  expect(job["never"]?.unfinished).toMatch(/would exceed max_nodes quota/);
});

test("where the trace sets no quota none refuses anything", () => {
  const trace = "cluster nodes=2\nsubmit at=0 id=a tenant=t nodes=2 runtime=60\nsubmit at=1 id=b tenant=t nodes=2 runtime=60";
  expect(simulate(parseTrace(trace), { cycle: 10 }).jobs).toMatchObject([{ refusals: 0 }, { refusals: 0, end: 120 }]);
});

/** A job of ten minutes that another of 100 s needs to give way, which gets its node a cycle later. */
describe("what gives way", () => {
  const trace = (more: string) =>
    parseTrace(`cluster nodes=1
submit at=0 id=low tenant=t runtime=600 priority=1 ${more}
submit at=100 id=high tenant=t runtime=100 priority=9`);
  const low = (more: string, preemption: "off" | "requeue" | "cancel") =>
    simulate(trace(more), { cycle: 10, plan: { preemption } }).jobs[0];

  test("resumes from its checkpoint, begins anew if it is only requeued, and else has ended: as the server does", () => {
    expect(low("checkpoint=auto", "requeue")).toMatchObject({ end: 710, preemptions: 1, lost: 0 });
    expect(low("requeue=always", "requeue")).toMatchObject({ end: 810, preemptions: 1, lost: 100 });
    expect(low("", "requeue")).toMatchObject({ end: 600, preemptions: 0 });
    expect(low("", "cancel")).toMatchObject({ end: null, preemptions: 1, lost: 100 });
    expect(low("", "cancel")?.unfinished).toMatch(/^preempted for allocation high/);
    expect(low("checkpoint=auto", "off")).toMatchObject({ end: 600, preemptions: 0 });
  });

  test("is by default what the server takes it for: without checkpoint, never requeued", () => {
    const given = simulate(trace(""), { cycle: 10, checkpoint: "auto", plan: { preemption: "requeue" } });
    expect(given.jobs[0]).toMatchObject({ preemptions: 1 });
    expect(simulate(trace(""), { cycle: 10 }).preemptions).toBe(0);
  });
});

test("the figures tell slowdown and makespan as their definitions do", () => {
  const trace = "cluster nodes=1\nsubmit at=0 id=a tenant=t runtime=100\nsubmit at=0 id=b tenant=t runtime=5";
  const figures = summarise(simulate(parseTrace(trace), { cycle: 10 })).find(({ tenant }) => tenant === "all");
  // a: 100/100; b waits 100 of 5 s, counted as 10: 105/10
  expect(figures).toMatchObject({ boundedSlowdown: (1 + 10.5) / 2, makespan: 105 });
});

test.each([
  ["submit at=0 id=a tenant=t runtime=1", "names no cluster"],
  ["cluster nodes=1\nsubmit at=0 id=a tenant=t", "neither a runtime"],
  ["cluster nodes=1\nsubmit at=x id=a tenant=t runtime=1", "line 2: at must be"],
  ["cluster nodes=1\nsubmit at=0 id=a tenant=t runtime=1 colour=red", "line 2: colour is not"],
  ["cluster nodes=1\ntenant name=t share=2", "line 2: fairShareTarget"],
  ["cluster nodes=1\nstop", "line 2: unknown verb"],
  ["cluster nodes=1\nsubmit at=0 id=a tenant=t runtime=1 checkpoint=maybe", "line 2: checkpoint must be"],
  ["cluster nodes=1\ntenant name=t fair_share_target=2", "line 2: fairShareTarget"],
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

  test("groups are tenants, processors become nodes, what never ran is left out by its name", () => {
    const { nodes, jobs, leftOut } = parseSwf(SWF);
    expect(nodes).toBe(8);
    expect(leftOut).toEqual([{ id: "j00000003", why: "never ran" }]);
    expect(jobs).toMatchObject([
      { id: "j00000001", submit: 0, runtime: 100, walltime: 200, tenant: "g7", user: "u3", nodes: 2 },
      { id: "j00000002", submit: 10, runtime: 50, walltime: 50, tenant: "g7", user: "u4", nodes: 3 },
    ]);
    expect(simulate(parseSwf(SWF), { cycle: 10 }).jobs.map(({ end }) => end)).toEqual([100, 60]);
  });

  test("every line becomes a job or is named, with why; what is larger than the cluster is not made to fit", () => {
    const rest = "1 3 7 -1 1 -1 -1 -1";
    const text = `${SWF}3 30 -1 5 1 -1 -1 1 9 -1 ${rest}
4 40 -1 5 -1 -1 -1 -1 9 -1 ${rest}
5 -1 -1 5 1 -1 -1 1 9 -1 ${rest}
6 60 -1 5 32 -1 -1 32 9 -1 ${rest}
`;
    const simulation = simulate(parseSwf(text), { cycle: 10 });
    expect(simulation.leftOut).toEqual([
      { id: "j00000003", why: "never ran" },
      { id: "j00000003", why: "an earlier line has its number" },
      { id: "j00000004", why: "no number of processors" },
      { id: "j00000005", why: "no time of submission" },
      { id: "j00000006", why: "asks for 16 nodes of a cluster of 8" },
    ]);
    expect(simulation.jobs).toMatchObject([{ refusals: 0 }, { refusals: 0 }]);
    expect(plotText(simulation)).toContain("left out of the trace: 1 (asks for 16 nodes of a cluster of 8): j00000006");
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
        expect(end! - start!).toBeGreaterThanOrEqual(job.runtime);
        if (start !== null) expect(start).toBeGreaterThanOrEqual(submit);
      }
      // every job is there once, or named as left out
      const named = [...result.jobs, ...result.leftOut].map(({ id }) => id).sort();
      expect(named).toEqual(given.jobs.map(({ id }) => id).sort());
      for (const { id } of result.leftOut) expect(given.jobs.find((j) => j.id === id)!.nodes).toBeGreaterThan(given.nodes);
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
