import fc from "fast-check";
import { expect, test } from "vitest";
import { classifyColumnValues, columnName, DEFAULT_RECOGNISERS, DEFAULT_TIER_POLICY, maxTier } from "../src/index.ts";

const VALUES = ["536-22-8726", "ada.canary@example.org", "4111111111111111", "DE89370400440532013000", "10.20.30.40"];
const named = (name: string | readonly string[]) => columnName(name, DEFAULT_RECOGNISERS);
const classified = (name: string, values: readonly string[]) =>
  classifyColumnValues({ name, values }, DEFAULT_TIER_POLICY, DEFAULT_RECOGNISERS);

test("names as people give them are kept", () => {
  const names = `id,ssn,Full_Name,Last Name,first name,customer_email_address,address_line_1,order_id_2024,q1_2024,user.mail,sha256,
ipv4_address,Date of Birth,Passport No.,x"y,Weight (kg),created_at,Gross Salary EUR,utm_source_medium,_id,$price,größe,名前,column 2`;
  for (const name of names.split(/,\n?/)) expect(named(name)).toBe(name);
});

test("a value in a name is told as what it is, wherever it stands, and counts as a value of the column does", () => {
  for (const value of VALUES)
    for (const path of [[value], [`of ${value}`], [`${value} total`], ["user", value, "mail"], [value, "x"], ["x", value]]) {
      const name = path.join(".");
      expect(named(path)).not.toContain(value);
      expect(named(path)).toMatch(/<[A-Z_]+>/);
      const report = classifyColumnValues({ name, path }, DEFAULT_TIER_POLICY, DEFAULT_RECOGNISERS);
      const { tier } = report;
      const { tier: asValue } = classified("x", [value]);
      expect(maxTier(DEFAULT_TIER_POLICY, tier, asValue)).toBe(tier);
      expect(JSON.stringify(report)).not.toContain(value);
    }
});

test("whatever a name is, what is kept of it every store takes", () => {
  const any = fc.oneof(
    fc.string({ unit: "binary", maxLength: 40 }),
    fc.string({ unit: fc.nat(0xffff).map((c) => String.fromCharCode(c)) }),
  );
  fc.assert(
    fc.property(any, fc.nat(3), (part, n) => {
      const kept = named(part.repeat(n * 400));
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
      expect(kept).not.toMatch(/[\u0000-\u001f\u007f\p{Surrogate}]/u);
      expect(kept.length).toBeGreaterThan(0);
      expect(kept.length).toBeLessThanOrEqual(1024);
    }),
    { numRuns: 60 },
  );
});
