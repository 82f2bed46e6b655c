import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type Candidate,
  chooseVictims,
  compareCandidates,
  givesWay,
  mayPreempt,
  preemptionCost,
} from "../../src/plan/victims.ts";
import type { Allocation } from "../../src/state/allocation.ts";
import { runs } from "../runs.ts";
import { Scenario } from "../scenario.ts";

const template = new Scenario().tenant("physics").nodes(1).submit("a").assign("a", "n0000").allocation("a");
const candidate = fc
  .record({ burst: fc.boolean(), cost: fc.nat(3), frees: fc.nat(4), started: fc.nat(2), id: fc.nat(99) })
  .map(({ burst, cost, frees, started, id }) => ({
    burst,
    cost,
    frees,
    allocation: { ...template, id: `a${id}`, startedAt: started } as Allocation,
  }));
const candidates = fc
  .uniqueArray(candidate, { maxLength: 7, selector: ({ allocation }) => allocation.id })
  .map((all) => all.sort(compareCandidates));

/** Every set of one to three: fewest non-burst, then fewest, then earliest in the order of candidates. */
function slow(all: readonly Candidate[], need: number): string[] {
  let best: number[] | undefined;
  const rank = (set: readonly number[]): number[] => [set.filter((i) => !all[i]?.burst).length, set.length, ...set];
  const better = (a: readonly number[], b: readonly number[]): boolean => {
    const [x, y] = [rank(a), rank(b)];
    const at = x.findIndex((n, i) => n !== y[i]);
    return at !== -1 && (x[at] as number) < (y[at] as number);
  };
  const visit = (set: number[], from: number): void => {
    if (
      set.length > 0 &&
      set.every((i) => (all[i]?.frees ?? 0) > 0) &&
      set.reduce((sum, i) => sum + (all[i]?.frees ?? 0), 0) >= need
    )
      if (best === undefined || better(set, best)) best = set;
    if (set.length < 3) for (let i = from; i < all.length; i++) visit([...set, i], i + 1);
  };
  visit([], 0);
  return (best ?? []).map((i) => (all[i] as Candidate).allocation.id);
}

test("the chosen victims are those of trying every set", () => {
  fc.assert(
    fc.property(candidates, fc.integer({ min: 1, max: 13 }), (all, need) => {
      expect(chooseVictims(all, need).map(({ allocation }) => allocation.id)).toEqual(slow(all, need));
    }),
    runs(400),
  );
});

test("all burst candidates stand before any other, then the cheapest, then the latest started, then by id", () => {
  const make = (id: string, burst: boolean, cost: number, startedAt: number): Candidate => ({
    burst,
    cost,
    frees: 1,
    allocation: { ...template, id, startedAt },
  });
  const order = [
    make("d", false, 1, 9),
    make("c", true, 2, 1),
    make("b", true, 2, 5),
    make("a", true, 2, 5),
    make("e", true, 1, 0),
  ];
  expect(order.sort(compareCandidates).map(({ allocation }) => allocation.id)).toEqual(["e", "a", "b", "c", "d"]);
});

test("the cost is that of the checkpoint and of what is nearly done", () => {
  const at = (minutes: number, checkpoint: Allocation["checkpoint"], nodes = 2): number =>
    preemptionCost(
      { ...template, checkpoint, startedAt: 0, walltimeHours: 1, assigned: Array.from({ length: nodes }, (_, i) => `n${i}`) },
      minutes * 60_000,
    );
  expect([at(3, "auto"), at(30, "auto"), at(30, "manual"), at(54, "auto"), at(30, "none")]).toEqual([6, 55, 60, 1005, 110]);
});

test("who may have to give way: lower classes always, equal ones only as burst work of another tenant", () => {
  const pending = { ...template, id: "p", tenant: "blue", state: "pending", priorityClass: 5 } as Allocation;
  const running = (more: Partial<Allocation>): Allocation => ({ ...template, tenant: "red", priorityClass: 5, ...more });
  const facts = { burst: true, belowShare: true };
  expect(mayPreempt(pending, running({}), facts)).toBe(true);
  expect(mayPreempt(pending, running({}), { ...facts, burst: false })).toBe(false);
  expect(mayPreempt(pending, running({}), { ...facts, belowShare: false })).toBe(false);
  expect(mayPreempt(pending, running({ tenant: "blue" }), facts)).toBe(false);
  expect(mayPreempt(pending, running({ priorityClass: 4 }), { burst: false, belowShare: false })).toBe(true);
  expect(mayPreempt({ ...pending, priorityClass: 10 }, running({ sensitive: true }), facts)).toBe(false);
  expect(mayPreempt({ ...pending, priorityClass: 10 }, running({ priorityClass: 10 }), facts)).toBe(false);
  expect(mayPreempt(pending, running({ state: "checkpointing", priorityClass: 1 }), facts)).toBe(false);
});

test("how running work gives way is its tenant's and the cluster's rule, and never before it has run long enough", () => {
  const at = 10 * 3_600_000;
  const running = (more: Partial<Allocation>): Allocation => ({ ...template, state: "running", startedAt: 0, ...more });
  const rule = (mode: "off" | "requeue" | "cancel", exemptMs = 0) => ({ mode, exemptMs, now: at });
  const plain = running({ checkpoint: "none", requeuePolicy: "never" });
  const saved = running({ checkpoint: "auto" });
  const again = running({ checkpoint: "none", requeuePolicy: "always", requeues: 0, maxRequeue: 1 });
  const spent = { ...again, requeues: 1 };
  expect([plain, saved, again, spent].map((a) => givesWay(a, rule("off")))).toEqual([false, false, false, false]);
  expect([plain, saved, again, spent].map((a) => givesWay(a, rule("requeue")))).toEqual([false, true, true, false]);
  expect([plain, saved, again, spent].map((a) => givesWay(a, rule("cancel")))).toEqual([true, true, true, true]);
  expect([at, at + 1].map((exempt) => givesWay(saved, rule("cancel", exempt)))).toEqual([true, false]);
});
