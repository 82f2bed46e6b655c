import { parseQuery } from "../syntax/parse-module.ts";

/** The names of `data.a["b"]`, or of a path below another root; undefined for anything else. */
export function parsePath(text: string, root = "data"): readonly string[] | undefined {
  const { body } = parseQuery(text);
  const [literal] = body ?? [];
  if (body?.length !== 1 || literal?.expr.kind !== "term" || literal.negated || literal.with.length > 0) return undefined;
  const { term } = literal.expr;
  if (term.kind === "var") return term.name === root ? [] : undefined;
  if (term.kind !== "ref" || term.head.kind !== "var" || term.head.name !== root) return undefined;
  const path: string[] = [];
  for (const part of term.path) {
    if (part.kind !== "scalar" || typeof part.value !== "string") return undefined;
    path.push(part.value);
  }
  return path;
}
