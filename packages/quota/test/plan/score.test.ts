import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { slowPenalty, slowTerms } from "../../src/arbitraries/index.ts";
import { plan } from "../../src/plan/plan.ts";
import { energyTerm, PROFILES, TERMS, type Term } from "../../src/soft/score.ts";
import { runs } from "../runs.ts";
import { Scenario } from "../scenario.ts";

const node = fc.record({
  group: fc.constantFrom("g1", "g2", "g3"),
  gpuType: fc.constantFrom(null, "a100"),
  gpuCount: fc.constantFrom(null, 0, 4),
  conformance: fc.constantFrom(null, "v1", "v2"),
  energyPrice: fc.option(fc.double({ min: 0, max: 500, noNaN: true })),
  datasets: fc.subarray(["genome", "ocean", "sky"]),
});
const work = fc.record({
  nodes: fc.integer({ min: 1, max: 3 }),
  priorityClass: fc.integer({ min: 0, max: 10 }),
  checkpoint: fc.constantFrom("auto" as const, "manual" as const, "none" as const),
  gpuType: fc.constantFrom(null, "a100"),
  gpusPerNode: fc.constantFrom(null, 4),
  datasets: fc.subarray(["genome", "ocean", "sky"]),
  vcluster: fc.constantFrom(...Object.keys(PROFILES)),
  wait: fc.integer({ min: 0, max: 50 }),
});
const tenant = fc.record({
  fairShareTarget: fc.constantFrom(0, 0.2, 0.5),
  burstAllowance: fc.constantFrom(null, 1.5, 3),
  nodeHoursBudget: fc.constantFrom(null, 0, 20, 200),
  gpuHoursBudget: fc.constantFrom(null, 30, 300),
});

test("every term of the score, its weight and the penalty are what their definitions say", () => {
  fc.assert(
    fc.property(
      fc.array(node, { minLength: 1, maxLength: 10 }),
      fc.array(work, { minLength: 1, maxLength: 6 }),
      tenant,
      (nodes, works, settings) => {
        const s = new Scenario().tenant("physics", settings);
        for (const [i, inventory] of nodes.entries()) s.nodes(1, inventory, `n${i}-`);
        // all but the last run, as far as they can; the last one is what is scored
        for (const [i, { wait, ...request }] of works.entries()) {
          s.submit(`a${i}`, request).wait(wait);
          if (i === works.length - 1) continue;
          for (const proposal of plan(s.state, s.at).proposals) if (proposal.kind === "allocation.assign") s.ok(proposal);
        }
        const scored = s.allocation(`a${works.length - 1}`);
        for (const a of [...s.state.allocations.values()]) if (a.state === "pending" && a !== scored) s.move(a.id, "cancelled");
        const planned = plan(s.state, s.at);
        const start = planned.proposals.find((p) => p.kind === "allocation.assign");
        const given = start?.kind === "allocation.assign" ? start.nodes : [];
        const expected = slowTerms(s.state, scored, given, s.at);
        const score = planned.scores.get(scored.id)!;
        for (const term of TERMS) expect([term, score.terms[term].value]).toEqual([term, expect.closeTo(expected[term]!, 9)]);
        const weights = PROFILES[scored.vcluster as keyof typeof PROFILES];
        expect(score.penalty).toBeCloseTo(slowPenalty(s.state, "physics", s.at), 9);
        const sum = TERMS.reduce((total, term: Term) => total + weights[term] * expected[term]!, 0);
        expect(score.score).toBeCloseTo(sum * score.penalty, 9);
      },
    ),
    runs(300),
  );
});

describe("energy and data", () => {
  test("the cheapest nodes count 1, the dearest 0, and nothing is known where no price or no difference is declared", () => {
    const prices = { least: 20, greatest: 120 };
    expect([20, 70, 120, undefined].map((price) => energyTerm(price, prices))).toEqual([1, 0.5, 0, 0.5]);
    expect(energyTerm(20, { least: 20, greatest: 20 })).toBe(0.5);
  });

  test("among groups that hold it equally well, work goes to its data, and where that is equal, to the cheap energy", () => {
    const s = new Scenario().tenant("physics");
    s.nodes(2, { group: "dear", energyPrice: 90 }, "d").nodes(2, { group: "far", energyPrice: 10 }, "f");
    s.nodes(2, { group: "near", energyPrice: 50, datasets: ["genome"] }, "g");
    s.submit("reads", { nodes: 2, datasets: ["genome"] }).submit("computes", { nodes: 2 });
    for (const proposal of plan(s.state, s.at).proposals) s.ok(proposal);
    expect(s.allocation("reads").assigned).toEqual(["g0000", "g0001"]);
    expect(s.allocation("computes").assigned).toEqual(["f0000", "f0001"]);
  });

  test("a weight on data starts first what has its data in place", () => {
    const s = new Scenario().tenant("physics").nodes(1, { datasets: ["genome"] });
    s.submit("elsewhere", { datasets: ["ocean"] }).submit("here", { datasets: ["genome"] });
    const weights = { default: { ...PROFILES.default, data: 0.3, priority: 0 } };
    const { proposals, scores } = plan(s.state, s.at, { weights });
    expect(proposals).toMatchObject([{ allocation: "here" }]);
    expect([scores.get("here")?.terms.data.value, scores.get("elsewhere")?.terms.data.value]).toEqual([1, 0]);
  });
});
