import { type DeviceFill, forecastCapacity, freeBytes } from "@seneschal/core/storage";
import fc from "fast-check";
import { expect, test } from "vitest";

const fill = fc
  .record({ capacityBytes: fc.nat(1000), used: fc.nat(1000), id: fc.constantFrom("a", "b", undefined), dead: fc.nat(50) })
  .map(({ capacityBytes, used, id, dead }) => ({ capacityBytes, usedBytes: Math.min(used, capacityBytes), id, dead }));

test("devices take the rest of their capacities at most, those of one file system no more than it has and they give back", () => {
  fc.assert(
    fc.property(fc.array(fill, { maxLength: 8 }), fc.nat(500), fc.nat(500), (found, a, b) => {
      const free = { a, b };
      const devices = found.map(({ capacityBytes, usedBytes, id, dead }): DeviceFill => {
        if (id === undefined) return { capacityBytes, usedBytes };
        return { capacityBytes, usedBytes, disk: { id, freeBytes: free[id as "a" | "b"], deadBytes: dead } };
      });
      const rest = (some: typeof found) => some.reduce((n, d) => n + d.capacityBytes - d.usedBytes, 0);
      const on = (id: string) => found.filter((d) => d.id === id);
      const least = (id: "a" | "b") =>
        Math.min(rest(on(id)), on(id).length === 0 ? 0 : free[id] + on(id).reduce((n, { dead }) => n + dead, 0));
      expect(freeBytes(devices)).toBe(rest(found.filter((d) => d.id === undefined)) + least("a") + least("b"));
    }),
  );
});

test("a pool is foretold to be full by what else fills its file systems, and by a capacity that they never had", () => {
  const hour = 3_600_000;
  // Devices of 1000 on a file system that has 100 - 10 n left, whoever takes it.
  const points = [0, 1, 2].map((n) => ({ at: n * hour, usedBytes: 5, capacityBytes: 105 - 10 * n, configuredBytes: 1000 }));
  expect(forecastCapacity(points, 100)).toEqual({ bytesPerDay: 240, fullAt: 10 * hour });
});
