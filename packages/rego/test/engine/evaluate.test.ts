import { compile } from "@seneschal/rego";
import { describe, expect, test } from "vitest";

function value(module: string, input?: unknown, data?: unknown): unknown {
  const policy = compile([{ name: "t.rego", source: `package t\n\n${module}\n` }]);
  const result = policy.evaluate("data.t.p", input, data === undefined ? {} : { data });
  return result.kind === "defined" ? result.value : result.kind === "undefined" ? undefined : result.code;
}

describe("evaluate", () => {
  test("a rule without a holding body is undefined, not false", () => {
    expect(value("p if input.x == 1", { x: 2 })).toBeUndefined();
  });

  test("an expression over something undefined is undefined, also below a negation's call", () => {
    expect(value("p if not count(input.foo) > 0", {})).toBeUndefined();
    expect(value("p if not input.foo", {})).toBe(true);
  });

  test("two outputs of a complete rule are a conflict", () => {
    expect(value("p := x if x := [1, 2][_]")).toBe("eval_conflict_error");
  });

  test("a variable is unified in both directions, nested", () => {
    expect(value('p := [x, y] if [x, {"a": y}] = [1, {"a": x}]')).toEqual([1, 1]);
  });

  test("with replaces input, data and functions for one literal only", () => {
    const module = "q := [input.a, data.b, count([])]\np := [x, q] if x := q with input.a as 1 with data.b as 2 with count as 3";
    expect(value(module, { a: "a" }, { b: "b" })).toEqual([
      [1, 2, 3],
      ["a", "b", 0],
    ]);
  });

  test("inherited properties are no members", () => {
    expect(value("p := input.constructor", {})).toBeUndefined();
    expect(value('p if "__proto__" in object.keys(input)', {})).toBeUndefined();
  });
});
