import type { Module, Rule } from "../syntax/ast.ts";
import type { Value } from "../value/value.ts";
import type { Report } from "./tree.ts";

/** The `# METADATA` of a rule, and the chain of it, its document, package and subpackages. */
export function annotate(
  _modules: readonly Module[],
  _report: Report,
): (rule: Rule) => { readonly own: Value; readonly chain: Value } {
  return () => ({ own: {}, chain: [] });
}
