import { type DecisionEvent, isDropped, maskDecision } from "@seneschal/core/audit";
import type { Json } from "@seneschal/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const event = (input: Json, result: Json = { allowed: true }): DecisionEvent => ({
  decision_id: "d",
  labels: {},
  bundles: {},
  path: "governance/decision",
  input,
  result,
  requested_by: "k",
  timestamp: "2026-03-01T12:00:00.000Z",
  metrics: {},
});
const masked = (input: Json, ...rules: readonly Json[]) => maskDecision(event(input), { kind: "defined", value: [...rules] });

describe("the mask of a decision", () => {
  it("takes out what is there, puts what is given, and says both", () => {
    expect(masked({ user: { id: "ada", role: "x" } }, "/input/user/id", "/input/none", "/result/allowed")).toMatchObject({
      input: { user: { role: "x" } },
      result: {},
      erased: ["/input/user/id", "/result/allowed"],
    });
    const put = masked(
      { user: { id: "ada" } },
      { op: "upsert", path: "/input/user/id", value: "***" },
      { op: "upsert", path: "/input/new/deep", value: 1 },
      { op: "remove", path: "/result" },
    );
    expect(put).toMatchObject({
      input: { user: { id: "***" }, new: { deep: 1 } },
      erased: ["/result"],
      masked: ["/input/new/deep", "/input/user/id"],
    });
    expect("result" in put).toBe(false);
    expect(masked({ "a/b": 1, "m~n": 2 }, "/input/a~1b", "/input/m~0n").input).toEqual({});
  });

  it("of an element of a list leaves those behind it where other rules name them", () => {
    expect(masked({ list: ["a", "b", "c"] }, "/input/list/0", "/input/list/2", "/input/list/3")).toMatchObject({
      input: { list: [null, "b", null] },
      erased: ["/input/list/0", "/input/list/2"],
    });
    const outside = masked({ list: ["a"] }, { op: "upsert", path: "/input/list/1", value: 1 });
    expect([outside.input, outside.masked]).toEqual([{ list: ["a"] }, undefined]);
  });

  it("wins over what is put under the same path, in any order of the rules", () => {
    const rules: readonly Json[] = [{ op: "upsert", path: "/input/user", value: { id: "ada" } }, "/input/user/id", "/input/card"];
    fc.assert(
      fc.property(fc.shuffledSubarray([...rules], { minLength: 3 }), (given) => {
        expect(masked({ user: { id: "eve" }, card: "4111" }, ...given).input).toEqual({ user: {} });
      }),
    );
  });

  it("changes neither the event that it is given nor an event that nothing masks", () => {
    const given = event({ user: { id: "ada" } });
    const before = structuredClone(given);
    maskDecision(given, { kind: "defined", value: ["/input/user/id"] });
    expect(given).toEqual(before);
    expect(maskDecision(given, { kind: "undefined" })).toEqual(before);
    expect(maskDecision(given, { kind: "defined", value: [] })).toEqual(before);
  });

  it("that fails, or is none, takes everything out", () => {
    const wrong: readonly Json[] = [
      1,
      null,
      [],
      {},
      "input/a",
      "/labels/a",
      "",
      "/",
      { op: "replace", path: "/input/a" },
      { op: "remove" },
    ];
    for (const rule of [...wrong, { op: "remove", path: "/input/a", extra: 1 }]) {
      const out = masked({ a: 1 }, "/input/none", rule);
      expect(["input" in out, "result" in out, out.erased], JSON.stringify(rule)).toEqual([false, false, ["/input", "/result"]]);
    }
    const failed = maskDecision(event({ a: 1 }), { kind: "error", code: "eval_conflict_error", message: "" });
    expect(failed.erased).toEqual(["/input", "/result"]);
    expect(maskDecision(event({ a: 1 }), { kind: "defined", value: "/input/a" }).erased).toEqual(["/input", "/result"]);
  });

  it("whose path is no pointer into the event takes everything out", () => {
    const input = { user: { id: "ada" }, list: ["a", { b: 1 }], flag: false, none: null };
    const wrong = ["/input/user/i~d", "/input/~", "/input/a~2b", "/input/user/", "/input//user", "/input/user//id", "/input/"];
    wrong.push(
      "/input/list/00",
      "/input/list/01",
      "/input/list/*",
      "/input/list/x",
      "/input/list/1.0",
      "/input/list/+1",
      "/input/list/",
    );
    wrong.push(
      "/input/*",
      "/input/user/*",
      "/input/user/id/x",
      "/input/user/id/",
      "/input/flag/x",
      "/input/list/0/b",
      "/result/allowed/x",
    );
    for (const path of wrong) {
      for (const rule of [path, { op: "remove", path }, { op: "upsert", path, value: 1 }]) {
        const out = masked(input, "/input/none", rule);
        expect(["input" in out, "result" in out, out.erased], path).toEqual([false, false, ["/input", "/result"]]);
      }
    }
    for (const path of [
      "/input/absent",
      "/input/absent/deep/0",
      "/input/none/x",
      "/input/list/7",
      "/input/list/-",
      "/input/user/01",
    ])
      expect(masked(input, path), path).toEqual(event(input));
    expect(masked({ "": { "*": 1 }, a: [{ b: 1 }] }, "/input//*", "/input/a/0", "/input/a/0/b").input).toEqual({
      "": {},
      a: [null],
    });
  });

  it("names are members of their own, never of a prototype", () => {
    const out = masked({}, "/input/constructor", { op: "upsert", path: "/input/__proto__/polluted", value: true });
    expect(Object.getPrototypeOf(out.input)).toBe(Object.prototype);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect(JSON.stringify(out.input)).toBe('{"__proto__":{"polluted":true}}');
    expect(out.erased).toBeUndefined();
  });
});

it("a decision is dropped by true and by nothing else", () => {
  expect(isDropped({ kind: "defined", value: true })).toBe(true);
  for (const value of [false, null, 1, "true", [true], { drop: true }]) expect(isDropped({ kind: "defined", value })).toBe(false);
  expect(isDropped({ kind: "undefined" })).toBe(false);
  expect(isDropped({ kind: "error", code: "eval_limit_error", message: "" })).toBe(false);
});
