import { DEFAULT_RECOGNISERS } from "@seneschal/governance";
import fc from "fast-check";
import { expect, test } from "vitest";
import { barePattern } from "./bare-pattern.ts";

/** Found by patterns whose validators chance does not satisfy. */
const examples = ["2001:db8::17", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"];

for (const entity of ["VENDOR_TOKEN", "API_KEY", "MAC_ADDRESS", "CRYPTO", "IT_FISCAL_CODE", "IP_ADDRESS"]) {
  const { patterns, needs, validate } =
    DEFAULT_RECOGNISERS.find((each) => each.entity === entity && typeof each.needs === "function") ?? {};
  test.each(patterns ?? [])(`whatever $name of ${entity} finds, the test that comes before it lets through`, ({ regex }) => {
    const texts = fc.stringMatching(barePattern(regex as RegExp));
    let matched = 0;
    fc.assert(
      fc.property(texts, (text) => {
        regex.lastIndex = 0;
        const match = regex.exec(text);
        if (match === null || validate?.(match[0]) === false) return;
        matched += 1;
        expect((needs as (text: string) => boolean)(text)).toBe(true);
      }),
      { examples: examples.map((example) => [example]) },
    );
    expect(matched).toBeGreaterThan(0);
  });
}

test("the tests come with their recognisers", () => {
  const tested = DEFAULT_RECOGNISERS.filter(({ needs }) => typeof needs === "function").map(({ entity }) => entity);
  expect(tested).toEqual(
    expect.arrayContaining(["VENDOR_TOKEN", "API_KEY", "MAC_ADDRESS", "CRYPTO", "IT_FISCAL_CODE", "IP_ADDRESS"]),
  );
});
