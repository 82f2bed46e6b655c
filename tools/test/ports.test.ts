/** No test, tool, bench or example listens on a port that it remembers or guesses: somebody else may have it by then. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "./fixture-tree.ts";

const sources = ["packages", "tools", "bench", "examples"].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !/(^|\/)(node_modules|dist|\.[^/]+)\//.test(path))
    .map((path) => join(folder, path)),
);
const holding = (pattern: RegExp): string[] => sources.filter((path) => pattern.test(readFileSync(join(ROOT, path), "utf8")));

test("whoever listens lets the system choose the port", () => {
  expect(holding(/\.listen\(\s*[1-9]/)).toEqual([]);
});

test("addresses that outlive a listener are taken only for programs that cannot choose, in the suites against real peers", () => {
  const takers = holding(/own-address\.ts"/).filter((path) => path.startsWith("packages/"));
  expect(takers.filter((path) => !path.includes("/test/integration/"))).toEqual([]);
});
