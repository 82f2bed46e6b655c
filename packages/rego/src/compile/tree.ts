import { MAX_PROBLEMS, type Problem, type ProblemCode } from "../errors.ts";
import type { Location, Module, Rule, Term } from "../syntax/ast.ts";

/** A rule with the module that holds it. */
export interface PlacedRule {
  readonly rule: Rule;
  readonly module: Module;
}

export type RuleKind = "complete" | "set" | "object" | "function";

/** All rules of one path. `object` rules have variables or other computed parts in their head's ref. */
export class RuleSet {
  readonly id: number;
  readonly node: RuleNode;
  readonly kind: RuleKind;
  readonly rules: PlacedRule[] = [];
  fallback: PlacedRule | undefined;
  readonly arity: number;
  /** Where its first rule stands, the default if there is no other. */
  place: { readonly file: string; readonly row: number } = { file: "", row: 0 };

  constructor(id: number, node: RuleNode, kind: RuleKind, arity: number) {
    this.id = id;
    this.node = node;
    this.kind = kind;
    this.arity = arity;
  }

  get name(): string {
    return pathText(this.node.path);
  }
}

/** One name below `data` under which a policy defines something. */
export class RuleNode {
  readonly path: readonly string[];
  readonly children = new Map<string, RuleNode>();
  rules: RuleSet | undefined;
  /** A module declares this path as its package. */
  isPackage = false;
  /** The nearest node at or above with `object` rules: its document includes this node's. */
  mixed: RuleNode | undefined;

  constructor(path: readonly string[]) {
    this.path = path;
  }

  child(name: string): RuleNode {
    let node = this.children.get(name);
    if (node === undefined) {
      node = new RuleNode([...this.path, name]);
      this.children.set(name, node);
    }
    return node;
  }

  find(path: readonly string[]): RuleNode | undefined {
    let node: RuleNode | undefined = this;
    for (const name of path) node = node?.children.get(name);
    return node;
  }

  /** This node and everything below, without recursion. */
  *subtree(): Generator<RuleNode> {
    const stack: RuleNode[] = [this];
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      yield node;
      stack.push(...node.children.values());
    }
  }
}

/** `data.a.b["c d"]`. */
export function pathText(path: readonly string[]): string {
  return `data${path.map((part) => (/^[A-Za-z_]\w*$/.test(part) ? `.${part}` : `[${JSON.stringify(part)}]`)).join("")}`;
}

export type Report = (code: ProblemCode, message: string, file: string, loc: Location) => void;

/** Collects problems, up to one more than are told of. */
export function reporter(): { readonly report: Report; readonly problems: Problem[] } {
  const problems: Problem[] = [];
  const seen = new Set<string>();
  const report: Report = (code, message, file, loc) => {
    if (problems.length > MAX_PROBLEMS) return;
    const key = `${code}:${message}:${file}:${loc.row}:${loc.col}`;
    if (seen.has(key)) return;
    seen.add(key);
    problems.push({ code, message, file, row: loc.row, col: loc.col });
  };
  return { report, problems };
}

function isName(term: Term): term is Term & { kind: "scalar"; value: string } {
  return term.kind === "scalar" && typeof term.value === "string";
}

/** Parts of a rule's ref that are not names, from the first such part on. */
export function dynamicPart(rule: Rule): readonly Term[] {
  const [, ...rest] = rule.head.ref;
  const first = rest.findIndex((part) => !isName(part));
  return first < 0 ? [] : rest.slice(first);
}

/** Sorts the rules of all modules into a tree by path and reports what cannot stand together. */
export function buildTree(
  modules: readonly Module[],
  report: Report,
): { readonly root: RuleNode; readonly sets: readonly RuleSet[] } {
  const root = new RuleNode([]);
  const sets: RuleSet[] = [];
  for (const module of modules) {
    let node = root;
    for (const part of module.packagePath) node = node.child(part);
    node.isPackage = true;
  }
  for (const module of modules) {
    for (const rule of module.rules) {
      const { head } = rule;
      const name = head.ref[0].name;
      if (name === "data" || name === "input") {
        report("rego_compile_error", `rules must not shadow ${name} (use a different rule name)`, module.name, rule.loc);
        continue;
      }
      let node = root;
      for (const part of module.packagePath) node = node.child(part);
      node = node.child(name);
      for (const part of head.ref.slice(1)) {
        if (!isName(part)) break;
        node = node.child(part.value);
      }
      const dynamic = dynamicPart(rule).length > 0;
      const kind: RuleKind =
        head.args !== undefined ? "function" : dynamic ? "object" : head.key !== undefined ? "set" : "complete";
      const arity = head.args?.length ?? 0;
      if (node.rules === undefined) {
        node.rules = new RuleSet(sets.length, node, kind, arity);
        sets.push(node.rules);
      }
      const set = node.rules;
      if (set.kind !== kind || set.arity !== arity) {
        report("rego_type_error", `conflicting rules ${set.name} found`, module.name, rule.loc);
        continue;
      }
      if (rule.isDefault) {
        if (set.fallback !== undefined) {
          report("rego_type_error", `multiple default rules ${set.name} found`, module.name, rule.loc);
        } else if (kind === "set" || kind === "object") {
          report("rego_type_error", `conflicting rules ${set.name} found`, module.name, rule.loc);
        } else set.fallback = { rule, module };
      } else set.rules.push({ rule, module });
    }
  }
  for (const set of sets) {
    const first = set.rules[0] ?? set.fallback;
    if (first === undefined) continue;
    set.place = { file: first.module.name, row: first.rule.loc.row };
    checkBelow(set, first, report);
  }
  markMixed(root);
  return { root, sets };
}

function checkBelow(set: RuleSet, first: PlacedRule, report: Report): void {
  const { node } = set;
  if (node.isPackage) {
    report(
      "rego_compile_error",
      `package ${pathText(node.path).slice(5)} conflicts with rule ${set.name}`,
      first.module.name,
      first.rule.loc,
    );
    return;
  }
  if (node.children.size === 0 || set.kind === "object") return;
  const below = [...node.children.values()].map((child) => pathText(child.path));
  report("rego_type_error", `rule ${set.name} conflicts with [${below.join(" ")}]`, first.module.name, first.rule.loc);
}

/** Notes for each node whether a node above makes its document. */
export function markMixed(root: RuleNode): void {
  const stack: RuleNode[] = [root];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (node.mixed === undefined && node.rules?.kind === "object") node.mixed = node;
    for (const child of node.children.values()) {
      child.mixed = node.mixed;
      stack.push(child);
    }
  }
}
