import { overcommitted, type PlacedDevice } from "@seneschal/core/storage";
import fc from "fast-check";
import { expect, test } from "vitest";

const bytes = fc.integer({ min: 0, max: 2 ** 50 });
const device = fc.record({ filesystem: fc.constantFrom("a", "b"), capacityBytes: bytes, usedBytes: bytes });
const placed = fc.array(device, { maxLength: 8 }).map((list) => list.map((one, i): PlacedDevice => ({ ...one, id: `d${i}` })));
const rest = (list: readonly PlacedDevice[]) => list.reduce((n, d) => n + Math.max(0, d.capacityBytes - d.usedBytes), 0);

test("a file system is told of when all of its devices together may take more than is free there, and with all of them", () =>
  fc.assert(
    fc.property(placed, bytes, bytes, (devices, a, b) => {
      const found = overcommitted(devices, { a, b });
      for (const [filesystem, freeBytes] of Object.entries({ a, b })) {
        const here = devices.filter((d) => d.filesystem === filesystem);
        const told = found.find((one) => one.filesystem === filesystem);
        const promisedBytes = rest(here);
        expect(told).toEqual(
          promisedBytes > freeBytes ? { filesystem, devices: here.map(({ id }) => id), promisedBytes, freeBytes } : undefined,
        );
      }
    }),
  ));

test("what a device writes within its capacity changes nothing: it takes of both alike", () =>
  fc.assert(
    fc.property(placed, bytes, (devices, free) => {
      const here = devices.map((d) => ({ ...d, filesystem: "a" }));
      const written = here.map((d) => ({ ...d, usedBytes: Math.max(d.usedBytes, d.capacityBytes) }));
      const before = overcommitted(here, { a: free }).length;
      if (rest(here) <= free) expect(overcommitted(written, { a: free - rest(here) })).toEqual([]);
      else expect(before).toBe(1);
    }),
  ));

test("of a file system that nothing is known of, nothing is free", () => {
  expect(overcommitted([{ id: "d", filesystem: "x", capacityBytes: 1, usedBytes: 0 }], {})).toHaveLength(1);
  expect(overcommitted([], {})).toEqual([]);
});
