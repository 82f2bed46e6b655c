/** No test counts on a machine that is not busy: whoever waits for something waits half a minute for it before it is missing. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "./fixture-tree.ts";

const tests = ["packages", "tools"].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && /(^|\/)test\//.test(path) && !/(^|\/)(node_modules|dist)\//.test(path))
    .map((path) => join(folder, path)),
);

/** The calls by which a test waits, as they are written. */
const waits = tests.flatMap((path) => {
  const text = readFileSync(join(ROOT, path), "utf8");
  return [...text.matchAll(/\b(?:vi\.wait(?:For|Until)|expect\.poll)\(([\s\S]*?)\);\n/g)].map(([call]) => ({ path, call }));
});

test("a wait of vitest names a bound of half a minute at least, or has the configured one", () => {
  expect(waits.length).toBeGreaterThan(20);
  const short = waits.filter(({ call }) => {
    const bound = /timeout: ([\d_]+)/.exec(call)?.[1];
    if (bound !== undefined) return Number(bound.replaceAll("_", "")) < 30_000;
    return call.startsWith("vi.") && !call.includes("WAIT");
  });
  expect(short).toEqual([]);
});
