import { readFileSync } from "node:fs";
import { isCoded } from "@seneschal/kernel";
import { describe, expect, test } from "vitest";
import { backEnd, missingBackEnd } from "../src/back-end.ts";

const { peerDependencies } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  peerDependencies: Record<string, string>;
};

/** What missing packages are called by `import` and by `require`. */
const SAID = [
  (name: string) =>
    Object.assign(new Error(`Cannot find package '${name}' imported from /a/b.js`), { code: "ERR_MODULE_NOT_FOUND" }),
  (name: string) =>
    Object.assign(new Error(`Cannot find module '${name}'\nRequire stack:\n- /a/b.js`), { code: "MODULE_NOT_FOUND" }),
];
const thrownBy = (call: () => unknown): unknown => {
  try {
    return call();
  } catch (error) {
    return error;
  }
};

describe.each(Object.entries(peerDependencies))("%s", (name, range) => {
  test.each(SAID)("a missing one is told with the line that installs it", (said) => {
    const error = thrownBy(() => missingBackEnd(said(name)));
    expect(isCoded(error, "back_end_missing") && error.message).toBe(`${name} is not installed: npm install "${name}@${range}"`);
    expect(isCoded(error) && error.details).toEqual({ package: name, range });
  });
});

test.each(SAID)("what is missing but no back end, or fails otherwise, is thrown as it is", (said) => {
  for (const error of [
    said("left-pad"),
    said("./file.js"),
    new Error("Cannot find package 'pg' imported from /a"),
    new Error("no"),
  ])
    expect(thrownBy(() => missingBackEnd(error))).toBe(error);
});

test("one that is there is loaded at its first use, once", () => {
  const pg = backEnd<typeof import("pg")>("pg");
  expect(pg().Pool).toBeTypeOf("function");
  expect(pg()).toBe(pg());
  expect(thrownBy(backEnd("no-such-package"))).toMatchObject({ code: "MODULE_NOT_FOUND" });
});
