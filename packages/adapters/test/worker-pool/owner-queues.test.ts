import { expect, test } from "vitest";
import { leavesOne } from "../../src/worker-pool/leaves-one.ts";
import { OwnerCosts } from "../../src/worker-pool/owner-costs.ts";
import { OwnerQueues } from "../../src/worker-pool/owner-queues.ts";

/** Owners whose tasks were seen to take long so often. */
function costsOf(seen: Readonly<Record<string, number>>): OwnerCosts {
  const costs = new OwnerCosts();
  for (const [owner, times] of Object.entries(seen)) for (let i = 0; i < times; i++) costs.add(owner);
  return costs;
}

test("owners who cost less come first, in their turns, and never in one message with those who cost much", () => {
  const queues = new OwnerQueues<{ readonly owner: string; readonly n: number }>();
  for (const n of [1, 2]) for (const owner of ["dear", "cheap", "other", "worse"]) queues.add({ owner, n });
  const costs = costsOf({ dear: 10, worse: 20, other: 1 });
  const take = (most = 100) => queues.take(most, () => true, costs).map(({ owner, n }) => `${owner} ${n}`);
  expect(take()).toEqual(["cheap 1", "other 1", "cheap 2", "other 2"]);
  queues.add({ owner: "cheap", n: 3 });
  expect(take(1)).toEqual(["cheap 3"]);
  expect(take()).toEqual(["dear 1", "worse 1", "dear 2", "worse 2"]);
  expect([take(), queues.size]).toEqual([[], 0]);
});

test("neither one owner nor all together who cost much have the last thread", () => {
  const costs = costsOf({ a: 6, b: 6 });
  const may = (owner: string, here: string[], ...others: string[][]) => leavesOne(owner, here, others, 3, costs);
  expect(may("c", [], ["c"], [])).toBe(true);
  expect(may("c", [], ["c"], ["c"])).toBe(false);
  expect(may("c", ["c"], ["c"], ["c"])).toBe(true);
  expect(may("c", [], ["a"], ["b"])).toBe(true);
  expect(may("a", [], ["b"], [])).toBe(true);
  expect(may("a", [], ["b"], ["b", "c"])).toBe(false);
  expect(may("a", ["b"], ["b"], ["b"])).toBe(true);
  expect(leavesOne("a", [], [], 1, costs)).toBe(true);
});

test("what an owner cost fades, and is forgotten", () => {
  const costs = costsOf({ a: 8, b: 1 });
  const looks = (n: number) => {
    for (let i = 0; i < n; i++) costs.look();
  };
  expect(costs.isDear("a")).toBe(true);
  looks(100);
  expect([costs.of("a"), costs.isDear("a"), costs.of("b")]).toEqual([4, false, 0]);
  looks(200);
  expect(costs.of("a")).toBe(1);
  looks(100);
  expect(costs.of("a")).toBe(0);
});
