import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { generatedRows, rowJson, rowPolicies } from "../../src/arbitraries/index.ts";
import {
  type Condition,
  type ConditionField,
  type ConditionFunction,
  type ConditionValue,
  check,
  compare,
  compile,
  readJson,
  type Value,
} from "../../src/index.ts";
import { rounds } from "../rounds.ts";

/** What a condition says of a row, read as its types describe it. */
function meets(condition: Condition, row: Readonly<Record<string, Value>>): boolean {
  const field = (of: ConditionField): Value | undefined => {
    if (typeof of !== "string") return computed(of.call, of.of.map(given));
    const value = row[of.replace("input.row.", "")];
    if (value === undefined) throw new Error(`no column ${of}`);
    return value;
  };
  const given = (value: ConditionValue | { readonly field: ConditionField }): Value | undefined => {
    if (typeof value !== "object" || value === null) return value;
    return "field" in value ? field(value.field) : readJson(value.number);
  };
  if (condition.type === "compound") {
    if (condition.operator === "and") return condition.value.every((part) => meets(part, row));
    if (condition.operator === "or") return condition.value.some((part) => meets(part, row));
    return !condition.value.every((part) => meets(part, row));
  }
  const own = field(condition.field);
  if (condition.operator === "exists") return own !== undefined;
  if (own === undefined) return false;
  switch (condition.operator) {
    case "in":
      return condition.value.some((value) => compare(own, given(value) as Value) === 0);
    case "startswith":
    case "endswith":
    case "contains": {
      const part = given(condition.value);
      if (typeof own !== "string" || typeof part !== "string") return false;
      return { startswith: own.startsWith(part), endswith: own.endsWith(part), contains: own.includes(part) }[condition.operator];
    }
  }
  const other = given(condition.value);
  if (other === undefined) return false;
  const order = compare(own, other);
  return { eq: order === 0, ne: order !== 0, lt: order < 0, le: order <= 0, gt: order > 0, ge: order >= 0 }[condition.operator];
}

const engine = compile([{ name: "calls.rego", source: "package calls\n" }]);

/** What Rego's function of that name gives. */
function computed(call: ConditionFunction, args: readonly (Value | undefined)[]): Value | undefined {
  if (args.includes(undefined)) return undefined;
  const of = args.map((_, i) => `input[${i}]`);
  const query = call === "concat" ? `x := concat("", [${of.join(", ")}])` : `x := ${call}(${of.join(", ")})`;
  const told = engine.query(query, args, { exact: true });
  if (told.kind === "error") throw new Error(told.code);
  return told.kind === "solutions" ? (told.bindings[0]?.["x"] as Value | undefined) : undefined;
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
