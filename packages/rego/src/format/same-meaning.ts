import type { Import, Literal, Module, Rule, Term } from "../syntax/ast.ts";
import { commentText } from "./line-writer.ts";

/** Whether two modules say the same in another layout: the same syntax tree and the same comments. Imports that v1 does not need are passed over. */
export function sameMeaning(a: Module, b: Module): boolean {
  return commentsOf(a) === commentsOf(b) && treeOf(a) === treeOf(b);
}

function commentsOf({ comments }: Module): string {
  return comments.map(commentText).sort().join("\n");
}

function treeOf({ packagePath, imports, rules }: Module): string {
  return JSON.stringify([packagePath, imports.filter(isNeeded).map(importText).sort(), rules.map(ruleOf)], withoutPlaces);
}

function isNeeded({ path: [root] }: Import): boolean {
  return root !== "rego" && root !== "future";
}

function importText({ path, alias }: Import): string {
  return JSON.stringify([path, alias]);
}

function ruleOf({ head, isDefault, body, otherwise }: Rule): unknown {
  const { ref, args, key, value } = head;
  return [ref, args, key, value, isDefault, bodyOf(body), otherwise.map((branch) => [branch.value ?? true, bodyOf(branch.body)])];
}

/** A body that is `true` says no more than none. */
function bodyOf(body: readonly Literal[]): readonly Literal[] {
  const [only] = body;
  const idle = body.length === 1 && only?.negated === false && only.with.length === 0 && only.expr.kind === "term";
  return idle && only.expr.kind === "term" && only.expr.term.kind === "scalar" && only.expr.term.value === true ? [] : body;
}

/** Places go, so does what only the writing knows: how an operator is written and what stands twice in a set or an object. */
function withoutPlaces(name: string, value: unknown): unknown {
  if (name === "loc" || name === "infix") return undefined;
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value !== "object" || value === null || !("kind" in value)) return value;
  const term = value as Term;
  if (term.kind === "scalar" && term.value === true) return true;
  if (term.kind === "set") return { ...term, items: [...new Map(term.items.map((item) => [keyOf(item), item])).keys()] };
  if (term.kind === "object") return { ...term, entries: [...new Map(term.entries.map(([key, item]) => [keyOf(key), item]))] };
  return value;
}

function keyOf(term: Term): string {
  return JSON.stringify(term, withoutPlaces);
}
