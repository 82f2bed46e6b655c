import type { Context } from "../eval/context.ts";
import { isArray, lookupName, RegoSet, type Value } from "../value/value.ts";
import type { LoweredRule, Operand, Statement } from "./ir.ts";
import { isComparable } from "./selection.ts";

/** The positions, in order, of the rules that may hold; the others surely do not. */
export type RuleIndex = (c: Context, args: readonly Value[]) => readonly number[];

/** Below this many rules all of them are tried. */
const WORTHWHILE = 4;

/** What a rule asks of one place: an argument by its position, or a path below input. */
interface Condition {
  readonly place: string;
  readonly read: (c: Context, args: readonly Value[]) => Value | undefined;
  readonly scalars: readonly Value[];
}

/**
 * Indexes sibling rules by the place that most of them compare with constants: `input.kind == "a"`, `input.kind in {"a", "b"}`,
 * or a constant argument. Undefined where trying all of them costs as little.
 */
export function indexRules(rules: readonly LoweredRule[]): RuleIndex | undefined {
  if (rules.length < WORTHWHILE) return undefined;
  const conditions = rules.map(conditionsOf);
  const uses = new Map<string, number>();
  for (const of of conditions) for (const place of of.keys()) uses.set(place, (uses.get(place) ?? 0) + 1);
  const [most] = [...uses].sort(([, a], [, b]) => b - a);
  if (most === undefined || most[1] < WORTHWHILE) return undefined;
  const [place] = most;
  const all = rules.map((_, i) => i);
  const open = all.filter((i) => !conditions[i]?.has(place));
  const byScalar = new Map<Value, number[]>();
  for (const of of conditions) for (const scalar of of.get(place)?.scalars ?? []) byScalar.set(scalar, []);
  for (const [scalar, indices] of byScalar) {
    for (const i of all) if (conditions[i]?.get(place)?.scalars.includes(scalar) ?? true) indices.push(i);
  }
  const reader = conditions.find((of) => of.has(place))?.get(place);
  return (c, args) => {
    // a replaced function may change what a comparison means
    if (c.mocks !== undefined) return all;
    const value = reader?.read(c, args);
    if (value === undefined) return open;
    return isComparable(value) ? (byScalar.get(value) ?? open) : all;
  };
}

/** The conditions without which no branch of the rule holds, one of each place. */
function conditionsOf({ args, branches }: LoweredRule): ReadonlyMap<string, Condition> {
  const out = new Map<string, Condition>();
  for (const [i, arg] of args.entries()) {
    if (arg.kind !== "const" || !isComparable(arg.value)) continue;
    out.set(String(i), { place: String(i), read: (_c, values) => values[i], scalars: [arg.value] });
  }
  const [branch] = branches;
  if (branches.length !== 1 || branch === undefined) return out;
  for (const statement of branch.statements) {
    const condition = conditionOf(statement);
    if (condition !== undefined && !out.has(condition.place)) out.set(condition.place, condition);
  }
  return out;
}

function conditionOf({ action, negated, overrides }: Statement): Condition | undefined {
  if (negated || overrides.length > 0) return undefined;
  if (action.kind === "unify") return compared(action.left, action.right) ?? compared(action.right, action.left);
  if (action.kind !== "call" || action.callee.kind !== "builtin" || action.out !== undefined) return undefined;
  const [left, right] = action.args;
  if (left === undefined || right === undefined) return undefined;
  if (action.callee.name === "equal") return compared(left, right) ?? compared(right, left);
  if (action.callee.name !== "internal.member_2" || right.kind !== "const") return undefined;
  const members = isArray(right.value) ? right.value : right.value instanceof RegoSet ? right.value.sorted() : undefined;
  return members === undefined ? undefined : condition(left, members);
}

function compared(of: Operand, wanted: Operand): Condition | undefined {
  return wanted.kind === "const" ? condition(of, [wanted.value]) : undefined;
}

function condition(of: Operand, scalars: readonly Value[]): Condition | undefined {
  if (of.kind !== "ref" || of.base !== "input" || !scalars.every(isComparable)) return undefined;
  const path: string[] = [];
  for (const part of of.path) {
    if (part.kind !== "const" || typeof part.value !== "string") return undefined;
    path.push(part.value);
  }
  return {
    place: JSON.stringify(path),
    scalars,
    read: (c) => {
      let at = c.input;
      for (let i = 0; i < path.length && at !== undefined; i++) at = lookupName(at, path[i] as string);
      return at;
    },
  };
}
