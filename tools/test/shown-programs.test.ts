/** Whatever a page or a doc comment shows can be compiled and run as it stands: `npm run packages` does, from the packed packages. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";
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

/** Entries whose every function and class shows how it is used. */
const SHOWING = ["core/src/keys", "core/src/storage", "crypto/src/audit-log"];

/** What a module exports under its own name and from others, by the file that declares it. */
function* exportsOf(entry: string): Generator<{ readonly file: string; readonly name: string }> {
  const { statements } = parsed(entry);
  for (const statement of statements) {
    if (!ts.isExportDeclaration(statement) || statement.isTypeOnly || statement.moduleSpecifier === undefined) continue;
    const file = join(dirname(entry), (statement.moduleSpecifier as ts.StringLiteral).text);
    const { exportClause } = statement;
    if (exportClause === undefined || !ts.isNamedExports(exportClause)) throw new Error(`${entry}: names what it exports`);
    for (const { name, propertyName, isTypeOnly } of exportClause.elements)
      if (!isTypeOnly) yield { file, name: (propertyName ?? name).text };
  }
}

const sources = new Map<string, ts.SourceFile>();

function parsed(file: string): ts.SourceFile {
  const known = sources.get(file);
  if (known !== undefined) return known;
  const source = ts.createSourceFile(file, readFileSync(join(ROOT, file), "utf8"), ts.ScriptTarget.ESNext, true);
  sources.set(file, source);
  return source;
}

/** Whether a file declares something of that name that can be called, and says nothing of how. */
function showsNothing({ file, name }: { readonly file: string; readonly name: string }): boolean {
  const declared = parsed(file).statements.find((statement) => {
    if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)) return statement.name?.text === name;
    if (!ts.isVariableStatement(statement)) return false;
    const [first] = statement.declarationList.declarations;
    return first?.name.getText() === name && first.initializer !== undefined && ts.isArrowFunction(first.initializer);
  });
  return declared !== undefined && !ts.getJSDocTags(declared).some(({ tagName }) => tagName.text === "example");
}

test("whatever can be called of an entry that shows its use has an example", () => {
  for (const entry of SHOWING) {
    const exported = [...exportsOf(`packages/${entry}/index.ts`)];
    expect(exported.length).toBeGreaterThan(20);
    expect(exported.filter(showsNothing).map(({ file, name }) => `${file} ${name}`)).toEqual([]);
  }
});
