import type { BuiltinTable } from "../builtins/builtin.ts";
import type { Context, Frame, Step } from "../eval/context.ts";
import { type Document, documentOf, type Program } from "../eval/documents.ts";
import { equal, RegoObject, RegoSet, type Value } from "../value/value.ts";
import { type Arrange, conflict, Emitter, fold, isDeterministic, type Piece, type Probe } from "./emit.ts";
import type { Branch, LoweredRule, Operand } from "./ir.ts";
import { indexRules, type RuleIndex } from "./rule-index.ts";
import type { Report, RuleSet } from "./tree.ts";

export interface RuleOptions {
  readonly program: Program;
  readonly builtins: BuiltinTable;
  readonly report: Report;
  readonly arrange: Arrange;
  readonly probe: RuleProbe | undefined;
}

export interface RuleProbe extends Probe {
  /** A rule's body is about to run, for the branch at `loc`. */
  enter?(set: RuleSet, branch: Branch): void;
  leave?(file: string, set: RuleSet, branch: Branch, held: boolean): void;
}

/** One branch's solutions: the first value, or every key, depending on what its rule makes. */
interface CompiledBranch {
  readonly branch: Branch;
  readonly pieces: readonly Piece[];
  readonly emitter: Emitter;
}

interface CompiledRule {
  readonly lowered: LoweredRule;
  readonly bind: (c: Context, f: Frame, values: readonly Value[]) => boolean;
  readonly branches: readonly CompiledBranch[];
}

/** Turns the rules of one path into its document. */
export function emitRules(
  set: RuleSet,
  rules: readonly LoweredRule[],
  fallback: LoweredRule | undefined,
  options: RuleOptions,
): Document {
  const compiled = rules.map((rule) => compileRule(rule, options));
  const all = rules.map((_, i) => i);
  // what is traced names every rule that was tried
  const index = (options.probe?.exhaustive === true ? undefined : indexRules(rules)) ?? (() => all);
  switch (set.kind) {
    case "complete":
    case "function":
      return single(set, compiled, fallback === undefined ? undefined : compileRule(fallback, options), index, options);
    case "set":
      return { evaluate: partialSet(set, compiled, index, options), call: () => undefined };
    case "object":
      return { evaluate: partialObject(set, compiled, index, options), call: () => undefined };
  }
}

function compileRule(lowered: LoweredRule, o: RuleOptions): CompiledRule {
  const emitter = new Emitter({
    program: o.program,
    builtins: o.builtins,
    report: o.report,
    file: lowered.file,
    frame: lowered.frame,
    arrange: o.arrange,
    probe: o.probe,
  });
  const bind = emitter.arguments(lowered.args);
  const branches = lowered.branches.map((branch) => {
    const pieces = emitter.pieces(branch.statements, [...branch.path, branch.key, branch.value], branch.loc);
    return { branch, pieces, emitter };
  });
  return { lowered, bind, branches };
}

const NO_ARGUMENTS: readonly Value[] = [];

type Run = (c: Context, values: readonly Value[]) => Value | undefined;

/** Complete rules and functions. */
function single(
  set: RuleSet,
  rules: readonly CompiledRule[],
  fallback: CompiledRule | undefined,
  index: RuleIndex,
  o: RuleOptions,
): Document {
  const runs = rules.map((rule) => runRule(set, rule, o));
  const otherwise = fallback === undefined ? undefined : runRule(set, fallback, o);
  const constant = sameConstant(rules);
  const message =
    set.kind === "function"
      ? "functions must not produce multiple outputs for same inputs"
      : "complete rules must not produce multiple outputs";
  const evaluate: Run = (c, values) => {
    let result: Value | undefined;
    const tried = index(c, values);
    for (let i = 0; i < tried.length; i++) {
      const at = tried[i] as number;
      const value = (runs[at] as Run)(c, values);
      if (value === undefined) continue;
      if (constant) return value;
      if (result === undefined) result = value;
      else if (!equal(result, value)) {
        const { lowered } = rules[at] as CompiledRule;
        throw conflict(lowered.file, lowered.row, message);
      }
    }
    return result === undefined && otherwise !== undefined ? otherwise(c, values) : result;
  };
  const only = runs.length === 1 && otherwise === undefined ? (runs[0] as Run) : evaluate;
  return { evaluate: (c) => only(c, NO_ARGUMENTS), call: only };
}

