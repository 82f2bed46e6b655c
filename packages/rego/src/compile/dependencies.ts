import { termText } from "../value/format.ts";
import { compare, type Value } from "../value/value.ts";
import type { Closure, LoweredRule, Operand, RefOperand, Statement, Variable } from "./ir.ts";
import { operandsOf } from "./ir.ts";
import { pathText, type RuleNode, type RuleSet } from "./tree.ts";

/** What a query reads, as refs such as `input.user.roles`, in Rego order. */
export interface Dependencies {
  /** What is given: refs below `input` and `data`, up to the first part that is not constant. */
  readonly base: readonly string[];
  /** What rules make: the rules that the query may ask, functions included. */
  readonly virtual: readonly string[];
}

/** A ref below `input` or `data`: the root first. */
export type Path = readonly Value[];

/** Follows what statements read through all rules that they may ask. `lower` gives the rules of a set. */
export function dependenciesOf(
  statements: readonly Statement[],
  root: RuleNode,
  lower: (set: RuleSet) => readonly LoweredRule[],
): Dependencies {
  const base = new Map<string, Path>();
  const sets = new Set<RuleSet>();
  const open: Reads[] = [new Reads()];
  open[0]?.body(statements);
  for (let reads = open.pop(); reads !== undefined; reads = open.pop()) {
    const { paths, callees } = reads.found();
    const asked = new Set<RuleSet>(callees);
    for (const path of minimal(paths)) {
      const rules = path[0] === "data" ? rulesAt(root, path.slice(1)) : [];
      if (rules.length === 0) base.set(refText(path), path);
      for (const set of rules) asked.add(set);
    }
    for (const set of asked) {
      if (sets.has(set)) continue;
      sets.add(set);
      for (const rule of lower(set)) {
        const inside = new Reads();
        inside.rule(rule);
        open.push(inside);
      }
    }
  }
  const virtual = [...sets].map(({ node }): Path => ["data", ...node.path]);
  return { base: sorted(base.values()), virtual: sorted(virtual) };
}

function sorted(paths: Iterable<Path>): readonly string[] {
  return [...paths].sort(compare).map(refText);
}

export function refText([root, ...parts]: Path): string {
  return `${root}${parts.map((part) => (typeof part === "string" ? pathText([part]).slice(4) : `[${termText(part)}]`)).join("")}`;
}

/** Without those of which a prefix is read. */
function minimal(paths: readonly Path[]): readonly Path[] {
  const out: Path[] = [];
  for (const path of [...paths].sort(compare)) {
    const last = out.at(-1);
    if (last === undefined || !last.every((part, i) => compare(part, path[i] ?? null) === 0)) out.push(path);
  }
  return out;
}

/** The rules that a path reads: those at it or on the way to it, else all below it. */
export function rulesAt(root: RuleNode, path: Path): readonly RuleSet[] {
  let node: RuleNode | undefined = root;
  const out: RuleSet[] = [];
  for (const part of path) {
    node = typeof part === "string" ? node?.children.get(part) : undefined;
    if (node === undefined) return out;
    if (node.rules !== undefined) out.push(node.rules);
  }
  return [...node.subtree()].flatMap(({ rules }) => (rules === undefined ? [] : [rules])).concat(out);
}

/** What one rule or query reads. */
export class Reads {
  readonly #refs: RefOperand[] = [];
  readonly #callees = new Set<RuleSet>();
  /** Refs that a variable stands for. */
  readonly #aliases = new Map<Variable, RefOperand[]>();
  /** Variables read otherwise than as the head of a ref. */
  readonly #whole = new Set<Variable>();
  /** Variables that are heads of refs. */
  readonly #heads = new Set<Variable>();

  rule({ args, branches }: LoweredRule): void {
    for (const arg of args) this.#operand(arg);
    for (const { statements, path, key, value } of branches) {
      this.body(statements);
      for (const operand of [...path, key, value]) if (operand !== undefined) this.#operand(operand);
    }
  }

