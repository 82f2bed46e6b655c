import { openLogger } from "@seneschal/adapters/logging";
import { openMetrics } from "@seneschal/adapters/metrics";
import { nextTurn } from "@seneschal/adapters/system";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openBackground } from "../../src/platform/background.ts";
import { withBackground } from "../../src/platform/health.ts";
import type { Repeat } from "../../src/platform/repeat.ts";

const log = openLogger({ level: "silent" });
const fail = () => Promise.reject(new Error("broken"));

describe("background work", () => {
  test("of any steps in any round exactly those that fail are failing, and all of them had their turn", async () => {
    const rounds = fc.array(fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(rounds, async (outcomes) => {
        const metrics = openMetrics({ prefix: "t", version: "1" });
        const background = openBackground(log, metrics);
        const turns = [0, 0, 0, 0];
        for (const round of outcomes)
          for (const [i, good] of round.entries())
            await background.step(`s${i}`, async () => {
              turns[i] = (turns[i] ?? 0) + 1;
              if (!good) throw new Error("broken");
            });
        expect(turns).toEqual(Array(4).fill(outcomes.length));
        const last = outcomes.at(-1) ?? [];
        expect(background.failing()).toEqual([0, 1, 2, 3].filter((i) => !last[i]).map((i) => `s${i}`));
        const text = await metrics.text();
        for (const i of [0, 1, 2, 3]) {
          const failures = outcomes.filter((round) => !round[i]).length;
          if (failures === 0) expect(text).not.toContain(`{step="s${i}"}`);
          else expect(text).toContain(`t_background_failures_total{step="s${i}"} ${failures}`);
          if (failures > 0) expect(text).toContain(`t_background_failing{step="s${i}"} ${last[i] ? 0 : 1}`);
        }
      }),
    );
  });
  test("one item's failure keeps no other from its turn, and the step fails", async () => {
    const background = openBackground(log, openMetrics({ prefix: "t", version: "1" }));
    const seen: number[] = [];
    await background.each("items", Promise.resolve([1, 2, 3]), async (item) => {
      seen.push(item);
      if (item < 3) throw new Error("broken");
    });
    expect([seen, background.failing()]).toEqual([[1, 2, 3], ["items"]]);
    await background.each("items", fail() as Promise<never>, async () => undefined);
    expect(background.failing()).toEqual(["items"]);
    background.skip("items");
    expect(background.failing()).toEqual([]);
  });
  test("what is begun again and again, or is due, has its next turn whether the last failed or not, and is seen to fail until then", async () => {
    const turns = fc.array(fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(turns, async (outcomes) => {
        const background = openBackground(log, openMetrics({ prefix: "t", version: "1" }));
        const loops: (() => Promise<void>)[] = [];
        const byHand: Repeat = (_ms, work) => {
          loops.push(work);
          return { stop: async () => undefined };
        };
        let round: readonly boolean[] = [];
        for (const i of [0, 1, 2]) background.every(`s${i}`, 1, async () => (round[i] === true ? undefined : fail()), byHand);
        for (round of outcomes) {
          await Promise.all(loops.map((turn) => turn()));
          expect(background.failing()).toEqual([0, 1, 2].filter((i) => round[i] !== true).map((i) => `s${i}`));
        }
      }),
    );
  });
  test("a step that is due is done once however often that is said, again by itself after it failed, and never after its end", async () => {
    const background = openBackground(log, openMetrics({ prefix: "t", version: "1" }));
    let runs = 0;
    let succeeded = (): void => undefined;
    const whole = new Promise<void>((resolve) => {
      succeeded = resolve;
    });
    const step = background.soon("seal", 1, async () => {
      runs += 1;
      if (runs < 3) throw new Error("broken");
      succeeded();
    });
    step.due(0);
    step.due(0);
    await whole;
    await step.stop();
    expect([runs, background.failing()]).toEqual([3, []]);
    step.due(0);
    await nextTurn();
    expect(runs).toBe(3);
  });
  test("a step is done at the earliest of the times that it is due: neither a later one nor the retry after a failure holds it back", async () => {
    const hour = 3_600_000;
    const background = openBackground(log, openMetrics({ prefix: "t", version: "1" }));
    const turns: (() => void)[] = [];
    const [first, second] = [0, 1].map(() => new Promise<void>((resolve) => turns.push(resolve)));
    let runs = 0;
    const step = background.soon("seal", hour, async () => {
      turns[runs++]?.();
      if (runs === 1) throw new Error("broken");
    });
    step.due(hour);
    step.due(0);
    step.due(hour);
    await first;
    // It is due again in an hour.
    await nextTurn();
    step.due(0);
    await second;
    await step.stop();
    expect([runs, background.failing()]).toEqual([2, []]);
  });
  test("a failing step degrades health by its name, and does not make it unready", () => {
    const health = { status: "healthy", ready: true, components: { database: { status: "healthy" } } } as const;
    expect(withBackground(health, [])).toBe(health);
    expect(withBackground(health, ["audit seal"])).toMatchObject({
      status: "degraded",
      ready: true,
      components: { database: { status: "healthy" }, "background: audit seal": { status: "unhealthy" } },
    });
  });
});
