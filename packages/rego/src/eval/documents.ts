import type { RuleNode } from "../compile/tree.ts";
import { EvaluationError } from "../errors.ts";
import { tick } from "../value/meter.ts";
import { compare, getKey, isArray, isObject, lookup, RegoObject, RegoSet, sortedKeys, type Value } from "../value/value.ts";
import { type Context, NONE } from "./context.ts";

/** A rule set ready to run. */
export interface Document {
  /** The document's value; for `object` sets, that of the whole node. */
  readonly evaluate: (c: Context) => Value | undefined;
  readonly call: (c: Context, args: readonly Value[]) => Value | undefined;
}

/** What evaluation needs of a compiled policy: documents by rule set id. */
export interface Program {
  readonly root: RuleNode;
  readonly documents: Document[];
}

/** A place in `data` where rules and base documents meet; stands for the object it would be. */
export class Cursor {
  readonly node: RuleNode;
  readonly base: Value | undefined;

  constructor(node: RuleNode, base: Value | undefined) {
    this.node = node;
    this.base = base;
  }
}

/** The memoised document of a rule set. */
export function documentOf(c: Context, program: Program, id: number): Value | undefined {
  const known = c.memo[id];
  if (known !== undefined) return known === NONE ? undefined : (known as Value);
  tick();
  if (++c.depth > c.maxDepth) throw new EvaluationError("eval_limit_error", "evaluation exceeded its call depth");
  const value = (program.documents[id] as Document).evaluate(c);
  c.depth--;
  c.memo[id] = value === undefined ? NONE : value;
  return value;
}

function nodeDocument(c: Context, program: Program, node: RuleNode): Value | undefined {
  const set = node.rules;
  if (set === undefined || set.kind === "function") return undefined;
  const value = documentOf(c, program, set.id);
  const replaced = c.overlay?.inside.get(node);
  if (replaced === undefined) return value;
  return replaced.reduce<Value | undefined>((v, { path, value: put }) => patch(v, path, put), value);
}

/** One step from a place in `data`. */
export function step(c: Context, program: Program, from: Value | Cursor, key: Value): Value | Cursor | undefined {
  if (!(from instanceof Cursor)) return lookup(from, key);
  const base = from.base === undefined ? undefined : lookup(from.base, key);
  if (typeof key !== "string") return base;
  const child = from.node.children.get(key);
  if (child === undefined || c.overlay?.hidden.has(child) === true) return base;
  if (child.rules !== undefined) return nodeDocument(c, program, child);
  return new Cursor(child, base);
}

/** The names below a cursor, in Rego order. */
export function cursorKeys(cursor: Cursor): readonly Value[] {
  const keys = RegoSet.of(cursor.node.children.keys());
  if (cursor.base !== undefined && isObject(cursor.base)) for (const key of sortedKeys(cursor.base)) keys.add(key);
  return keys.sorted();
}

/** The object that a cursor stands for: what rules define, merged with base documents, which win where both have a value. */
export function materialise(c: Context, program: Program, from: Value | Cursor | undefined): Value | undefined {
  if (!(from instanceof Cursor)) return from;
  const out = new RegoObject();
  const base = from.base !== undefined && isObject(from.base) ? from.base : undefined;
  for (const name of [...from.node.children.keys()].sort(compare)) {
    tick();
    const value = materialise(c, program, step(c, program, from, name));
    if (value !== undefined) out.set(name, value);
  }
  return base === undefined ? out : merge(base, out);
}

function merge(base: Value, over: Value): Value {
  if (!isObject(base) || !isObject(over)) return base;
  const out = new RegoObject();
  for (const key of sortedKeys(over)) out.set(key, getKey(over, key) as Value);
  for (const key of sortedKeys(base)) {
    const own = getKey(base, key) as Value;
    const other = getKey(over, key);
    out.set(key, other === undefined ? own : merge(own, other));
  }
  return out;
}

/** `value` with `put` at `path`; what is in the way is replaced by objects. */
export function patch(value: Value | undefined, path: readonly string[], put: Value): Value {
  const [key, ...rest] = path;
  if (key === undefined) return put;
  const out = new RegoObject();
  if (value !== undefined && isObject(value)) {
    for (const k of sortedKeys(value)) if (k !== key) out.set(k, getKey(value, k) as Value);
    out.set(key, patch(getKey(value, key), rest, put));
  } else if (value !== undefined && isArray(value) && /^\d+$/.test(key) && Number(key) < value.length) {
    return value.with(Number(key), patch(value[Number(key)], rest, put));
  } else out.set(key, patch(undefined, rest, put));
  return out;
}