  body(statements: readonly Statement[]): void {
    for (const { action, overrides } of statements) {
      for (const { target, value } of overrides) {
        if (target.kind !== "function") {
          const loc = { row: 0, col: 0, offset: 0 };
          const path = target.path.map((part): Operand => ({ kind: "const", value: part, loc }));
          this.#refs.push({ kind: "ref", base: target.kind, path, loc });
        }
        if (value.kind === "rules") this.#callees.add(value.set);
        else if (value.kind !== "builtin") this.#operand(value);
      }
      if (action.kind === "unify" && this.#alias(action.left, action.right)) continue;
      if (action.kind === "unify" && this.#alias(action.right, action.left)) continue;
      if (action.kind === "call" && action.callee.kind === "rules") this.#callees.add(action.callee.set);
      for (const operand of operandsOf(action)) this.#operand(operand);
      if (action.kind === "every") this.#closure(action.body);
    }
  }

  #alias(left: Operand, right: Operand): boolean {
    if (left.kind !== "var" || right.kind !== "ref") return false;
    const known = this.#aliases.get(left.variable);
    if (known === undefined) this.#aliases.set(left.variable, [right]);
    else known.push(right);
    this.#inside(right);
    return true;
  }

  #closure({ literals }: Closure): void {
    this.body(literals);
  }

  /** The operands in a ref's brackets. */
  #inside(ref: RefOperand): void {
    if (typeof ref.base === "object") this.#heads.add(ref.base);
    for (const part of ref.path) this.#operand(part);
  }

  #operand(operand: Operand): void {
    switch (operand.kind) {
      case "const":
        return;
      case "var":
        this.#whole.add(operand.variable);
        return;
      case "ref":
        this.#refs.push(operand);
        this.#inside(operand);
        return;
      case "array":
      case "set":
        for (const item of operand.items) this.#operand(item);
        return;
      case "object":
        for (const [key, value] of operand.entries) {
          this.#operand(key);
          this.#operand(value);
        }
        return;
      case "comprehension":
        this.#closure(operand.body);
        if (operand.key !== undefined) this.#operand(operand.key);
        this.#operand(operand.value);
        return;
      case "template":
        for (const part of operand.parts) {
          if (typeof part === "string") continue;
          this.#closure(part.body);
          this.#operand(part.value);
        }
    }
  }

  /** The constant prefixes of everything that is read below `input` and `data`, and the functions that are called. */
  found(): { readonly paths: readonly Path[]; readonly callees: ReadonlySet<RuleSet> } {
    const paths: Path[] = [];
    const add = (ref: RefOperand): void => void paths.push(...this.#resolved(ref, new Set()).map(constantPrefix));
    for (const ref of this.#refs) add(ref);
    for (const [variable, refs] of this.#aliases) {
      // of what only heads other refs those say what is read
      if (this.#whole.has(variable) || !this.#heads.has(variable) || refs.length > 1) for (const ref of refs) add(ref);
    }
    return { paths, callees: this.#callees };
  }

  /** A ref with its head replaced by what the head stands for. */
  #resolved(ref: RefOperand, open: ReadonlySet<Variable>): readonly (readonly (Operand | "input" | "data")[])[] {
    const { base, path } = ref;
    if (typeof base === "string") return [[base, ...path]];
    if (open.has(base)) return [];
    const inner = new Set(open).add(base);
    return (this.#aliases.get(base) ?? []).flatMap((alias) =>
      this.#resolved(alias, inner).map((resolved) => [...resolved, ...path]),
    );
  }
}

function constantPrefix(parts: readonly (Operand | "input" | "data")[]): Path {
  const out: Value[] = [];
  for (const part of parts) {
    if (typeof part === "string") out.push(part);
    else if (part.kind === "const") out.push(part.value);
    else break;
  }
  return out;
}
