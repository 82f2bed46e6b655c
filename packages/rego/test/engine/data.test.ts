import { compile, withoutValue, withValue } from "@seneschal/rego";
import { dataPaths, documents, slowWithValue } from "@seneschal/rego/arbitraries";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rounds } from "../rounds.ts";

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    return undefined;
  }
}

describe("data documents", () => {
  test("an update is what a deep copy would be, leaves the old document alone and shares the rest", () => {
    fc.assert(
      fc.property(documents, dataPaths, documents, (data, at, value) => {
        const before = JSON.stringify(data);
        const next = attempt(() => withValue(data, at, value));
        expect(JSON.stringify(next)).toBe(JSON.stringify(slowWithValue(data, at, value)));
        expect(JSON.stringify(data)).toBe(before);
        if (next === undefined) return;
        for (const [key, item] of Object.entries(data as object)) {
          if (key !== at[0]) expect((next as Record<string, unknown>)[key]).toBe(item);
        }
        const without = withoutValue(next, at) as object;
        expect(JSON.stringify(withoutValue(without, at))).toBe(JSON.stringify(without));
        expect(withoutValue(without, at)).toBe(without);
      }),
      { numRuns: rounds(500) },
    );
  });

  test("items are replaced, appended and taken out", () => {
    const data = { list: [1, 2] };
    expect(withValue(data, ["list", 1], 3)).toEqual({ list: [1, 3] });
    expect(withValue(data, ["list", 2], 3)).toEqual({ list: [1, 2, 3] });
    expect(withoutValue(data, ["list", 0])).toEqual({ list: [2] });
    expect(withoutValue(data, ["list", 5])).toBe(data);
    for (const key of [3, -1, "x", "01"]) expect(() => withValue(data, ["list", key], 0)).toThrow(TypeError);
  });

  test("a compiled policy answers by the document of each evaluation", () => {
    const policy = compile([{ name: "p.rego", source: "package p\n\nroles := data.roles[input.user]\n" }]);
    const old = { roles: { ada: ["reader"] } };
    const next = withValue(old, ["roles", "ada"], ["writer"]);
    const ask = (data: unknown) => policy.evaluate("data.p.roles", { user: "ada" }, { data });
    expect([ask(old), ask(next), ask(withoutValue(next, ["roles", "ada"]))]).toEqual([
      { kind: "defined", value: ["reader"] },
      { kind: "defined", value: ["writer"] },
      { kind: "undefined" },
    ]);
  });
});
