import type { Value } from "../value/value.ts";
import type { Operand, Statement, Variable } from "./ir.ts";
import { eachVariable, operandsOf } from "./ir.ts";

/** What an element must be, or have as the member `name`, to get past the literals behind its enumeration. */
export interface Requirement {
  readonly name: string | undefined;
  readonly wanted: Operand;
}

/**
 * The requirements that literals directly behind the enumeration of `variable` make: equalities with what is known before
 * the loop. They are necessary, not sufficient: the literals themselves still decide. Stops at the first literal that could fail
 * with an error, so that skipping an element never hides one.
 */
export function requirementsOf(variable: Variable, following: readonly Statement[]): readonly Requirement[] {
  const out: Requirement[] = [];
  for (const { action, negated, overrides } of following) {
    if (negated || overrides.length > 0 || !operandsOf(action).every(isPlain)) break;
    if (action.kind === "unify") require(variable, action.left, action.right, out);
    else if (action.kind !== "call" || action.callee.name !== "equal" || action.args.length !== 2) break;
    else require(variable, action.args[0] as Operand, action.args[1] as Operand, out);
  }
  return out;
}

function require(variable: Variable, left: Operand, right: Operand, out: Requirement[]): void {
  for (const [of, wanted] of [
    [left, right],
    [right, left],
  ] as const) {
    if (of.kind === "var" && of.variable === variable) {
      if (wanted.kind === "object") {
        for (const [key, value] of wanted.entries) {
          if (key.kind === "const" && typeof key.value === "string" && isKnown(value)) {
            out.push({ name: key.value, wanted: value });
          }
        }
      } else if (isKnown(wanted)) out.push({ name: undefined, wanted });
    } else if (of.kind === "ref" && of.base === variable && of.path.length === 1) {
      const [part] = of.path;
      if (part?.kind === "const" && typeof part.value === "string" && isKnown(wanted)) {
        out.push({ name: part.value, wanted });
      }
    }
  }
}

/** Reads constants, variables and input only: no rule runs and no builtin fails when it is evaluated. */
function isPlain(operand: Operand): boolean {
  switch (operand.kind) {
    case "const":
    case "var":
      return true;
    case "ref":
      return operand.base !== "data" && operand.path.every(isPlain);
    case "array":
      return operand.items.every(isPlain);
    case "object":
      return operand.entries.every(([key, value]) => isPlain(key) && isPlain(value));
    default:
      return false;
  }
}

/** A scalar, or may be one, whose variables are bound. */
function isKnown(operand: Operand): boolean {
  if (operand.kind === "const") return isComparable(operand.value);
  if (operand.kind !== "var" && operand.kind !== "ref") return false;
  let known = true;
  eachVariable(operand, (v) => {
    known &&= v.bound;
  });
  return known;
}

/** Identity decides whether it is equal to another scalar, integers beyond 2^53 apart. */
export function isComparable(value: Value): boolean {
  return value === null || (typeof value !== "object" && typeof value !== "bigint");
}

/** True if `item` cannot be, or have as its member `name`, what is wanted. False decides nothing. */
export function cannotMatch(item: Value, name: string | undefined, wanted: Value): boolean {
  if (name === undefined) return item !== wanted && typeof item !== "bigint" && (typeof item !== "object" || item === null);
  if (typeof item !== "object" || item === null) return true;
  if (Object.getPrototypeOf(item) !== Object.prototype) return false;
  const at = (item as { readonly [key: string]: Value })[name];
  return at !== wanted && typeof at !== "bigint";
}
