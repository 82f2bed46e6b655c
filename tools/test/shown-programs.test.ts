/** Whatever a page or a doc comment shows can be compiled and run as it stands: `npm run packages` does, from the packed packages. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commentPrograms, pageProgram, pages, saidOf } from "../shown-programs.ts";
import { ROOT } from "./fixture-tree.ts";

const programs = [...commentPrograms(), ...pages.flatMap((page) => pageProgram(page) ?? [])];

test("an example of a doc comment, and the program of a page, imports what it shows", () => {
  expect(programs.length).toBeGreaterThan(100);
  expect(programs.filter(({ code }) => !code.startsWith("import ")).map(({ file }) => file)).toEqual([]);
});

test("what a shown program logs stands behind the line that logs it", () => {
  const silent = programs.filter(({ code }) => saidOf(code).includes(undefined));
  expect(silent.map(({ file, code }) => [file, code])).toEqual([]);
});

/** Blocks in JavaScript, and the test that runs each page's. */
const SCRIPTS = {
  "docs/custody.md": "packages/crypto/test/integration/custodian-in-browser.test.ts",
  "docs/rego.md": "packages/cli/test/offline.test.ts",
};

test("a page's programs are blocks of ts; those in other words for it have a test of their own", () => {
  const others = /^ *```(?:js|javascript|mjs|typescript|tsx|jsx)\b/m;
  expect(pages.filter((page) => others.test(readFileSync(join(ROOT, page), "utf8")))).toEqual(Object.keys(SCRIPTS));
  for (const [page, file] of Object.entries(SCRIPTS)) expect(readFileSync(join(ROOT, file), "utf8")).toContain(page);
});
