import fc from "fast-check";
import { expect, test } from "vitest";
import { apply } from "../../src/apply/apply.ts";
import { anyHistory } from "../../src/arbitraries/index.ts";
import type { Command } from "../../src/command.ts";
import { type Housekeeping, housekeeping } from "../../src/plan/housekeeping.ts";
import { emptyState, type QuotaState } from "../../src/state/state.ts";

const span = fc.constantFrom(0, 60_000, 3_600_000, 86_400_000);
const settings: fc.Arbitrary<Housekeeping> = fc.record(
  {
    heartbeatTimeoutMs: span,
    checkpointTimeoutMs: span,
    walltimeGraceMs: span,
    keepEndedMs: span,
    listeningSince: fc.integer({ min: 0, max: 2_000_000 }),
  },
  { requiredKeys: ["heartbeatTimeoutMs", "checkpointTimeoutMs", "keepEndedMs", "listeningSince"] },
);

test("what time alone brings about is done once: after it nothing is left to do at that time, and before its time nothing is done", () => {
  fc.assert(
    fc.property(anyHistory(40), settings, span, (history, given, later) => {
      let state: QuotaState = emptyState();
      for (const { command, at } of history) state = apply(state, command, at).state ?? state;
      const now = state.at + later;
      const patient = { heartbeatTimeoutMs: 1e15, checkpointTimeoutMs: 1e15, keepEndedMs: 1e15, listeningSince: now };
      expect(housekeeping(state, now, patient)).toEqual([]);
      const commands = housekeeping(state, now, given);
      for (const command of commands) {
        if (command.kind === "node.operate") expect(state.nodes.get(command.node)?.agent).not.toBeNull();
        if (command.kind === "allocation.move") expect(state.live.has(command.allocation)).toBe(true);
        if (command.kind === "allocation.prune") for (const id of command.allocations) expect(state.live.has(id)).toBe(false);
      }
      for (const [i, draft] of commands.entries())
        state = apply(state, { ...draft, id: `tidy${i}`, by: "system" } as Command, now).state ?? state;
      const left = housekeeping(state, now, given).filter(({ kind }) => kind !== "allocation.prune");
      expect(left).toEqual([]);
    }),
  );
});
