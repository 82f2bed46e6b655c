import { openMetrics } from "@seneschal/adapters/metrics";
import type { WorkerPoolState } from "@seneschal/kernel/ports";
import fc from "fast-check";
import { expect, test } from "vitest";
import { measureWorkers, workersCheck } from "../../src/platform/workers.ts";

const pool: fc.Arbitrary<WorkerPoolState> = fc.record({
  name: fc.constantFrom("threshold", "policies", "classify"),
  workers: fc.nat(4),
  busy: fc.nat(4),
  waiting: fc.nat(4),
  done: fc.nat(9),
  deadlines: fc.nat(9),
  replaced: fc.nat(9),
  refused: fc.nat(9),
  unstarted: fc.nat(9),
  stuck: fc.boolean(),
  failing: fc.boolean(),
});
const pools = fc.uniqueArray(pool, { selector: ({ name }) => name });

test("health names every pool that is stuck or whose workers cannot be started, and no other", async () => {
  await fc.assert(
    fc.asyncProperty(pools, async (all) => {
      const said = await workersCheck(() => all)
        .check()
        .then(
          () => "",
          (error: Error) => error.message,
        );
      for (const { name, stuck, failing } of all) expect(said.includes(name)).toBe(stuck || failing);
      expect(said.includes("stuck: ")).toBe(all.some(({ stuck }) => stuck));
      expect(said.includes("cannot be started: ")).toBe(all.some(({ failing }) => failing));
    }),
  );
});

test("the metrics say of each pool what it says of itself", async () => {
  await fc.assert(
    fc.asyncProperty(pools, async (all) => {
      const metrics = openMetrics({ prefix: "test", version: "1" });
      measureWorkers(metrics, () => all);
      const text = await metrics.registry.metrics();
      for (const { name, failing, unstarted, stuck } of all) {
        expect(text).toContain(`test_workers_failing{pool="${name}"} ${failing ? 1 : 0}\n`);
        expect(text).toContain(`test_workers_stuck{pool="${name}"} ${stuck ? 1 : 0}\n`);
        expect(text).toContain(`test_workers_unstarted_total{pool="${name}"} ${unstarted}\n`);
      }
    }),
    { numRuns: 20 },
  );
});
