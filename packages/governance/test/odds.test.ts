import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  createClassifier,
  DEFAULT_RECOGNISERS,
  DEFAULT_TIER_POLICY,
  policyOf,
  recognise,
  redact,
  tierRank,
} from "../src/index.ts";

/** Nine digits that are right as a Canadian and as an Australian number: nothing in the text tells which. */
const EITHER = "123456782";
const digits = fc.stringMatching(/^[A-Z]{0,2}\d{7,13}$/);

describe("a value that can be read in several ways", () => {
  test("carries all readings with their odds", () => {
    const [found] = recognise(EITHER, DEFAULT_RECOGNISERS);
    expect(found).toMatchObject({ entity: "CA_SIN", alternatives: [{ entity: "AU_TFN", country: "au" }] });
    const { reasoning } = createClassifier().classify(EITHER);
    expect(reasoning).toMatch(/CA_SIN \(\d+ %\) or AU_TFN \(\d+ %\) at 0-9/);
    expect(reasoning).not.toContain(EITHER);
  });

  test.each([
    ["a word beside it", `tax file number ${EITHER}`, {}, "AU_TFN"],
    ["the country of the data", EITHER, { country: "ca" }, "CA_SIN"],
    ["the name of its column", EITHER, { hints: ["tfn"] }, "AU_TFN"],
  ])("is one thing where %s tells", (_, text, options, entity) => {
    const [found] = recognise(text, DEFAULT_RECOGNISERS, options);
    expect(found?.entity).toBe(entity);
    expect(found?.alternatives).toBeUndefined();
  });

  test("the odds are probabilities, the likeliest first and together at most one", () => {
    fc.assert(
      fc.property(digits, fc.constantFrom("", "passport ", "id: ", "tax number "), (value, word) => {
        for (const { entity, probability, alternatives } of recognise(word + value, DEFAULT_RECOGNISERS)) {
          expect(probability === undefined).toBe(alternatives === undefined);
          const odds = [probability ?? 1, ...(alternatives ?? []).map((other) => other.probability)];
          expect(odds).toEqual([...odds].sort((a, b) => b - a));
          expect(odds.reduce((a, b) => a + b, 0)).toBeLessThanOrEqual(1.02);
          expect(new Set([entity, ...(alternatives ?? []).map((other) => other.entity)]).size).toBe(odds.length);
        }
      }),
    );
  });

  test("is never of a lower tier than a reading that is one in four likely", () => {
    const classifier = createClassifier();
    fc.assert(
      fc.property(digits, (value) => {
        const { findings, tags } = classifier.classify(value);
        for (const finding of findings)
          for (const { entity, probability } of finding.alternatives ?? []) {
            if (probability < 0.25) continue;
            const policy = policyOf(DEFAULT_TIER_POLICY, entity);
            expect(tierRank(DEFAULT_TIER_POLICY, finding.tier)).toBeGreaterThanOrEqual(
              tierRank(DEFAULT_TIER_POLICY, policy.tier),
            );
            for (const tag of policy.tags) expect(tags).toContain(tag);
          }
      }),
    );
  });

  test("is hidden by a rule for any of its readings, and kept only by one for all", () => {
    const redacted = (entity: string, operator: "drop" | "keep") =>
      redact(EITHER, { policy: DEFAULT_TIER_POLICY, recognisers: DEFAULT_RECOGNISERS, rules: [{ entity, operator }] }).text;
    expect(redacted("AU_TFN", "drop")).toBe("");
    expect(redacted("CA_SIN", "drop")).toBe("");
    expect(redacted("CA_SIN", "keep")).toBe("<CA_SIN>");
  });
});
