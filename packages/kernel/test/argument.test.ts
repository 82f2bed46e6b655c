import { expect, test } from "vitest";
import { checkArgument, checkOptions } from "../src/index.ts";

const kinds = {
  array: [],
  boolean: false,
  bytes: Uint8Array.of(1),
  function: () => 1,
  number: 1,
  object: {},
  string: "",
} as const;

test("a kind is taken for itself and for no other", () => {
  for (const [is, value] of Object.entries(kinds))
    for (const kind of Object.keys(kinds) as (keyof typeof kinds)[]) {
      const check = (): void => checkArgument("it", value, kind);
      if (is === kind) check();
      else expect(check, `${is} for ${kind}`).toThrow(/^it: expected an? .*, not /);
    }
});

test("nothing is of no kind, and no value is in what is said", () => {
  for (const kind of Object.keys(kinds) as (keyof typeof kinds)[])
    for (const nothing of [null, undefined]) expect(() => checkArgument("it", nothing, kind)).toThrow(TypeError);
  expect(() => checkArgument("key", "secret", "bytes")).toThrow(/^key: expected a Uint8Array, not string$/);
});

test("whatever can be iterated over is iterable, texts too", () => {
  for (const value of [[], new Set(), "text", Uint8Array.of(1)]) checkArgument("it", value, "iterable");
  for (const value of [null, undefined, 5, {}]) expect(() => checkArgument("it", value, "iterable")).toThrow(TypeError);
});

test("an option is there, of its kind, and known; what may be left out may be undefined", () => {
  const check = (given: object): void =>
    checkOptions<{ name: string; times?: number }>("options", given as never, { name: "string", times: "number?" });
  check({ name: "ada" });
  check({ name: "ada", times: undefined });
  check({ name: "ada", times: 2 });
  expect(() => check({ name: "ada", tmies: 2 })).toThrow("options.tmies: no such option; there are name, times");
  expect(() => check({ times: 2 })).toThrow("options.name: expected a string, not undefined");
  expect(() => check({ name: "ada", times: "2" })).toThrow("options.times: expected a number, not string");
  expect(() => check({ name: "ada", toString: 1 })).toThrow("options.toString: no such option");
  expect(() => check(null as never)).toThrow("options: expected an object, not null");
});

test("of an option that is one of some texts, no other text is taken, and it is not said", () => {
  const check = (given: object): void =>
    checkOptions<{ mode?: "fast" | "safe" }>("options", given as never, { mode: ["fast", "safe", undefined] });
  for (const given of [{}, { mode: undefined }, { mode: "fast" }, { mode: "safe" }]) check(given);
  expect(() => check({ mode: "secret" })).toThrow(/^options.mode: expected "fast" or "safe", not another text$/);
  expect(() => check({ mode: 5 })).toThrow(/^options.mode: expected "fast" or "safe", not number$/);
  const required = (given: object): void => checkOptions<{ mode: "fast" }>("options", given as never, { mode: ["fast"] });
  expect(() => required({})).toThrow(/^options.mode: expected "fast", not undefined$/);
});
