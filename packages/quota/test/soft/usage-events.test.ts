import fc from "fast-check";
import { expect, test } from "vitest";
import { apply } from "../../src/apply/apply.ts";
import { anyHistory } from "../../src/arbitraries/index.ts";
import { usageEvents } from "../../src/soft/usage-events.ts";
import { emptyState, type QuotaState } from "../../src/state/state.ts";

/** What takes work out of the state, or puts other work in its place. */
const FORGETS: ReadonlySet<string> = new Set(["allocation.prune", "tenant.delete", "state.restore"]);

test("the accounting system hears the hours of every attempt that has ended, each under one id, whatever became of the work", () => {
  fc.assert(
    fc.property(anyHistory(60), (history) => {
      let state: QuotaState = emptyState();
      const told = new Map<string, number>();
      for (const { command, at } of history) {
        if (FORGETS.has(command.kind)) continue;
        const outcome = apply(state, command, at);
        state = outcome.state ?? state;
        if (!outcome.ok) continue;
        for (const { id, resourceType, amount } of outcome.events.flatMap(usageEvents)) {
          if (resourceType !== "node_hours" && resourceType !== "gpu_hours") continue;
          expect(told.has(id)).toBe(false);
          told.set(id, amount);
        }
      }
      for (const { id, attempts } of state.allocations.values())
        for (const { startedAt, endedAt, nodes, gpus } of attempts) {
          const hours = endedAt === null ? undefined : (endedAt - startedAt) / 3_600_000;
          const heard = told.get(`${id}:${startedAt}:node_hours`);
          if (hours === undefined || hours === 0) continue;
          expect(heard).toBeCloseTo(hours * nodes, 6);
          expect(told.get(`${id}:${startedAt}:gpu_hours`)).toBeCloseTo(hours * gpus, 6);
        }
    }),
  );
});
