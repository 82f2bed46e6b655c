import type { Location } from "../syntax/ast.ts";
import { equal, type Value } from "../value/value.ts";
import type { RuleSet } from "./tree.ts";

/** A local variable: a fixed slot of its rule's frame. */
export interface Variable {
  readonly name: string;
  readonly slot: number;
  /** Made by the compiler or a wildcard: never reported as a binding. */
  readonly generated: boolean;
  readonly loc: Location;
  /** While a body is emitted: an earlier literal gives it its value. */
  bound: boolean;
}

/** An operand: a term without calls. */
export type Operand =
  | { readonly kind: "const"; readonly value: Value; readonly loc: Location }
  | { readonly kind: "var"; readonly variable: Variable; readonly loc: Location }
  | RefOperand
  | { readonly kind: "array" | "set"; readonly items: readonly Operand[]; readonly loc: Location }
  | { readonly kind: "object"; readonly entries: readonly (readonly [Operand, Operand])[]; readonly loc: Location }
  | ComprehensionOperand
  | TemplateOperand;

export interface RefOperand {
  readonly kind: "ref";
  readonly base: "input" | "data" | Variable;
  readonly path: readonly Operand[];
  readonly loc: Location;
}

interface ComprehensionOperand {
  readonly kind: "comprehension";
  readonly makes: "array" | "set" | "object";
  readonly key: Operand | undefined;
  readonly value: Operand;
  readonly body: Closure;
  readonly loc: Location;
}

interface TemplateOperand {
  readonly kind: "template";
  readonly parts: readonly (string | { readonly value: Operand; readonly body: Closure })[];
  readonly loc: Location;
}

/** A body inside a term, with the variables it takes from outside. */
export interface Closure {
  readonly literals: readonly Statement[];
  readonly captured: readonly Variable[];
}

export type Callee =
  | { readonly kind: "rules"; readonly set: RuleSet; readonly name: string }
  | { readonly kind: "builtin"; readonly name: string };

export interface Override {
  readonly target:
    | { readonly kind: "input"; readonly path: readonly string[] }
    | { readonly kind: "data"; readonly path: readonly string[] }
    | { readonly kind: "function"; readonly name: string };
  /** What to put there: a value, or a function to call instead. */
  readonly value: Operand | Callee;
  /** The value is a document of rules, read when the function would be called and not before. */
  readonly late?: true;
}

export type Action =
  | { readonly kind: "unify"; readonly left: Operand; readonly right: Operand; readonly assignment: boolean }
  | { readonly kind: "term"; readonly operand: Operand }
  | { readonly kind: "call"; readonly callee: Callee; readonly args: readonly Operand[]; readonly out: Operand | undefined }
  | {
      readonly kind: "every";
      readonly key: Variable | undefined;
      readonly value: Variable;
      readonly domain: Operand;
      readonly body: Closure;
    };

/** One literal after expansion: no nested calls are left. */
export interface Statement {
  readonly action: Action;
  readonly negated: boolean;
  readonly overrides: readonly Override[];
  readonly loc: Location;
}

/** One body of a rule with what its head makes. */
export interface Branch {
  readonly statements: readonly Statement[];
  /** Computed parts of the head's ref. */
  readonly path: readonly Operand[];
  readonly key: Operand | undefined;
  readonly value: Operand | undefined;
  readonly loc: Location;
}

/** A rule ready for emission. */
export interface LoweredRule {
  readonly file: string;
  readonly row: number;
  readonly args: readonly Operand[];
  /** The body, then the `else` branches. */
  readonly branches: readonly Branch[];
  readonly frame: Frame;
}

/** Counts the slots of a frame; slot 0 is the result. */
export class Frame {
  size = 1;

  variable(name: string, generated: boolean, loc: Location): Variable {
    return { name, slot: this.size++, generated, loc, bound: false };
  }

  slot(): number {
    return this.size++;
  }
}

/** Visits every variable of an operand outside of closures, and those that closures capture. */
export function eachVariable(
  operand: Operand,
  direct: (variable: Variable) => void,
  captured: (variable: Variable) => void = direct,
): void {
  switch (operand.kind) {
    case "const":
      return;
    case "var":
      direct(operand.variable);
      return;
    case "ref":
      if (typeof operand.base === "object") direct(operand.base);
      for (const part of operand.path) eachVariable(part, direct, captured);
      return;
    case "array":
    case "set":
      for (const item of operand.items) eachVariable(item, direct, captured);
      return;
    case "object":
      for (const [key, value] of operand.entries) {
        eachVariable(key, direct, captured);
        eachVariable(value, direct, captured);
      }
      return;
    case "comprehension":
      for (const variable of operand.body.captured) captured(variable);
      return;
    case "template":
      for (const part of operand.parts) if (typeof part !== "string") for (const v of part.body.captured) captured(v);
  }
}

/** The operands of an action, without those of closures. */
export function operandsOf(action: Action): readonly Operand[] {
  switch (action.kind) {
    case "unify":
      return [action.left, action.right];
    case "term":
      return [action.operand];
    case "call":
      return action.out === undefined ? action.args : [...action.args, action.out];
    case "every":
      return [action.domain];
  }
}

/** Keys of object terms that are the same constant or the same variable. */
export function sameKey(a: Operand, b: Operand): boolean {
  if (a.kind === "const") return b.kind === "const" && equal(a.value, b.value);
  return a.kind === "var" && b.kind === "var" && a.variable === b.variable;
}