/** Every rule yields the same constant: the first that holds decides. */
function sameConstant(rules: readonly CompiledRule[]): boolean {
  const values = rules.flatMap((rule) => rule.branches.map(({ branch }) => branch.value));
  const [first] = values;
  return first?.kind === "const" && values.every((v) => v?.kind === "const" && equal(v.value, first.value));
}

function runRule(set: RuleSet, rule: CompiledRule, o: RuleOptions): Run {
  const { frame } = rule.lowered;
  const branches = rule.branches.map((branch) => runBranch(set, rule, branch, o));
  const { bind } = rule;
  const hasArgs = rule.lowered.args.length > 0;
  if (branches.length === 1) {
    const [run] = branches as [BranchRun];
    return (c, values) => {
      const f: Frame = new Array(frame.size);
      return hasArgs && !bind(c, f, values) ? undefined : run(c, f);
    };
  }
  return (c, values) => {
    const f: Frame = new Array(frame.size);
    if (hasArgs && !bind(c, f, values)) return undefined;
    for (const run of branches) {
      const value = run(c, f);
      if (value !== undefined) return value;
    }
    return undefined;
  };
}

type BranchRun = (c: Context, f: Frame) => Value | undefined;

function runBranch(set: RuleSet, rule: CompiledRule, compiled: CompiledBranch, o: RuleOptions): BranchRun {
  const { branch, pieces, emitter } = compiled;
  const value = emitter.evaluate(branch.value as Operand);
  const { file } = rule.lowered;
  let run: BranchRun;
  if (pieces.length === 0) run = value;
  else if (isDeterministic(pieces) || branch.value?.kind === "const") {
    const holds = fold(pieces, () => true);
    run = (c, f) => (holds(c, f) ? value(c, f) : undefined);
  } else {
    const message =
      set.kind === "function"
        ? "functions must not produce multiple outputs for same inputs"
        : "complete rules must not produce multiple outputs";
    const { row } = branch.loc;
    const body = fold(pieces, (c, f) => {
      const v = value(c, f);
      if (v === undefined) return false;
      if (f[0] === undefined) f[0] = v;
      else if (!equal(f[0] as Value, v)) throw conflict(file, row, message);
      return false;
    });
    run = (c, f) => {
      f[0] = undefined;
      body(c, f);
      return f[0] as Value | undefined;
    };
  }
  const { probe } = o;
  if (probe === undefined) return run;
  return (c, f) => {
    probe.enter?.(set, branch);
    const v = run(c, f);
    probe.leave?.(file, set, branch, v !== undefined);
    return v;
  };
}

function partialSet(
  set: RuleSet,
  rules: readonly CompiledRule[],
  index: RuleIndex,
  o: RuleOptions,
): (c: Context) => Value | undefined {
  const bodies = rules.map((rule) => {
    const { branch, pieces, emitter } = rule.branches[0] as CompiledBranch;
    const key = emitter.evaluate(branch.key as Operand);
    const body = fold(pieces, (c, f) => {
      const k = key(c, f);
      if (k !== undefined) (f[0] as RegoSet).add(k);
      return false;
    });
    return probed(set, rule, branch, body, o);
  });
  return (c) => {
    const out = new RegoSet();
    for (const i of index(c, NO_ARGUMENTS)) {
      const f: Frame = new Array((rules[i] as CompiledRule).lowered.frame.size);
      f[0] = out;
      (bodies[i] as Step)(c, f);
    }
    return out;
  };
}

function probed(set: RuleSet, rule: CompiledRule, branch: Branch, body: Step, o: RuleOptions): Step {
  const { probe } = o;
  if (probe === undefined) return body;
  const { file } = rule.lowered;
  return (c, f) => {
    probe.enter?.(set, branch);
    const before = sizeOf(f[0]);
    body(c, f);
    probe.leave?.(file, set, branch, sizeOf(f[0]) > before);
    return false;
  };
}

function sizeOf(result: unknown): number {
  return result instanceof RegoSet ? result.size : result instanceof Tree ? result.size : 0;
}

/** A set under construction from `contains` rules below a computed path. */
class Many {
  readonly set = new RegoSet();
}

type TreeNode = Tree | Many | Value;

/** An object under construction from rules with computed paths. */
class Tree {
  readonly children = new RegoObject();
  readonly #nodes: TreeNode[] = [];
  size = 0;

  /** The subtree or value at a key; numbers in `children` index `nodes`, which may hold what is no value. */
  at(key: Value): TreeNode | undefined {
    const index = this.children.get(key);
    return index === undefined ? undefined : this.#nodes[index as number];
  }

