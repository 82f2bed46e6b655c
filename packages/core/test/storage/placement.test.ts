import { misplacedOn, murmur3, nodeShare, placeChunk, planRebuild, rankDevices } from "@seneschal/core/storage";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const candidates = (n: number, nodes = 1) =>
  Array.from({ length: n }, (_, i) => ({ id: `d${i}`, node: `n${i % nodes}`, weight: 100 }));
const chunkId = fc.stringMatching(/^[0-9a-f]{64}$/);

test("MurmurHash3 x86_32 verification vectors (SMHasher, widely published)", () => {
  expect([murmur3("", 0), murmur3("", 1), murmur3("test", 0), murmur3("Hello, world!", 0), murmur3("aaa", 0x9747b28c)]).toEqual([
    0, 0x514e28b7, 0xba6bd213, 0xc0363e43, 0x283e0130,
  ]);
});

describe("placement", () => {
  test("devices of a chunk are distinct and the choice is a function of the set, not of its order", () => {
    fc.assert(
      fc.property(chunkId, fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 12 }), (id, n, count) => {
        const all = candidates(n, 3);
        const placed = placeChunk(id, all, count);
        if (count > n) {
          expect(placed).toBeUndefined();
          return;
        }
        expect(new Set(placed?.map((c) => c.id)).size).toBe(count);
        expect(placeChunk(id, all.toReversed(), count)).toEqual(placed);
      }),
    );
  });
  test("removing a device moves only what it held", () => {
    fc.assert(
      fc.property(chunkId, fc.integer({ min: 0, max: 7 }), (id, gone) => {
        const all = candidates(8);
        const before = rankDevices(id, all).map((c) => c.id);
        const after = rankDevices(
          id,
          all.filter((c) => c.id !== `d${gone}`),
        ).map((c) => c.id);
        expect(after).toEqual(before.filter((d) => d !== `d${gone}`));
      }),
    );
  });
  test("no node gets a second fragment while another could take its first", () => {
    fc.assert(
      fc.property(chunkId, fc.integer({ min: 1, max: 9 }), (id, count) => {
        const perNode = new Map<string, number>();
        for (const c of placeChunk(id, candidates(9, 3), count) ?? []) perNode.set(c.node, (perNode.get(c.node) ?? 0) + 1);
        const counts = ["n0", "n1", "n2"].map((n) => perNode.get(n) ?? 0);
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
      }),
    );
  });
  test("load follows weight", () => {
    const all = [...candidates(3), { id: "big", node: "n0", weight: 300 }];
    const first = Array.from({ length: 4000 }, (_, i) => rankDevices(`chunk-${i}`, all)[0]?.id);
    const share = first.filter((d) => d === "big").length / first.length;
    expect(share).toBeGreaterThan(0.45);
    expect(share).toBeLessThan(0.55);
  });
});

describe("rebuild plan", () => {
  test("the fragments of a chunk stay on distinct devices, moving none that should stay", () => {
    fc.assert(
      fc.property(chunkId, fc.subarray([0, 1, 2, 3, 4, 5], { minLength: 1 }), fc.integer({ min: 6, max: 9 }), (id, moving, n) => {
        const all = candidates(n);
        const places = Array.from({ length: 6 }, (_, index) => ({ index, device: `d${index}`, node: "n0" }));
        const plan = planRebuild(id, places, new Set(moving), all);
        if (plan === undefined) throw new Error("own devices are candidates, so a plan exists");
        expect(plan.map((p) => p.index)).toEqual([...moving].sort());
        const final = new Map(places.map((p) => [p.index, p.device]));
        for (const p of plan) final.set(p.index, p.target);
        expect(new Set(final.values()).size).toBe(6);
      }),
    );
  });
  test("without a device that may take it there is no plan", () => {
    const places = [0, 1].map((index) => ({ index, device: `d${index}`, node: "n0" }));
    expect(planRebuild("aa", places, new Set([1]), [{ id: "d0", node: "n0", weight: 1 }])).toBeUndefined();
  });
});

test("no node gets more than its share, and what finds no place is not placed", () => {
  const all = ["n1", "n1", "n2", "n2"].map((node, i) => ({ id: `d${i}`, node, weight: 1 }));
  expect(placeChunk("aa", all, 3, [], () => 1)).toBeUndefined();
  expect(new Set(placeChunk("aa", all, 2, [], () => 1)?.map((c) => c.node))).toEqual(new Set(["n1", "n2"]));
  expect(placeChunk("aa", all, 1, [{ node: "n1" }], () => 1)?.map((c) => c.node)).toEqual(["n2"]);
  // A rebuild crowds a node no more than it was.
  const places = [
    { index: 0, device: "d0", node: "n1" },
    { index: 1, device: "none-1", node: "" },
  ];
  expect(planRebuild("aa", places, new Set([1]), all.slice(0, 2), 1)).toBeUndefined();
  expect(planRebuild("aa", places, new Set([1]), all.slice(0, 2), 2)).toEqual([{ index: 1, target: "d1" }]);
  expect(planRebuild("aa", places, new Set([0]), all.slice(0, 2), 1)).toEqual([{ index: 0, target: "d1" }]);
});

test("a node's share counts nodes that do not answer, and never less than a majority of them", () => {
  const device = (node: string) => ({ node, pool: "p", state: "Healthy" });
  const devices = Object.fromEntries(["n1", "n2", "n3"].map((n) => [n, device(n)]));
  const nodes = Object.fromEntries(["n1", "n2", "n3"].map((n) => [n, { id: n, state: "Active" }]));
  const share = (state: object, answers?: (n: string) => boolean) =>
    nodeShare(state as Parameters<typeof nodeShare>[0], { id: "p" }, 3, answers);
  expect(share({ devices, nodes })).toBe(1);
  expect(share({ devices, nodes }, (n) => n !== "n3")).toBe(2);
  expect(share({ devices, nodes }, (n) => n === "n1")).toBe(2);
  expect(share({ devices, nodes: { ...nodes, n3: { id: "n3", state: "Evicted" } } })).toBe(2);
  expect(share({ devices: { n1: device("n1") }, nodes: {} })).toBe(3);
});

describe("rebalancing", () => {
  const held = fc.uniqueArray(fc.constantFrom<string>("d0", "d1", "d2", "d3", "d4", "gone"), { maxLength: 4 });
  test("what leaves is held where placement does not want it; once it lies as placement prefers nothing does", () => {
    fc.assert(
      fc.property(
        chunkId,
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 3 }),
        held,
        fc.integer({ min: 1, max: 4 }),
        (id, n, nodes, on, share) => {
          const able = candidates(n, nodes);
          const count = Math.max(1, on.length);
          const ideal = placeChunk(id, able, count, [], () => share)?.map((c) => c.id);
          const leaving = misplacedOn(id, on, able, count, share);
          if (ideal === undefined) return void expect(leaving).toBeUndefined();
          for (const device of leaving ?? []) expect([on.includes(device), ideal.includes(device)]).toEqual([true, false]);
          expect(on.filter((device) => !leaving?.has(device)).every((device) => ideal.includes(device))).toBe(true);
          expect(misplacedOn(id, ideal, able, count, share)).toBeUndefined();
        },
      ),
    );
  });
  test("nothing moves where there is no place for all fragments", () => {
    expect(misplacedOn("0f".repeat(32), ["d0", "gone"], candidates(1), 2, 2)).toBeUndefined();
    expect(misplacedOn("0f".repeat(32), ["d0", "gone"], candidates(2), 2, 1)).toBeUndefined();
  });
});
