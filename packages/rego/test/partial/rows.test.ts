import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { generatedRows, rowJson, rowPolicies } from "../../src/arbitraries/index.ts";
import { type Condition, type ConditionValue, check, compare, compile, readJson, type Value } from "../../src/index.ts";
import { rounds } from "../rounds.ts";

/** What a condition says of a row, read as its types describe it. */
function meets(condition: Condition, row: Readonly<Record<string, Value>>): boolean {
  const column = (field: string): Value => {
    const value = row[field.replace("input.row.", "")];
    if (value === undefined) throw new Error(`no column ${field}`);
    return value;
  };
  const given = (value: ConditionValue | { readonly field: string }): Value => {
    if (typeof value !== "object" || value === null) return value;
    return "field" in value ? column(value.field) : readJson(value.number);
  };
  if (condition.type === "compound") {
    if (condition.operator === "and") return condition.value.every((part) => meets(part, row));
    if (condition.operator === "or") return condition.value.some((part) => meets(part, row));
    return !condition.value.every((part) => meets(part, row));
  }
  const own = column(condition.field);
  switch (condition.operator) {
    case "exists":
      return true;
    case "in":
      return condition.value.some((value) => compare(own, given(value)) === 0);
    case "startswith":
      return typeof own === "string" && own.startsWith(condition.value);
    case "endswith":
      return typeof own === "string" && own.endsWith(condition.value);
    case "contains":
      return typeof own === "string" && own.includes(condition.value);
  }
  const order = compare(own, given(condition.value));
  return { eq: order === 0, ne: order !== 0, lt: order < 0, le: order <= 0, gt: order > 0, ge: order >= 0 }[condition.operator];
}

describe("policies as conditions of rows", () => {
  test("a row meets the condition exactly where the policy allows it", () => {
    const told = { condition: 0, refused: 0, error: 0, some: 0 };
    fc.assert(
      fc.property(rowPolicies(), fc.array(generatedRows(), { minLength: 8, maxLength: 8 }), ({ source, input, data }, rows) => {
        const sources = [{ name: "p.rego", source }];
        fc.pre(check(sources).length === 0);
        const policy = compile(sources);
        const partial = policy.partial("data.p.allow", ["input.row"], input, { data });
        told[partial.kind]++;
        if (partial.kind !== "condition") return;
        const allowed = rows.map((row) => {
          const result = policy.evaluate("data.p.allow", { ...(input as object), row: readJson(rowJson(row)) }, { data });
          return result.kind === "defined" && result.value !== false;
        });
        if (allowed.includes(true) && allowed.includes(false)) told.some++;
        expect(rows.map((row) => meets(partial.condition, readJson(rowJson(row)) as Record<string, Value>))).toEqual(allowed);
      }),
      { numRuns: rounds(200) },
    );
    expect(told.condition).toBeGreaterThan(2 * (told.refused + told.error));
    expect(told.some).toBeGreaterThan(told.condition / 6);
  });
});
