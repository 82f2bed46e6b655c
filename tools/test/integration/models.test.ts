/** The formal models of `models/` by themselves: their laws hold, and those of before a finding break. */
import { describe, expect, test } from "vitest";
import { type Finding, findings, freshRuns, lawsOf, type ModelName, simulate } from "../../models.ts";

describe("every law of a model holds in every state of every run", () => {
  test.each<ModelName>(["ceremony", "handover", "relay", "session", "seats"])("of %s", (name) => {
    expect(lawsOf(name).length).toBeGreaterThan(5);
    const { holds, report } = simulate(name, { samples: freshRuns(300) });
    expect(holds, report).toBe(true);
  });
});

test.each(Object.keys(findings) as Finding[])("the simulator finds %s in the rules of before", (name) => {
  const { model, law } = findings[name];
  expect(lawsOf(model)).toContain(law);
  expect(simulate(model, { samples: 2000, laws: [law] }).broken).toEqual([law]);
});
