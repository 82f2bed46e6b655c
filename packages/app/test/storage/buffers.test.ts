import fc from "fast-check";
import { expect, test } from "vitest";
import { createBuffers, largeBytes } from "../../src/storage/bytes/buffers.ts";

test("memory has one owner, whatever is taken and given back in whatever order, twice included", () => {
  const step = fc.oneof(
    fc.record({ take: fc.integer({ min: 1, max: 4 * largeBytes }) }),
    fc.record({ give: fc.nat(), again: fc.boolean(), piece: fc.boolean() }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const buffers = createBuffers(6 * largeBytes);
      const held: Uint8Array[] = [];
      for (const next of steps) {
        if ("take" in next) {
          const bytes = buffers.take(next.take);
          expect(bytes.length).toBe(next.take);
          held.push(bytes);
        } else if (held.length > 0) {
          const [bytes = new Uint8Array()] = held.splice(next.give % held.length, 1);
          buffers.give(next.piece ? bytes.subarray(1) : bytes);
          if (next.again) buffers.give(bytes);
        }
        expect(new Set(held.map(({ buffer }) => buffer)).size).toBe(held.length);
      }
    }),
  );
});

test("large memory is shared with threads and used again; what was not taken here, and more than is kept, is left alone", () => {
  const buffers = createBuffers(2 * largeBytes);
  const [one, two, three] = [0, 1, 2].map(() => buffers.take(largeBytes));
  expect(one?.buffer).toBeInstanceOf(SharedArrayBuffer);
  for (const bytes of [new Uint8Array(largeBytes), new Uint8Array(new SharedArrayBuffer(largeBytes))]) buffers.give(bytes);
  const fresh = buffers.take(largeBytes);
  for (const bytes of [one, two, three]) if (bytes !== undefined) buffers.give(bytes);
  const again = [0, 1, 2].map(() => buffers.take(largeBytes).buffer);
  // The longest unused went: two were kept.
  expect(again.filter((buffer) => [two?.buffer, three?.buffer].includes(buffer))).toHaveLength(2);
  expect(again).not.toContain(one?.buffer);
  expect(again).not.toContain(fresh.buffer);
  expect(buffers.take(largeBytes - 1).buffer).toBeInstanceOf(ArrayBuffer);
});
