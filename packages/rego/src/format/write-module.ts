import type { Import, Module, RegoVersion, Rule } from "../syntax/ast.ts";
import type { Extents } from "../syntax/extents.ts";
import { commentText } from "./line-writer.ts";
import { keywordsOf, RuleWriter, type Style } from "./rule-writer.ts";

export interface Target {
  /** The language that the source is read in. */
  readonly written: RegoVersion;
  readonly to: RegoVersion;
  readonly dropV0Imports: boolean;
}

/** A module's text in `opa fmt`'s layout. */
export function writeModule(module: Module, extents: Extents, target: Target): string {
  return new ModuleWriter(module, extents, styleOf(module, target)).all(importsOf(module, target));
}

function styleOf(module: Module, { to }: Target): Style {
  const imported = (word: string): boolean =>
    module.imports.some(
      ({ path: [root, second, third] }) =>
        root === "rego" || (root === "future" && second === "keywords" && (third === undefined || third === word)),
    );
  return {
    v1: to === "v1",
    ifs: to === "v1" || imported("if"),
    contains: to === "v1" || imported("contains"),
    refHeads: module.rules.some(({ head }) => head.ref.length > 2 || (head.ref.length === 2 && head.key !== undefined)),
    keywords: keywordsOf(module, to),
  };
}

/** The imports to be written: conversion needs `rego.v1`, and with it no keyword is imported by itself. */
function importsOf(module: Module, { written, to, dropV0Imports }: Target): readonly Import[] {
  const compatible = written === "v0" && to === "v1";
  let imports = module.imports;
  if (to === "v1" && dropV0Imports && !compatible) imports = imports.filter(({ path }) => path[0] !== "rego");
  else if (compatible && !imports.some(isRegoV1)) {
    imports = [...imports, { path: ["rego", "v1"], alias: undefined, loc: { row: 1, col: 1, offset: 0 } }];
  }
  const hasV1 = imports.some(isRegoV1);
  if ((to === "v1" && dropV0Imports) || hasV1) imports = imports.filter(({ path }) => path[0] !== "future");
  return imports;
}

function isRegoV1({ path }: Import): boolean {
  return path[0] === "rego" && path[1] === "v1";
}

type Statement = { readonly import: Import } | { readonly rule: Rule };

class ModuleWriter extends RuleWriter {
  all(imports: readonly Import[]): string {
    const { module } = this;
    this.comments = module.comments;
    this.commentsBefore(module.packageLoc.row);
    this.startLine();
    const [first = "", ...rest] = module.packagePath;
    this.write(`package ${first}${rest.map((part) => this.refPart(part, false)).join("")}`);
    this.blankLine();
    const statements: Statement[] = [
      ...imports.map((one) => ({ import: one, at: one.loc })),
      ...module.rules.map((rule) => ({ rule, at: rule.loc })),
    ].sort((a, b) => a.at.row - b.at.row || a.at.col - b.at.col);
    let i = 0;
    while (i < statements.length) {
      const group: Import[] = [];
      for (let next = statements[i]; next !== undefined && "import" in next; next = statements[++i]) group.push(next.import);
      this.#imports(group);
      const rules: Rule[] = [];
      for (let next = statements[i]; next !== undefined && "rule" in next; next = statements[++i]) rules.push(next.rule);
      this.#rules(rules);
    }
    this.comments.forEach((comment, at) => {
      this.writeLine(commentText(comment));
      if (at === this.comments.length - 1) this.write("\n");
    });
    return this.out.replace(/\n+$/, "\n");
  }

  #imports(imports: readonly Import[]): void {
    if (imports.length === 0) return;
    const beside = new Map<Import, string>();
    const left = [];
    for (const comment of this.comments) {
      const one = imports.find(({ loc }) => loc.row === comment.loc.row);
      if (one === undefined) left.push(comment);
      else beside.set(one, commentText(comment));
    }
    this.comments = left;
    for (const group of groups(imports)) {
      this.commentsBefore(group[0]?.loc.row ?? 0);
      for (const one of group.toSorted(compareImports)) {
        const [root = "", ...rest] = one.path;
        this.startLine();
        const line = this.source.slice(one.loc.offset).split("\n", 1)[0] ?? "";
        const path = root + rest.map((part) => this.refPart(part, root !== "future" && /\[\s*["`]/.test(line))).join("");
        this.write(`import ${path}${one.alias === undefined ? "" : ` as ${one.alias}`}`);
        const comment = beside.get(one);
        if (comment !== undefined) this.write(` ${comment}`);
        this.endLine();
      }
      this.blankLine();
    }
  }

  #rules(rules: readonly Rule[]): void {
    rules.forEach((rule, i) => {
      this.ruleWithComments(rule);
      const next = rules[i + 1];
      const joined = next !== undefined && this.isShort(rule) && this.isShort(next) && next.loc.row === rule.loc.row + 1;
      if (!joined) this.blankLine();
    });
  }
}

/** Imports with no line between them. */
function groups(imports: readonly Import[]): readonly Import[][] {
  const all: Import[][] = [];
  let row = Number.NEGATIVE_INFINITY;
  for (const one of imports) {
    if (one.loc.row - row > 1) all.push([]);
    all.at(-1)?.push(one);
    row = one.loc.row;
  }
  return all;
}

function compareImports(a: Import, b: Import): number {
  for (let i = 0; i < Math.min(a.path.length, b.path.length); i++) {
    const [x, y] = [a.path[i] as string, b.path[i] as string];
    if (x !== y) return x < y ? -1 : 1;
  }
  if (a.path.length !== b.path.length) return a.path.length - b.path.length;
  const [x, y] = [a.alias ?? "", b.alias ?? ""];
  return x === y ? 0 : x < y ? -1 : 1;
}
