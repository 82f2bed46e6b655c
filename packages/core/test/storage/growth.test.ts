import {
  type CapacityPoint,
  type ClusterState,
  type Device,
  emptyCluster,
  forecastCapacity,
  judgeLeave,
  nodeShare,
  placeChunk,
  stepCluster,
} from "@seneschal/core/storage";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const hour = 3_600_000;

describe("a forecast of capacity", () => {
  const steady = (rate: number, hours: number, start = 0): readonly CapacityPoint[] =>
    Array.from({ length: hours * 6 + 1 }, (_, i) => ({
      at: (i * hour) / 6,
      usedBytes: start + (rate * i) / 6,
      capacityBytes: 1e12,
    }));

  test("of a steady rate is when the pool reaches full, whatever the rate; one that empties or stands never does", () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e9, max: 1e11 }), fc.integer({ min: 1, max: 24 }), (rate, hours) => {
        const points = steady(rate, hours, 3e10);
        const last = points.at(-1) as CapacityPoint;
        const left = Math.max(0, 0.97e12 - last.usedBytes) / rate;
        const found = forecastCapacity(points, 97);
        expect(found?.bytesPerDay).toBeCloseTo(rate * 24, -3);
        if (rate <= 0 || left > 366 * 24) expect(found?.fullAt ?? null).toBeNull();
        else expect(Math.abs((found?.fullAt ?? 0) - last.at - left * hour)).toBeLessThan(1 + left * hour * 1e-3);
      }),
    );
  });
  test("says nothing before an hour was seen, and begins anew when the capacity changes", () => {
    expect(forecastCapacity([], 97)).toBeUndefined();
    expect(forecastCapacity(steady(1e9, 1).slice(0, -1), 97)).toBeUndefined();
    const grown = steady(1e9, 3).map((p, i, all) => (i === all.length - 1 ? { ...p, capacityBytes: 2e12 } : p));
    expect(forecastCapacity(grown, 97)).toBeUndefined();
  });
  test("of a full pool is now", () => {
    expect(forecastCapacity(steady(1e9, 2, 0.99e12), 97)).toMatchObject({ fullAt: 2 * hour });
  });
});

describe("what leaves", () => {
  const device = fc.record({
    node: fc.constantFrom("n1", "n2", "n3", "n4"),
    pool: fc.constantFrom("a", "b"),
    state: fc.constantFrom("Healthy", "Healthy", "Healthy", "Degraded", "Failed", "Removed"),
    used: fc.integer({ min: 0, max: 100 }),
  });
  const world = fc.record({
    devices: fc.array(device, { minLength: 1, maxLength: 14 }),
    durability: fc.constantFrom(
      undefined,
      { kind: "ec", data: 2, parity: 1 } as const,
      { kind: "replication", copies: 3 } as const,
    ),
  });

  test("may leave only where every chunk finds devices enough that stay, and no node's loss costs more than it did", () => {
    fc.assert(
      fc.property(world, fc.constantFrom("n1", "n2"), ({ devices, durability }, node) => {
        const known = devices.map(
          (d, i) => ({ ...d, id: `d${i}`, class: "ssd", capacityBytes: 100, evacuated: false, reason: "", since: 0 }) as Device,
        );
        const used = new Map(devices.map((d, i) => [`d${i}`, d.used]));
        const pool = { id: "a", class: "ssd", thresholds: {}, ...(durability && { durability }) } as const;
        const nodes = Object.fromEntries(["n1", "n2", "n3", "n4"].map((id) => [id, { id, state: "Active" }]));
        const state = {
          ...emptyCluster,
          pools: { a: pool },
          devices: Object.fromEntries(known.map((d) => [d.id, d])),
          nodes,
        } as unknown as ClusterState;
        const leaves = (d: Device) => d.node === node;
        const usedBytes = (d: Device) => used.get(d.id) ?? 0;
        const freeBytes = (d: Device) => d.capacityBytes - usedBytes(d);
        const { refusal, needed, targets } = judgeLeave(state, pool, leaves, { reached: () => true, usedBytes, freeBytes });
        const parity =
          durability === undefined ? undefined : durability.kind === "ec" ? durability.parity : durability.copies - 1;
        // Whatever is away besides, a refusal says so: what is refused for a moment does not look as if it were for ever.
        const away = known.find((d) => d.pool === "a" && !leaves(d) && (d.state === "Healthy" || d.state === "Degraded"));
        const alone = judgeLeave(state, pool, leaves, { reached: (d) => d !== away, usedBytes, freeBytes }).refusal;
        if (away === undefined) expect(alone).toBe(refusal);
        else if (alone !== undefined) expect(alone).toContain(`while devices of ${away.node} are not reached`);
        if (refusal !== undefined) return;
        expect(targets).toBeGreaterThanOrEqual(needed);
        const staying = known.filter((d) => d.pool === "a" && !leaves(d) && (d.state === "Healthy" || d.state === "Degraded"));
        const left = { ...state, nodes: { ...nodes, [node]: { id: node, state: "Draining" } } } as unknown as ClusterState;
        const share = nodeShare(left, pool, needed);
        const placed = placeChunk(
          "0f".repeat(32),
          staying.map((d) => ({ id: d.id, node: d.node, weight: 1 })),
          needed,
          [],
          () => share,
        );
        expect(placed).toHaveLength(needed);
        if (parity !== undefined && nodeShare(state, pool, needed) <= parity) {
          const held = new Map<string, number>();
          for (const d of placed ?? []) held.set(d.node, (held.get(d.node) ?? 0) + 1);
          expect(Math.max(...held.values())).toBeLessThanOrEqual(parity);
        }
      }),
    );
  });
});

test("a pool goes only without devices and data, and is then unknown", () => {
  const run = (state: ClusterState, ...commands: readonly Parameters<typeof stepCluster>[1][]) =>
    commands.reduce((at, command) => {
      const step = stepCluster(at, command, 0);
      if (!step.ok) throw new Error(step.message);
      return step.state;
    }, state);
  const made = run(
    emptyCluster,
    { kind: "node.join", node: { id: "n1", address: "", dataAddress: "", peerAddress: "" } },
    { kind: "pool.create", id: "a", class: "ssd" },
    { kind: "pool.create", id: "b", class: "ssd" },
    { kind: "device.add", device: { id: "d", node: "n1", pool: "a", class: "ssd", capacityBytes: 1, directory: "/srv/d" } },
  );
  expect(made.devices["d"]).toMatchObject({ directory: "/srv/d", state: "Healthy" });
  for (const [id, holdsData, error] of [
    ["a", false, "PoolNotEmpty"],
    ["b", true, "PoolNotEmpty"],
    ["c", false, "NotFound"],
  ] as const)
    expect(stepCluster(made, { kind: "pool.delete", id, holdsData }, 0)).toMatchObject({ ok: false, error });
  expect(Object.keys(run(made, { kind: "pool.delete", id: "b", holdsData: false }).pools)).toEqual(["a"]);
});