  put(key: Value, node: TreeNode): void {
    this.children.set(key, this.#nodes.length);
    this.#nodes.push(node);
  }

  finish(): RegoObject {
    const out = new RegoObject();
    for (const key of this.children.sorted()) {
      const node = this.at(key) as TreeNode;
      out.set(key, node instanceof Tree ? node.finish() : node instanceof Many ? node.set : node);
    }
    return out;
  }
}

const MULTIPLE = "object keys must be unique";

/** Rules with variables in their ref, together with everything the tree has below their path. */
function partialObject(
  set: RuleSet,
  rules: readonly CompiledRule[],
  index: RuleIndex,
  o: RuleOptions,
): (c: Context) => Value | undefined {
  const bodies = rules.map((rule) => {
    const { branch, pieces, emitter } = rule.branches[0] as CompiledBranch;
    const path = branch.path.map((part) => emitter.evaluate(part));
    const many = branch.key !== undefined;
    const leaf = emitter.evaluate((branch.key ?? branch.value) as Operand);
    const { file } = rule.lowered;
    const { row } = branch.loc;
    const body = fold(pieces, (c, f) => {
      const keys: Value[] = [];
      for (const part of path) {
        const key = part(c, f);
        if (key === undefined) return false;
        keys.push(key);
      }
      const v = leaf(c, f);
      if (v !== undefined) insert(f[0] as Tree, keys, v, many, file, row);
      return false;
    });
    return probed(set, rule, branch, body, o);
  });
  const below = [...set.node.subtree()].filter(
    (node) => node !== set.node && node.rules !== undefined && node.rules.kind !== "function",
  );
  const depth = set.node.path.length;
  return (c) => {
    const tree = new Tree();
    for (const i of index(c, NO_ARGUMENTS)) {
      const { lowered } = rules[i] as CompiledRule;
      const f: Frame = new Array(lowered.frame.size);
      f[0] = tree;
      (bodies[i] as Step)(c, f);
    }
    for (const node of below) {
      const inner = node.rules as RuleSet;
      if (inner.kind === "object") {
        const v = documentOf(c, o.program, inner.id);
        if (v instanceof RegoObject) merge(tree, node.path.slice(depth), v, inner);
        continue;
      }
      const v = documentOf(c, o.program, inner.id);
      const { file, row } = inner.place;
      if (v === undefined) continue;
      if (v instanceof RegoSet && inner.kind === "set") {
        for (const item of v.sorted()) insert(tree, node.path.slice(depth), item, true, file, row);
        if (v.size === 0) insert(tree, node.path.slice(depth), undefined, true, file, row);
      } else insert(tree, node.path.slice(depth), v, false, file, row);
    }
    return tree.finish();
  };
}

function merge(tree: Tree, path: readonly Value[], value: RegoObject, set: RuleSet): void {
  const { file, row } = set.place;
  for (const key of value.sorted()) {
    const item = value.get(key) as Value;
    const at = [...path, key];
    const known = find(tree, at);
    if (item instanceof RegoObject && (known === undefined || known instanceof Tree)) {
      if (item.size === 0 && known === undefined) insert(tree, at, item, false, file, row);
      else merge(tree, at, item, set);
    } else insert(tree, at, item, false, file, row);
  }
}

function find(tree: Tree, path: readonly Value[]): TreeNode | undefined {
  let at: TreeNode | undefined = tree;
  for (const key of path) at = at instanceof Tree ? at.at(key) : undefined;
  return at;
}

function insert(tree: Tree, keys: readonly Value[], value: Value | undefined, many: boolean, file: string, row: number): void {
  let at = tree;
  for (let i = 0; i < keys.length - 1; i++) {
    const key = keys[i] as Value;
    const next = at.at(key);
    if (next === undefined) {
      const made = new Tree();
      at.put(key, made);
      at = made;
    } else if (next instanceof Tree) at = next;
    else throw conflict(file, row, MULTIPLE);
  }
  const key = keys[keys.length - 1] as Value;
  const known = at.at(key);
  tree.size++;
  if (many) {
    if (known === undefined) {
      const made = new Many();
      if (value !== undefined) made.set.add(value);
      at.put(key, made);
    } else if (known instanceof Many) {
      if (value !== undefined) known.set.add(value);
    } else throw conflict(file, row, MULTIPLE);
  } else if (value === undefined) return;
  else if (known === undefined) at.put(key, value);
  else if (known instanceof Tree || known instanceof Many || !equal(known, value)) throw conflict(file, row, MULTIPLE);
}
