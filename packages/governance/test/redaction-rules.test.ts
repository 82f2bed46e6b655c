import { describe, expect, test } from "vitest";
import { DEFAULT_RECOGNISERS, DEFAULT_TIER_POLICY, redact, redactAs } from "../src/index.ts";

const known = { policy: DEFAULT_TIER_POLICY, recognisers: DEFAULT_RECOGNISERS };
const refused = (rule: unknown): unknown => {
  try {
    return redact("vat DE136695976", { ...known, rules: [rule as never] });
  } catch (error) {
    return (error as { details?: { field?: string } }).details?.field ?? error;
  }
};

describe("a rule that would leave a value where it stands is refused, and named", () => {
  test.each([
    [{ tier: "internal", operator: "drop" }, "rules.0.tier"],
    [{ entity: "VAT", operator: "drop" }, "rules.0.entity"],
    [{ operator: "scramble" }, "rules.0.operator"],
    [{}, "rules.0.operator"],
    [{ operator: "mask", keep_last: 4 }, "rules.0.keep_last"],
  ])("%j", (rule, field) => expect(refused(rule)).toBe(field));

  test("as an argument that is missing is", () => {
    for (const options of [undefined, {}, { rules: [] }, { ...known, rules: {} }])
      expect(() => redact("x", options as never)).toThrow(/^options(\.\w+)?: expected /);
    expect(() => redactAs("json", '["x"]', { rules: [] } as never)).toThrow(/^options\.policy: expected an object/);
  });

  test("and one that says what it does is done", () => {
    expect(refused({ tier: "INTERNAL", operator: "drop" })).toMatchObject({ text: "vat " });
  });
});
