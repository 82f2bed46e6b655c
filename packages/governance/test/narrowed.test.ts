import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createClassifier, DEFAULT_RECOGNISERS, DEFAULT_TIER_POLICY, narrowed, recognise, redact } from "../src/index.ts";

const VALUES: readonly (readonly [entity: string, value: string])[] = [
  ["EMAIL_ADDRESS", "ada@example.org"],
  ["EMAIL_ADDRESS", "help@example.com"],
  ["CREDIT_CARD", "4111 1111 1111 1111"],
  ["US_SSN", "536-22-8726"],
  ["IP_ADDRESS", "192.168.17.4"],
  ["IBAN_CODE", "DE89 3704 0044 0532 0130 00"],
];
const some = fc.uniqueArray(fc.constantFrom(...VALUES), { minLength: 1, selector: ([, value]) => value });
const written = (values: typeof VALUES) => values.map(([, value]) => `note ${value}`).join("; also ");
const forms = fc.constantFrom<(values: typeof VALUES) => string>(
  written,
  (values) => JSON.stringify({ notes: values.map(([, value]) => value) }),
  (values) => `id,note\n${values.map(([, value], i) => `${i},${value}`).join("\n")}\n`,
  (values) => `<a>${values.map(([, value]) => `<b>${value}</b>`).join("")}</a>`,
);
const classified = (text: string, narrowing: Parameters<typeof narrowed>[1]) =>
  createClassifier({ recognisers: narrowed(DEFAULT_RECOGNISERS, narrowing) }).classify(text);
const redacted = (text: string, narrowing: Parameters<typeof narrowed>[1]) =>
  redact(text, {
    policy: DEFAULT_TIER_POLICY,
    recognisers: narrowed(DEFAULT_RECOGNISERS, narrowing),
    rules: [{ operator: "replace" }],
  }).text;

describe("who asks for less is told less", () => {
  test("entities: these alone are told and hidden, whatever the form", () =>
    fc.assert(
      fc.property(some, forms, fc.constantFrom(...VALUES), (values, form, [entity]) => {
        const text = form(values);
        const { findings } = classified(text, { entities: [entity] });
        expect(new Set(findings.map((found) => found.entity))).toEqual(
          new Set(values.filter(([each]) => each === entity).map(([each]) => each)),
        );
        const hidden = redacted(text, { entities: [entity] });
        for (const [each, value] of values) expect([text, hidden.includes(value)]).toEqual([text, each !== entity]);
      }),
      { numRuns: 60 },
    ));

  test("an allow list: these values are told and hidden nowhere, all others are", () =>
    fc.assert(
      fc.property(some, forms, fc.constantFrom(...VALUES), (values, form, [, allowed]) => {
        const text = form(values);
        const hidden = redacted(text, { allowList: [allowed] });
        for (const [, value] of values) expect([text, hidden.includes(value)]).toEqual([text, value === allowed]);
        if (values.every(([, value]) => value === allowed))
          expect(classified(text, { allowList: [allowed] }).findings).toEqual([]);
      }),
      { numRuns: 60 },
    ));

  test("a threshold: no finding has a lower score, and each that has a higher one is told as before", () =>
    fc.assert(
      fc.property(some, fc.double({ min: 0, max: 1, noNaN: true }), (values, scoreThreshold) => {
        const text = written(values);
        expect(recognise(text, narrowed(DEFAULT_RECOGNISERS, { scoreThreshold }))).toEqual(
          recognise(text, DEFAULT_RECOGNISERS).filter(({ score }) => score >= scoreThreshold),
        );
      }),
      { numRuns: 60 },
    ));

  test("an allow list does not part a value: what is longer is hidden whole", () =>
    expect(redacted("card 4111 1111 1111 1111", { allowList: ["4111", "1111"] })).toBe("card <CREDIT_CARD>"));

  test("what must always be told is, and a date of birth is found by its name", () => {
    expect(redacted("ada@example.org", { allowList: ["ada@example.org"], always: ["EMAIL_ADDRESS"] })).toBe("<EMAIL_ADDRESS>");
    expect(redacted("card 4111 1111 1111 1111", { entities: ["US_SSN"], always: ["CREDIT_CARD"] })).toBe("card <CREDIT_CARD>");
    expect(
      redacted("born 4 March 1985. The invoice of the house came later than that, on 5 May 2020", {
        entities: ["DATE_OF_BIRTH"],
      }),
    ).toBe("born <DATE_OF_BIRTH>. The invoice of the house came later than that, on 5 May 2020");
  });

  test("what nobody could read counts whatever is asked for, and the answer says that less was asked for", () => {
    const classify = classified('psql -f x.sql # "ada@example.org"', { entities: ["US_SSN"] });
    expect([classify.tier, classify.findings]).toEqual(["RESTRICTED", []]);
    expect(classify.reasoning).toContain("less was asked for");
  });

  test("a score that is none is refused by its name", () => {
    for (const scoreThreshold of [-0.1, 1.1, Number.NaN])
      expect(() => narrowed(DEFAULT_RECOGNISERS, { scoreThreshold })).toThrow(
        expect.objectContaining({ code: "validation_failed", details: { field: "scoreThreshold" } }),
      );
  });
});
