import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { burstAllocations, effectiveShare, shareDeficit } from "../../src/soft/fair-share.ts";
import { budgetPenalty } from "../../src/soft/penalty.ts";
import { backlogTerm, checkWeights, PROFILES, scoreOf, TERMS, type Term, waitTerm } from "../../src/soft/score.ts";
import { Scenario } from "../scenario.ts";

describe("the budget penalty", () => {
  test.each([
    [0, 1],
    [0.8, 1],
    [0.82, 0.9768],
    [0.85, 0.8609],
    [0.9, 0.525],
    [0.95, 0.1891],
    [0.99, 0.0558],
    [1, 0.05],
    [1.2, 0.05],
  ])("at %d is %d", (u, penalty) => {
    expect(budgetPenalty(u)).toBeCloseTo(penalty, 4);
  });

  test("stays in [0.05, 1], never rises, and has no jumps", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 3, noNaN: true }), fc.double({ min: 0, max: 1e-6, noNaN: true }), (u, step) => {
        const [a, b] = [budgetPenalty(u), budgetPenalty(u + step)];
        expect(a).toBeGreaterThanOrEqual(0.05);
        expect(a).toBeLessThanOrEqual(1);
        expect(b).toBeLessThanOrEqual(a + 1e-12);
        expect(a - b).toBeLessThan(1e-4);
      }),
    );
  });
});

describe("fair share and burst", () => {
  test.each([
    [0, 0.225],
    [0.4, 0.1875],
    [0.8, 0.15],
    [1, 0.15],
  ])("target 0.15 with burst 1.5 at utilisation %d is %d: a multiplier of the share", (utilisation, share) => {
    expect(effectiveShare(0.15, 1.5, utilisation)).toBeCloseTo(share, 12);
  });

  test("the deficit is 1 for nothing, 0 at the share and beyond, 0.5 without a target", () => {
    expect([shareDeficit(0, 0.2), shareDeficit(0.2, 0.2), shareDeficit(0.4, 0.2), shareDeficit(0.3, 0)]).toEqual([1, 0, 0, 0.5]);
  });

  test("burst work is what takes the sum beyond target x capacity, in order of start, then id", () => {
    const s = new Scenario().tenant("physics").nodes(10);
    for (const [i, id] of ["c", "a", "b"].entries()) {
      s.submit(id, { nodes: 2 }).assign(id, `n000${2 * i}`, `n000${2 * i + 1}`);
      if (i === 0) s.wait(1);
    }
    const running = [...s.state.allocations.values()];
    expect([...burstAllocations(running, 0.4, 10)]).toEqual(["b"]);
    expect([...burstAllocations(running, 0.2, 10)]).toEqual(["a", "b"]);
  });
});

describe("the cost function", () => {
  test.each(Object.entries(PROFILES))("the weights of %s sum to 1", (name, weights) => {
    checkWeights(name, weights);
    expect(TERMS.reduce((sum, term) => sum + weights[term], 0)).toBeCloseTo(1, 12);
  });

  test("weights that do not sum to 1 are refused", () => {
    expect(() => checkWeights("x", { ...PROFILES.default, wait: 0.3 })).toThrow(
      expect.objectContaining({ code: "invalid_weights" }),
    );
    expect(() => checkWeights("x", { ...PROFILES.default, wait: -0.2, fairShare: 0.6 })).toThrow();
  });

  test("the score is the weighted sum times the penalty, and shows its parts", () => {
    const values = Object.fromEntries(TERMS.map((term) => [term, 0.5])) as Record<Term, number>;
    const score = scoreOf({ ...values, priority: 1 }, PROFILES.default, 0.5);
    expect(score.score).toBeCloseTo((0.2 * 1 + 0.8 * 0.5) * 0.5, 12);
    expect(score.terms.priority).toEqual({ weight: 0.2, value: 1 });
  });

  test("waiting counts by ln(1 + hours) without a bound; the backlog is capped at 1", () => {
    expect(waitTerm(0, 3_600_000)).toBeCloseTo(Math.log(2), 12);
    expect(waitTerm(0, 3_600_000 * 1e6)).toBeGreaterThan(13);
    expect([backlogTerm(1, 2), backlogTerm(9, 2), backlogTerm(1, 0), backlogTerm(0, 0)]).toEqual([0.5, 1, 1, 0]);
  });
});
