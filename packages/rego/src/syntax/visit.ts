import { checkArgument } from "../argument.ts";
import type { Body, Expr, Literal, Module, Rule, Term } from "./ast.ts";

/** Called before a node's parts; `false` passes over them. */
export interface Visitor {
  readonly rule?: (rule: Rule) => boolean | undefined;
  readonly literal?: (literal: Literal) => boolean | undefined;
  /** Names that are declared (`some x`, the variables of `every`) and operators of calls belong to their node and are no terms. */
  readonly term?: (term: Term) => boolean | undefined;
}

/**
 * Visits every rule, literal and term at and below a node in the order of the source, the values of `with` before their literal.
 *
 * @example
 * ```ts
 * import { parseModule, visit } from "@seneschal/rego";
 * const { module } = parseModule({ name: "p.rego", source: "package p\n\nallow if f(input.user)\n" });
 * const calls: string[] = [];
 * if (module !== undefined) visit(module, { term: (t) => void (t.kind === "call" && calls.push(t.operator.kind)) });
 * console.log(calls); // [ 'var' ]
 * ```
 */
export function visit(node: Module | Rule | Literal | Term, visitor: Visitor): void {
  checkArgument("node", node, "object");
  checkArgument("visitor", visitor, "object");
  if ("rules" in node) for (const rule of node.rules) ofRule(rule, visitor);
  else if ("head" in node && !("kind" in node)) ofRule(node, visitor);
  else if ("expr" in node) ofLiteral(node, visitor);
  else ofTerm(node, visitor);
}

function ofRule(rule: Rule, visitor: Visitor): void {
  if (visitor.rule?.(rule) === false) return;
  const { ref, args, key, value } = rule.head;
  ofTerms([...ref.slice(1), ...(args ?? []), key, value], visitor);
  ofBody(rule.body, visitor);
  for (const branch of rule.otherwise) {
    ofTerms([branch.value], visitor);
    ofBody(branch.body, visitor);
  }
}

function ofBody(body: Body, visitor: Visitor): void {
  for (const literal of body) ofLiteral(literal, visitor);
}

function ofLiteral(literal: Literal, visitor: Visitor): void {
  if (visitor.literal?.(literal) === false) return;
  for (const { value } of literal.with) ofTerm(value, visitor);
  const { expr } = literal;
  ofTerms(operandsOf(expr), visitor);
  if (expr.kind === "every") ofBody(expr.body, visitor);
}

/** The terms of an expression outside of an `every`'s body. */
export function operandsOf(expr: Expr): readonly (Term | undefined)[] {
  switch (expr.kind) {
    case "term":
      return [expr.term];
    case "unify":
    case "assign":
      return [expr.left, expr.right];
    case "some":
      return [];
    case "some-in":
      return [expr.key, expr.value, expr.domain];
    case "every":
      return [expr.domain];
  }
}

function ofTerms(terms: readonly (Term | undefined)[], visitor: Visitor): void {
  for (const term of terms) if (term !== undefined) ofTerm(term, visitor);
}

function ofTerm(term: Term, visitor: Visitor): void {
  if (visitor.term?.(term) === false) return;
  switch (term.kind) {
    case "ref":
      ofTerm(term.head, visitor);
      ofTerms(term.path, visitor);
      return;
    case "array":
    case "set":
      ofTerms(term.items, visitor);
      return;
    case "object":
      for (const entry of term.entries) ofTerms(entry, visitor);
      return;
    case "call":
      ofTerms(term.args, visitor);
      return;
    case "array-comprehension":
    case "set-comprehension":
      ofTerm(term.head, visitor);
      ofBody(term.body, visitor);
      return;
    case "object-comprehension":
      ofTerms([term.key, term.value], visitor);
      ofBody(term.body, visitor);
      return;
    case "template":
      for (const part of term.parts) if (typeof part !== "string") ofLiteral(part, visitor);
      return;
    default:
  }
}
