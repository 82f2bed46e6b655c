import fc from "fast-check";
import { expect, test } from "vitest";
import { type KeptValue, KeptValues } from "../../src/level/kept-values.ts";

const key = fc.constantFrom("d/a", "d/b", "s/c");
const value = fc.constantFrom<KeptValue>("x", "y", "y".repeat(16_000), "z".repeat(17_000), null);
const action = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("ask" as const), key, value, early: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("begin" as const), key, value, early: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("commit" as const), key, value, early: fc.boolean() }) },
);

test("what is kept is what is committed, nothing while a write is on its way whatever is read then, and however much passes through", () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 600, size: "max" }), (actions) => {
      const kept = new KeptValues();
      const committed = new Map<string, KeptValue>();
      const writes = new Map<string, KeptValue>();
      for (const { do: what, key, value, early } of actions) {
        if (what === "ask") {
          const known = kept.get(key);
          const [now, next] = [committed.get(key) ?? null, writes.get(key)];
          // While it is written the engine may show either, and later ones never what was before: only the engine knows.
          if (known !== undefined) expect([known, next]).toEqual([now, undefined]);
          else kept.read(key, early || next === undefined ? now : next);
        } else if (what === "begin" && !writes.has(key)) {
          writes.set(key, value);
          kept.writing(key);
        } else if (what === "commit" && writes.has(key)) {
          const written = writes.get(key) as KeptValue;
          committed.set(key, written);
          writes.delete(key);
          kept.wrote(key, written);
          expect([written, undefined]).toContain(kept.get(key));
        }
      }
    }),
  );
});

test("a key is kept from the second time that the engine was asked for it, also as one with nothing under it", () => {
  const kept = new KeptValues();
  for (const [key, value] of [
    ["d/there", "1 {}"],
    ["d/absent", null],
  ] as const) {
    kept.read(key, value);
    expect(kept.get(key)).toBeUndefined();
    kept.read(key, value);
    expect(kept.get(key)).toBe(value);
  }
  kept.clear();
  expect(kept.get("d/there")).toBeUndefined();
});

test("what is asked for stays while others pass, what is not is let go", () => {
  const kept = new KeptValues();
  const readTwice = (key: string, value: string): void => {
    for (const _ of [1, 2]) kept.read(key, value);
  };
  readTwice("d/hot", "hot");
  readTwice("d/cold", "cold");
  for (let at = 0; at < 1000; at += 1) {
    readTwice(`d/${at}`, "x".repeat(16_000));
    expect(kept.get("d/hot")).toBe("hot");
  }
  expect(kept.get("d/cold")).toBeUndefined();
});
