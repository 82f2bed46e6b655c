import { getKey, isArray, isObject, sortedKeys, type Value } from "../value/value.ts";
import {
  type Action,
  eachVariable,
  type Operand,
  operandsOf,
  type RefOperand,
  type Statement,
  sameKey,
  type Variable,
} from "./ir.ts";

/**
 * Orders the literals of a body so that each finds its variables bound: OPA's rule, which scans the body again and again
 * and takes every literal that is safe by then, done with a worklist. Marks the variables bound as it goes (the caller
 * undoes that); returns what could not be placed with the variables that nothing binds.
 */
export function order(
  statements: readonly Statement[],
  arity: (action: Action & { kind: "call" }) => number,
): {
  readonly ordered: readonly Statement[];
  readonly unsafe: readonly (readonly [Statement, readonly Variable[]])[];
  readonly bound: readonly Variable[];
} {
  const ordered: Statement[] = [];
  const placed = new Array<boolean>(statements.length).fill(false);
  const missing = new Array<readonly Variable[]>(statements.length).fill([]);
  const watchers = new Map<Variable, number[]>();
  const bound: Variable[] = [];
  let current = new Heap();
  let later = new Heap();
  for (let i = 0; i < statements.length; i++) current.push(i);

  while (current.size > 0) {
    for (let i = current.pop(); i !== undefined; i = current.pop()) {
      if (placed[i]) continue;
      const statement = statements[i] as Statement;
      const { needs, outputs } = analyse(statement, arity);
      missing[i] = needs;
      if (needs.length > 0) {
        for (const variable of needs) {
          const list = watchers.get(variable);
          if (list === undefined) watchers.set(variable, [i]);
          else list.push(i);
        }
        continue;
      }
      placed[i] = true;
      ordered.push(statement);
      for (const variable of outputs) {
        if (variable.bound) continue;
        variable.bound = true;
        bound.push(variable);
        for (const waiting of watchers.get(variable) ?? []) {
          if (!placed[waiting]) (waiting > i ? current : later).push(waiting);
        }
        watchers.delete(variable);
      }
    }
    [current, later] = [later, current];
  }
  const unsafe = statements.flatMap((statement, i) => (placed[i] ? [] : [[statement, missing[i] ?? []] as const]));
  return { ordered, unsafe, bound };
}

/** A binary min-heap of indices without duplicates. */
class Heap {
  readonly #items: number[] = [];
  readonly #held = new Set<number>();

  get size(): number {
    return this.#items.length;
  }

  push(value: number): void {
    if (this.#held.has(value)) return;
    this.#held.add(value);
    const items = this.#items;
    items.push(value);
    let i = items.length - 1;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if ((items[parent] as number) <= value) break;
      items[i] = items[parent] as number;
      i = parent;
    }
    items[i] = value;
  }

  pop(): number | undefined {
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    if (top === undefined || last === undefined) return undefined;
    this.#held.delete(top);
    if (items.length > 0) {
      let i = 0;
      for (;;) {
        let child = 2 * i + 1;
        if (child >= items.length) break;
        if (child + 1 < items.length && (items[child + 1] as number) < (items[child] as number)) child++;
        if ((items[child] as number) >= last) break;
        items[i] = items[child] as number;
        i = child;
      }
      items[i] = last;
    }
    return top;
  }
}

/** What a literal still needs, given what is bound, and what it binds. */
function analyse(
  statement: Statement,
  arity: (action: Action & { kind: "call" }) => number,
): { readonly needs: readonly Variable[]; readonly outputs: ReadonlySet<Variable> } {
  const direct = new Set<Variable>();
  const captured = new Set<Variable>();
  const { action } = statement;
  for (const operand of operandsOf(action)) {
    eachVariable(
      operand,
      (v) => direct.add(v),
      (v) => captured.add(v),
    );
  }
  if (action.kind === "every") for (const v of action.body.captured) captured.add(v);
  const overrides = new Set<Variable>();
  for (const { value } of statement.overrides) {
    if (value.kind !== "rules" && value.kind !== "builtin") eachVariable(value, (v) => overrides.add(v));
  }
  let outputs: Set<Variable> = new Set();
  if (!statement.negated && [...overrides].every((v) => v.bound)) outputs = outputsOf(action, arity);
  const needs = new Set<Variable>();
  for (const v of direct) if (!v.bound && !outputs.has(v)) needs.add(v);
  for (const v of captured) if (!v.bound) needs.add(v);
  for (const v of overrides) if (!v.bound) needs.add(v);
  return { needs: [...needs], outputs };
}

function outputsOf(action: Action, arity: (action: Action & { kind: "call" }) => number): Set<Variable> {
  const outputs = new Set<Variable>();
  for (const operand of operandsOf(action)) refOutputs(operand, outputs);
  if (action.kind === "unify") {
    const basis = new Set(outputs);
    if (action.assignment) eachVariable(action.left, (v) => basis.delete(v));
    const isBound = (v: Variable): boolean => v.bound || basis.has(v);
    for (const v of new Unifier(isBound).outputs(action.left, action.right)) outputs.add(v);
  } else if (action.kind === "call" && action.out !== undefined && arity(action) >= 0) {
    let safe = true;
    for (const arg of action.args) patternVariables(arg, (v) => (safe &&= v.bound || outputs.has(v)));
    if (!safe) return new Set();
    patternVariables(action.out, (v) => outputs.add(v));
  }
  return outputs;
}

