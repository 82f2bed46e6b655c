import { type Absences, beginTurns, giveTurnBack, stepAbsences, takeTurn } from "@seneschal/core/storage";
import fc from "fast-check";
import { expect, test } from "vitest";
import { clusterStates } from "../../src/arbitraries/index.ts";

test("two turns that came to something are never nearer to each other than they may, and one is taken as soon as it is due", () => {
  const step = fc.record({ after: fc.nat(20), fails: fc.boolean() });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 30 }), fc.array(step, { maxLength: 30 }), (everyMs, steps) => {
      let now = 0;
      let turns = beginTurns(now);
      let done = now;
      for (const { after, fails } of steps) {
        now += after;
        const taken = takeTurn(turns, now, everyMs);
        expect(taken !== undefined).toBe(now - done >= everyMs);
        if (taken === undefined) continue;
        turns = fails ? giveTurnBack(taken) : taken;
        if (!fails) done = now;
      }
    }),
  );
});

test("a node is told of once for each time that it stays away, when it has been for as long, and not once it was taken out", () => {
  const look = fc.record({ after: fc.nat(8), away: fc.subarray(["n1", "n2", "n3", "n4"]) });
  fc.assert(
    fc.property(clusterStates, fc.array(look, { maxLength: 20 }), fc.integer({ min: 1, max: 12 }), (state, looks, afterMs) => {
      let now = 0;
      let absences: Absences = new Map();
      const since = new Map<string, number>();
      const told = new Set<string>();
      for (const { after, away } of looks) {
        now += after;
        const seen = stepAbsences(absences, state, (id) => !away.includes(id), now, afterMs);
        absences = seen.absences;
        for (const { id, state: is } of Object.values(state.nodes)) {
          if (is === "Evicted" || !away.includes(id)) {
            since.delete(id);
            told.delete(id);
            expect(seen.told).not.toContain(id);
            continue;
          }
          if (!since.has(id)) since.set(id, now);
          const due = now - (since.get(id) ?? now) >= afterMs && !told.has(id);
          expect(seen.told.includes(id)).toBe(due);
          if (due) told.add(id);
        }
      }
    }),
  );
});
