import type { BuiltinTable, Type } from "../builtins/builtin.ts";
import { termText } from "../value/format.ts";
import { getKey, isArray, isNumber, isObject, RegoSet, sortedKeys, type Value } from "../value/value.ts";
import type { Callee, LoweredRule, Operand, RefOperand, Statement, Variable } from "./ir.ts";
import type { Report, RuleNode, RuleSet } from "./tree.ts";

const ANY: Type = { kind: "any", of: [] };
// one each: most terms of a policy are scalars
const NULL: Type = { kind: "null" };
const BOOLEAN: Type = { kind: "boolean" };
const STRING: Type = { kind: "string" };
const NUMBER: Type = { kind: "number" };

/** Infers types forward through ordered bodies and reports what can never hold. What it does not know is any type. */
export class TypeChecker {
  readonly #root: RuleNode;
  readonly #builtins: BuiltinTable;
  readonly #report: Report;
  readonly #variables = new WeakMap<Variable, Type>();
  readonly #documents: Type[] = [];

  constructor(root: RuleNode, builtins: BuiltinTable, report: Report) {
    this.#root = root;
    this.#builtins = builtins;
    this.#report = report;
  }

  /** Checks one body, its literals in the order of evaluation. */
  body(file: string, statements: readonly Statement[]): void {
    for (const statement of statements) this.#statement(file, statement);
  }

  /** Notes the type of a path's document, once all its rules are checked. */
  finish(set: RuleSet, rules: readonly LoweredRule[], fallback: LoweredRule | undefined): void {
    const types: Type[] = [];
    for (const rule of fallback === undefined ? rules : [...rules, fallback]) {
      for (const branch of rule.branches) {
        const head = branch.key ?? branch.value;
        types.push(head === undefined ? ANY : this.#known(head));
      }
    }
    const type = bounded(union(types));
    this.#documents[set.id] = set.kind === "set" ? { kind: "set", of: type } : set.kind === "object" ? ANY : type;
  }

  #statement(file: string, { action, loc, overrides }: Statement): void {
    const fail = (message: string): void => this.#report("rego_type_error", message, file, loc);
    if (overrides.length > 0) return;
    switch (action.kind) {
      case "unify": {
        const left = this.#operand(action.left, file);
        const right = this.#operand(action.right, file);
        if (!overlap(left, right)) fail(`match error\n\tleft  : ${show(left)}\n\tright : ${show(right)}`);
        this.#assume(action.left, right);
        this.#assume(action.right, left);
        return;
      }
      case "term":
        this.#operand(action.operand, file);
        return;
      case "every":
        this.#operand(action.domain, file);
        return;
      case "call": {
        const args = action.args.map((arg) => this.#operand(arg, file));
        const { callee } = action;
        if (callee.kind === "builtin") this.#arguments(callee.name, args, action.out === undefined, fail);
        if (action.out !== undefined) {
          const result = this.#result(callee);
          const out = this.#operand(action.out, file);
          if (!overlap(out, result)) fail(`match error\n\tleft  : ${show(result)}\n\tright : ${show(out)}`);
          this.#assume(action.out, result);
        }
      }
    }
  }

  #arguments(name: string, args: readonly Type[], statement: boolean, fail: (message: string) => void): void {
    const [left, right] = args;
    if (statement && name === "equal" && left !== undefined && right !== undefined && !overlap(left, right)) {
      fail(`match error\n\tleft  : ${show(left)}\n\tright : ${show(right)}`);
      return;
    }
    const wanted = this.#builtins.get(name)?.args ?? [];
    const wrong = wanted.some((want, i) => !overlap(args[i] ?? ANY, want));
    if (wrong) {
      fail(`${name}: invalid argument(s)\n\thave: (${args.map(show).join(", ")})\n\twant: (${wanted.map(show).join(", ")})`);
    }
  }