function baseBound(ref: RefOperand): boolean {
  return typeof ref.base !== "object" || ref.base.bound;
}

/** Variables in the brackets of refs whose head is bound. */
function refOutputs(operand: Operand, outputs: Set<Variable>): void {
  switch (operand.kind) {
    case "ref":
      if (!baseBound(operand)) return;
      for (const part of operand.path) {
        refOutputs(part, outputs);
        patternVariables(part, (v) => outputs.add(v));
      }
      return;
    case "array":
    case "set":
      for (const item of operand.items) refOutputs(item, outputs);
      return;
    case "object":
      for (const [key, value] of operand.entries) {
        refOutputs(key, outputs);
        refOutputs(value, outputs);
      }
      return;
    default:
  }
}

/** Variables that matching an operand against a value would bind: not ref heads, set elements, object keys, closures. */
function patternVariables(operand: Operand, visit: (v: Variable) => void): void {
  switch (operand.kind) {
    case "var":
      visit(operand.variable);
      return;
    case "ref":
      for (const part of operand.path) patternVariables(part, visit);
      return;
    case "array":
      for (const item of operand.items) patternVariables(item, visit);
      return;
    case "object":
      for (const [, value] of operand.entries) patternVariables(value, visit);
      return;
    default:
  }
}

/** Which variables `left = right` binds, given what is bound. */
class Unifier {
  readonly #unified = new Set<Variable>();
  readonly #unknown = new Map<Variable, Set<Variable>>();
  readonly #bound: (v: Variable) => boolean;

  constructor(bound: (v: Variable) => boolean) {
    this.#bound = bound;
  }

  outputs(left: Operand, right: Operand): ReadonlySet<Variable> {
    this.#unify(left, right);
    return this.#unified;
  }

  #isSafe(v: Variable): boolean {
    return this.#unified.has(v) || this.#bound(v);
  }

  #unify(left: Operand, right: Operand): void {
    const a = opened(left);
    const b = opened(right);
    if (a.kind === "var" && b.kind === "var") {
      if (this.#isSafe(b.variable)) this.#mark(a.variable);
      else if (this.#isSafe(a.variable)) this.#mark(b.variable);
      else {
        this.#wait(a.variable, b.variable);
        this.#wait(b.variable, a.variable);
      }
    } else if (a.kind === "var") this.#withVariable(a.variable, b);
    else if (b.kind === "var") this.#withVariable(b.variable, a);
    else if (a.kind === "array" && b.kind === "array") {
      if (a.items.length === b.items.length) {
        for (const [i, item] of a.items.entries()) this.#unify(item, b.items[i] as Operand);
      }
    } else if (a.kind === "object" && b.kind === "object") {
      if (a.entries.length !== b.entries.length) return;
      for (const [key, value] of a.entries) {
        const other = b.entries.find(([k]) => sameKey(key, k));
        if (other !== undefined) this.#unify(value, other[1]);
      }
    } else if (a.kind === "array" || a.kind === "object") this.#fromWhole(a, b);
    else if (b.kind === "array" || b.kind === "object") this.#fromWhole(b, a);
  }

  #withVariable(v: Variable, other: Operand): void {
    if (other.kind === "array" || other.kind === "object") {
      if (this.#isSafe(v)) patternVariables(other, (x) => this.#mark(x));
      else {
        let ready = true;
        patternVariables(other, (x) => {
          if (this.#isSafe(x)) return;
          ready = false;
          this.#wait(v, x);
        });
        if (ready) this.#mark(v);
      }
    } else if (other.kind !== "ref" || typeof other.base !== "object" || this.#isSafe(other.base)) this.#mark(v);
  }

  #fromWhole(pattern: Operand, other: Operand): void {
    // OPA takes no object apart that is still to be made
    if (pattern.kind === "object" && other.kind === "comprehension") return;
    if (other.kind === "ref" && typeof other.base === "object" && !this.#isSafe(other.base)) return;
    patternVariables(pattern, (v) => this.#mark(v));
  }

  #wait(v: Variable, on: Variable): void {
    const set = this.#unknown.get(v);
    if (set === undefined) this.#unknown.set(v, new Set([on]));
    else set.add(on);
  }

  #mark(v: Variable): void {
    const stack = [v];
    for (let x = stack.pop(); x !== undefined; x = stack.pop()) {
      this.#unified.add(x);
      const own = this.#unknown.get(x);
      this.#unknown.delete(x);
      for (const y of own ?? []) stack.push(y);
      for (const [y, on] of this.#unknown) {
        if (on.delete(x) && on.size === 0) {
          this.#unknown.delete(y);
          stack.push(y);
        }
      }
    }
  }
}

/** A constant array or object as the term it was written as. */
function opened(operand: Operand): Operand {
  if (operand.kind !== "const") return operand;
  const { value, loc } = operand;
  if (isArray(value)) return { kind: "array", items: value.map((item) => ({ kind: "const", value: item, loc })), loc };
  if (!isObject(value)) return operand;
  const constant = (v: Value): Operand => ({ kind: "const", value: v, loc });
  const entries = sortedKeys(value).map((key) => [constant(key), constant(getKey(value, key) as Value)] as const);
  return { kind: "object", entries, loc };
}
