import fc from "fast-check";
import { expect, test } from "vitest";
import { Timeline } from "../../src/state/timeline.ts";
import { runs } from "../runs.ts";

interface Step {
  readonly gap: number;
  readonly nodes: number;
  readonly gpus: number;
}

/** Adds up every step's remaining rectangle inside the window, one by one. */
function slow(steps: readonly (readonly [number, number, number])[], from: number, to: number): [bigint, bigint] {
  let nodes = 0n;
  let gpus = 0n;
  for (const [at, dn, dg] of steps) {
    const ms = BigInt(Math.max(0, to - Math.max(at, from)));
    nodes += ms * BigInt(dn);
    gpus += ms * BigInt(dg);
  }
  return [nodes, gpus];
}

const step = fc.record({ gap: fc.integer({ min: 0, max: 50 }), nodes: fc.integer({ min: -5, max: 9 }), gpus: fc.nat(40) });

test("the usage in any window equals the sum over all steps, in every version of every branch", () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 700, size: "max" }),
      fc.array(fc.tuple(fc.nat(30_000), fc.nat(30_000)), { minLength: 1, maxLength: 8 }),
      fc.nat(),
      (steps: Step[], windows, cut) => {
        const versions: [Timeline, [number, number, number][]][] = [[Timeline.empty, []]];
        let at = 0;
        for (const [i, { gap, nodes, gpus }] of steps.entries()) {
          at += gap;
          // now and then go on from an older version: a fork
          const from = i % 97 === cut % 97 ? versions[versions.length >> 1] : versions.at(-1);
          const [line, log] = from as (typeof versions)[number];
          versions.push([line.step(at, nodes, gpus), [...log, [at, nodes, gpus]]]);
        }
        for (const [line, log] of versions.filter((_, i) => i % 61 === 0 || i === versions.length - 1))
          for (const [from, to] of windows) {
            const [nodeMs, gpuMs] = from < to ? slow(log, from, to) : [0n, 0n];
            expect(line.used(from, to)).toEqual({ nodeMs, gpuMs });
          }
        const [line] = versions.at(-1) as (typeof versions)[number];
        expect([...Timeline.from(line.steps()).steps()]).toEqual([...line.steps()]);
      },
    ),
    runs(40),
  );
});

test("areas beyond 2^53 stay exact", () => {
  const line = Timeline.empty.step(0, 800_000, 6_400_001).step(63_072_000_000, -800_000, -6_400_001);
  expect(line.used(1, 63_072_000_001)).toEqual({
    nodeMs: 800_000n * 63_071_999_999n,
    gpuMs: 6_400_001n * 63_071_999_999n,
  });
});
