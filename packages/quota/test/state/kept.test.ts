import fc from "fast-check";
import { expect, test } from "vitest";
import { apply } from "../../src/apply/apply.ts";
import { anyHistory } from "../../src/arbitraries/index.ts";
import type { Command } from "../../src/command.ts";
import { housekeeping } from "../../src/plan/housekeeping.ts";
import { isTerminal } from "../../src/state/allocation.ts";
import { emptyState, type QuotaState } from "../../src/state/state.ts";
import { Scenario } from "../scenario.ts";

const after = (history: readonly { readonly command: Command; readonly at: number }[]): QuotaState =>
  history.reduce((state, { command, at }) => apply(state, command, at).state ?? state, emptyState());

test("of more than 10,000 events the newest are kept", () => {
  const scenario = new Scenario().tenant("physics");
  const crossing = {
    tenant: "physics",
    metric: "gpu_hours",
    used: 9,
    budget: 10,
    fraction: 0.9,
    periodStart: 0,
    periodEnd: 1,
  } as const;
  const crossings = (["warning", "none"] as const).map((level) => ({ ...crossing, level, source: "ledger" as const }));
  const command = {
    kind: "budget.record",
    by: "system",
    crossings: Array.from({ length: 1010 }, () => crossings).flat(),
  } as const;
  let { state } = scenario;
  for (let i = 0; i < 10; i++) state = apply(state, { ...command, id: `b${i}` }, scenario.at).state ?? state;
  expect(state.nextEvent).toBeGreaterThan(10_100);
  expect([...state.events.values()].map(({ seq }) => seq)).toEqual(
    Array.from({ length: 10_000 }, (_, i) => state.nextEvent - 10_000 + i),
  );
});

test("records of work that ended go by age, whatever was before, until none of them is older", () => {
  const patient = { heartbeatTimeoutMs: 1e15, checkpointTimeoutMs: 1e15, listeningSince: 0 };
  fc.assert(
    fc.property(
      anyHistory(40),
      fc.constantFrom(0, 60_000, 3_600_000),
      fc.constantFrom(0, 60_000, 86_400_000),
      (history, keepEndedMs, later) => {
        let state = after(history);
        const now = state.at + later;
        for (let round = 0; ; round++) {
          const due = housekeeping(state, now, { ...patient, keepEndedMs }).filter(({ kind }) => kind === "allocation.prune");
          if (due.length === 0) break;
          for (const draft of due)
            state = apply(state, { ...draft, id: `prune${round}`, by: "system" } as Command, now).state ?? state;
        }
        const old = [...state.allocations.values()].filter((one) => isTerminal(one.state) && one.since < now - keepEndedMs);
        expect(old).toEqual([]);
      },
    ),
  );
});

test("a tenant that is deleted leaves nothing of its own: no usage, no mark, no budget of the accounting system, no record of its work", () => {
  let deleted = 0;
  fc.assert(
    fc.property(anyHistory(60), (history) => {
      const before = after(history);
      for (const tenant of before.tenants.keys()) {
        const gone = apply(before, { kind: "tenant.delete", id: "gone", by: "root", tenant }, before.at);
        if (!gone.ok) continue;
        deleted += 1;
        const { tenants, tenantUsage, userUsage, budgetMarks, external, allocations } = gone.state;
        const keys = [tenants, tenantUsage, userUsage, budgetMarks, external].flatMap((part) => [...part.keys()]);
        expect(keys.filter((key) => key.split("\0").includes(tenant))).toEqual([]);
        expect([...allocations.values()].filter((one) => one.tenant === tenant)).toEqual([]);
      }
    }),
  );
  expect(deleted).toBeGreaterThan(0);
});
