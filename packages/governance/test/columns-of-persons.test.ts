import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { classifyColumn, DEFAULT_RECOGNISERS, DEFAULT_TIER_POLICY, redactColumns } from "../src/index.ts";

const options = { policy: DEFAULT_TIER_POLICY, recognisers: DEFAULT_RECOGNISERS, rules: [{ operator: "replace" as const }] };
const HEADS = ["name", "Name", "patient", "Employee", "contact", "customer", "citizen"];
const GIVEN = ["Fiona", "Robert", "Maria", "Grzegorz", "Caoimhe", "Zorblax", "Wei", "Anne-Sophie", "D'Arcy"];
const FAMILY = ["McAllister", "O'Brien-Smythe", "Ray", "Quuxington", "Żółć", "Ng", "Łukasiewicz", "d'Ancona"];
/** Given and family names in the orders and with the particles in which people write them. */
const written = fc
  .tuple(fc.constantFrom(...GIVEN), fc.constantFrom(...FAMILY), fc.integer({ min: 0, max: 4 }))
  .map(
    ([given, family, how]) =>
      [
        `${given} ${family}`,
        `${family}, ${given}`,
        `${given.slice(0, 1)}. ${family}`,
        `de la ${family.replace(/^d'/, "")} ${given}`,
        `${given} van ${family}`,
      ][how] as string,
  );
/** A column of persons: names that nobody knows among some that everybody does. */
const persons = fc
  .uniqueArray(written, { minLength: 3, maxLength: 12 })
  .map((some) => [
    ...some,
    ...some.map((_, i) => `${["Fiona", "Robert", "Maria", "Grzegorz"][i % 4]} Testfall${"abcdefghijkl"[i]}`),
  ]);

describe("a column of persons", () => {
  it("under a head of persons is hidden in every cell, however names are written", () => {
    fc.assert(
      fc.property(fc.constantFrom(...HEADS), persons, (head, cells) => {
        expect(classifyColumn({ name: head, values: cells })?.entity).toBe("PERSON");
        const [column] = redactColumns([{ path: [head], cells }], options);
        for (const cell of column?.cells ?? []) expect(cell).toBe("<PERSON>");
      }),
      { numRuns: 60 },
    );
  });

  it("is known by two rows whose given names are known", () => {
    expect(classifyColumn({ name: "Name", values: ["Robert Ray", "Fiona McAllister"] })?.entity).toBe("PERSON");
    expect(classifyColumn({ name: "Name", values: ["Main Street", "High Road"] })).toBeUndefined();
  });

  it.each([
    ["customer", ["Acme Corp", "Globex Inc", "Initech Ltd", "Umbrella Holdings", "Hooli Group"]],
    ["contact", ["Sales Team", "Support Desk", "Front Office", "Night Shift"]],
    ["contact", ["Email", "Phone", "Post", "None"]],
    ["member", ["Gold", "Silver", "Bronze", "Basic"]],
    ["user", ["Power User", "Power User", "Guest User", "Guest User"]],
    ["name", ["chart_of_accounts", "orders", "invoices", "shipments"]],
    ["name", ["K-5 Curriculum", "R2 Unit", "X11 Server", "T-1000"]],
    ["city", ["San Francisco", "Buenos Aires", "Santa Maria", "Saint Robert"]],
    ["product", ["Robert Chair", "Fiona Lamp", "Maria Sofa", "Grzegorz Desk"]],
  ])("is none of %s: %j", (name, values) => {
    expect(classifyColumn({ name, values })?.entity).not.toBe("PERSON");
  });
});