  #result(callee: Callee): Type {
    if (callee.kind === "rules") return this.#documents[callee.set.id] ?? ANY;
    return this.#builtins.get(callee.name)?.result ?? ANY;
  }

  #known(operand: Operand): Type {
    return this.#operand(operand, undefined);
  }

  #operand(operand: Operand, file: string | undefined): Type {
    return bounded(this.#inferred(operand, file));
  }

  #inferred(operand: Operand, file: string | undefined): Type {
    switch (operand.kind) {
      case "const":
        return typeOf(operand.value, 0);
      case "var":
        return this.#variables.get(operand.variable) ?? ANY;
      case "array":
        return { kind: "array", items: operand.items.map((item) => this.#operand(item, file)), rest: undefined };
      case "set":
        return { kind: "set", of: union(operand.items.map((item) => this.#operand(item, file))) };
      case "object": {
        const fields: { key: string; value: Type }[] = [];
        for (const [key, value] of operand.entries) {
          if (key.kind !== "const" || typeof key.value !== "string")
            return { kind: "object", fields: [], rest: { key: ANY, value: ANY } };
          fields.push({ key: key.value, value: this.#operand(value, file) });
        }
        return { kind: "object", fields, rest: undefined };
      }
      case "comprehension":
        if (operand.makes === "array") return { kind: "array", items: [], rest: ANY };
        if (operand.makes === "set") return { kind: "set", of: ANY };
        return { kind: "object", fields: [], rest: { key: ANY, value: ANY } };
      case "template":
        return STRING;
      case "ref":
        return this.#ref(operand, file);
    }
  }

  #ref(ref: RefOperand, file: string | undefined): Type {
    if (ref.base === "input") return ANY;
    let type: Type | undefined = ANY;
    let rest = ref.path;
    if (ref.base === "data") {
      let node: RuleNode | undefined = this.#root;
      let i = 0;
      while (i < ref.path.length && node !== undefined && node.rules === undefined) {
        const part: Operand = ref.path[i++] as Operand;
        node = part.kind === "const" && typeof part.value === "string" ? node.children.get(part.value) : undefined;
      }
      if (node?.rules === undefined || node.mixed !== undefined || node.rules.kind === "function") return ANY;
      type = this.#documents[node.rules.id] ?? ANY;
      rest = ref.path.slice(i);
    } else type = this.#variables.get(ref.base) ?? ANY;
    for (const part of rest) {
      type = select(type, part, this.#operand(part, file));
      if (type === undefined) {
        if (file !== undefined) this.#report("rego_type_error", `undefined ref: ${refText(ref)}`, file, ref.loc);
        return ANY;
      }
      if (part.kind === "var" && !this.#variables.has(part.variable)) continue;
    }
    return type;
  }

  /** A variable met for the first time has the type of what it is unified with. */
  #assume(operand: Operand, type: Type): void {
    if (operand.kind === "var") {
      if (!this.#variables.has(operand.variable)) this.#variables.set(operand.variable, type);
    } else if (operand.kind === "array" && type.kind === "array") {
      operand.items.forEach((item, i) => {
        this.#assume(item, type.items[i] ?? type.rest ?? ANY);
      });
    } else if (operand.kind === "object" && type.kind === "object") {
      for (const [key, value] of operand.entries) {
        const field = key.kind === "const" ? type.fields.find((f) => f.key === key.value) : undefined;
        this.#assume(value, field?.value ?? type.rest?.value ?? ANY);
      }
    }
  }
}

function refText(ref: RefOperand): string {
  const base = typeof ref.base === "object" ? ref.base.name : ref.base;
  return ref.path.reduce((text, part) => {
    if (part.kind !== "const") return `${text}[_]`;
    return typeof part.value === "string" && /^[A-Za-z_]\w*$/.test(part.value)
      ? `${text}.${part.value}`
      : `${text}[${termText(part.value)}]`;
  }, base);
}

function typeOf(value: Value, depth: number): Type {
  if (value === null) return NULL;
  if (typeof value === "boolean") return BOOLEAN;
  if (typeof value === "string") return STRING;
  if (isNumber(value)) return NUMBER;
  if (depth > 8) return ANY;
  if (isArray(value)) return { kind: "array", items: value.map((item) => typeOf(item, depth + 1)), rest: undefined };
  if (value instanceof RegoSet) return { kind: "set", of: union(value.sorted().map((item) => typeOf(item, depth + 1))) };
  if (!isObject(value)) return ANY;
  const fields: { key: string; value: Type }[] = [];
  for (const key of sortedKeys(value)) {
    if (typeof key !== "string") return { kind: "object", fields: [], rest: { key: ANY, value: ANY } };
    fields.push({ key, value: typeOf(getKey(value, key) as Value, depth + 1) });
  }
  return { kind: "object", fields, rest: undefined };
}

const MAX_WEIGHT = 200;

/** What is left of `room` when each type in a type takes a place, shared ones each time; it stops where nothing is left. */
function roomLeft(type: Type, room: number): number {
  let left = room - 1;
  switch (type.kind) {
    case "any":
      for (let i = 0; i < type.of.length && left >= 0; i++) left = roomLeft(type.of[i] as Type, left);
      return left;
    case "array":
      for (let i = 0; i < type.items.length && left >= 0; i++) left = roomLeft(type.items[i] as Type, left);
      return type.rest === undefined || left < 0 ? left : roomLeft(type.rest, left);
    case "set":
      return left < 0 ? left : roomLeft(type.of, left);
    case "object":
      for (let i = 0; i < type.fields.length && left >= 0; i++) left = roomLeft(type.fields[i]?.value as Type, left);
      return left;
    default:
      return left;
  }
}

/** Types that grow too large (values may share structure without bound) keep only their kind. */
function bounded(type: Type): Type {
  if (roomLeft(type, MAX_WEIGHT) >= 0) return type;
  switch (type.kind) {
    case "array":
      return { kind: "array", items: [], rest: ANY };
    case "set":
      return { kind: "set", of: ANY };
    case "object":
      return { kind: "object", fields: [], rest: { key: ANY, value: ANY } };
    default:
      return ANY;
  }
}

const MAX_UNION = 16;

function union(types: readonly Type[]): Type {
  const of: Type[] = [];
  for (const type of types) {
    const parts = type.kind === "any" ? type.of : [type];
    if (type.kind === "any" && type.of.length === 0) return ANY;
    for (const part of parts) {
      if (!of.some((known) => show(known) === show(part))) of.push(part);
      if (of.length > MAX_UNION) return ANY;
    }
  }
  return of.length === 1 ? (of[0] as Type) : { kind: "any", of };
}

/** False if no value has both types. Empty collections are of every element type. */
function overlap(a: Type, b: Type): boolean {
  if (a.kind === "any") return a.of.length === 0 || a.of.some((part) => overlap(part, b));
  if (b.kind === "any") return overlap(b, a);
  if (a.kind !== b.kind) return false;
  if (a.kind === "array" && b.kind === "array") {
    if (a.rest === undefined && b.rest === undefined && a.items.length !== b.items.length) return false;
    const n = Math.max(a.items.length, b.items.length);
    for (let i = 0; i < n; i++) {
      const [x, y] = [a.items[i] ?? a.rest, b.items[i] ?? b.rest];
      if (x === undefined || y === undefined || !overlap(x, y)) return false;
    }
    return true;
  }
  if (a.kind === "set" && b.kind === "set") {
    return (a.of.kind === "any" && a.of.of.length === 0) || overlap(a.of, b.of);
  }
  return true;
}

/** The type below a part of a ref; undefined if there can be nothing. */
function select(type: Type, part: Operand, partType: Type): Type | undefined {
  switch (type.kind) {
    case "any": {
      if (type.of.length === 0) return ANY;
      const found = type.of.map((one) => select(one, part, partType)).filter((one) => one !== undefined);
      return found.length === 0 ? undefined : union(found);
    }
    case "array":
      if (part.kind === "const") {
        // of an empty literal nothing is known
        if (type.items.length === 0 && type.rest === undefined) return ANY;
        return typeof part.value === "number" ? (type.items[part.value] ?? type.rest) : undefined;
      }
      if (!overlap(partType, NUMBER)) return undefined;
      return union([...type.items, ...(type.rest === undefined ? [] : [type.rest])]);
    case "object":
      if (part.kind === "const") {
        if (type.fields.length === 0 && type.rest === undefined) return ANY;
        return type.fields.find(({ key }) => key === part.value)?.value ?? type.rest?.value;
      }
      return union([...type.fields.map(({ value }) => value), ...(type.rest === undefined ? [] : [type.rest.value])]);
    case "set":
      return type.of;
    default:
      return undefined;
  }
}

/** As OPA writes it. */
function show(type: Type): string {
  switch (type.kind) {
    case "any":
      return type.of.length === 0 ? "any" : `any<${type.of.map(show).join(", ")}>`;
    case "array":
      return `array${listed(type.items.map(show))}${type.rest === undefined ? "" : `[${show(type.rest)}]`}`;
    case "set":
      return `set[${show(type.of)}]`;
    case "object": {
      const rest = type.rest === undefined ? "" : `[${show(type.rest.key)}: ${show(type.rest.value)}]`;
      return `object${listed(type.fields.map(({ key, value }) => `${key}: ${show(value)}`))}${rest}`;
    }
    default:
      return type.kind;
  }
}

function listed(parts: readonly string[]): string {
  return parts.length === 0 ? "" : `<${parts.join(", ")}>`;
}
