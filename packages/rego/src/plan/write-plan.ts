import type { Builtin } from "../builtins/builtin.ts";
import type { Action, Callee, Closure, LoweredRule, Operand, Override, Statement, Variable } from "../compile/ir.ts";
import type { RuleNode, RuleSet } from "../compile/tree.ts";
import type { Compiled, Intermediate } from "../engine/compile-modules.ts";
import { Decimal, numberText } from "../value/number.ts";
import { getKey, isArray, isNumber, RegoObject, RegoSet, type Value } from "../value/value.ts";
import type {
  Plan,
  PlannedAction,
  PlannedCallee,
  PlannedClosure,
  PlannedOperand,
  PlannedOverride,
  PlannedRule,
  PlannedSet,
  PlannedStatement,
  PlannedValue,
} from "./plan.ts";
import { signatureOf } from "./signature.ts";

/** A document that a plan answers for, and the node of the rule tree whose rules make it. */
export interface Entrypoint {
  readonly path: readonly string[];
  readonly node: RuleNode;
}

/** The plan of a policy for these entrypoints: what none of them reads is left out. */
export function planOf(
  compiled: Compiled,
  intermediate: Intermediate,
  entrypoints: readonly Entrypoint[],
  own: readonly Builtin[],
): Plan {
  const { lowered, ordered, reads } = intermediate;
  const used = reachable(
    entrypoints.map(({ node }) => node),
    reads,
  );
  const builtins = new Set<string>();
  const rule = (one: LoweredRule): PlannedRule => new RuleWriter(ordered, builtins).rule(one);
  const sets = lowered.map(({ set, rules, fallback }): PlannedSet => {
    const head = { path: set.node.path, kind: set.kind, arity: set.arity, ...set.place };
    if (!used.has(set)) return head;
    return { ...head, rules: rules.map(rule), ...(fallback === undefined ? {} : { default: rule(fallback) }) };
  });
  const names = [...builtins].sort();
  return {
    entrypoints: entrypoints.map(({ path }) => path),
    packages: compiled.modules.map(({ packagePath }) => packagePath),
    sets,
    builtins: names,
    own: own.filter(({ name }) => builtins.has(name)).map((builtin) => ({ name: builtin.name, signature: signatureOf(builtin) })),
  };
}

/** The rules that are read at these nodes, directly or not. */
function reachable(nodes: readonly RuleNode[], reads: Intermediate["reads"]): ReadonlySet<RuleSet> {
  const found = new Set<RuleSet>();
  const open = [...nodes];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const below of (node.mixed ?? node).subtree()) {
      if (below.rules === undefined || found.has(below.rules)) continue;
      found.add(below.rules);
      open.push(...(reads.get(below.rules) ?? []));
    }
  }
  return found;
}

/** The text of a plan, or of base documents: JSON, numbers with all their digits. */
export function losslessJson(value: unknown): string {
  if (isNumber(value)) return numberText(value);
  if (Array.isArray(value)) return `[${value.map(losslessJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${losslessJson(member)}`);
  return `{${members.join(",")}}`;
}

/** Writes one rule. */
class RuleWriter {
  readonly #ordered: Intermediate["ordered"];
  readonly #builtins: Set<string>;
  readonly #generated = new Set<number>();

  constructor(ordered: Intermediate["ordered"], builtins: Set<string>) {
    this.#ordered = ordered;
    this.#builtins = builtins;
  }

  rule({ file, row, args, branches }: LoweredRule): PlannedRule {
    const written = {
      args: this.#operands(args),
      branches: branches.map(({ statements, path, key, value, loc }) => ({
        body: this.#body(statements),
        path: this.#operands(path),
        ...(key === undefined ? {} : { key: this.#operand(key) }),
        ...(value === undefined ? {} : { value: this.#operand(value) }),
        row: loc.row,
      })),
    };
    return { file, row, ...written, generated: [...this.#generated].sort((a, b) => a - b) };
  }

  /** A body that is never evaluated has no order. */
  #body(statements: readonly Statement[]): readonly PlannedStatement[] {
    return (this.#ordered.get(statements) ?? statements).map(({ action, negated, overrides, loc }) => ({
      ...this.#action(action),
      ...(negated ? { not: true } : {}),
      ...(overrides.length === 0 ? {} : { with: overrides.map((override) => this.#override(override)) }),
      row: loc.row,
    }));
  }

  #closure({ literals, captured }: Closure): PlannedClosure {
    return { body: this.#body(literals), captured: captured.map((variable) => this.#slot(variable)) };
  }

  #action(action: Action): PlannedAction {
    switch (action.kind) {
      case "unify":
        return { unify: [this.#operand(action.left), this.#operand(action.right)] };
      case "term":
        return { term: this.#operand(action.operand) };
      case "call":
        return {
          call: this.#callee(action.callee),
          args: this.#operands(action.args),
          ...(action.out === undefined ? {} : { out: this.#operand(action.out) }),
        };
      case "every":
        return {
          every: this.#closure(action.body),
          in: this.#operand(action.domain),
          ...(action.key === undefined ? {} : { key: this.#slot(action.key) }),
          value: this.#slot(action.value),
        };
    }
  }

  #callee(callee: Callee): PlannedCallee {
    if (callee.kind === "rules") return callee.set.id;
    this.#builtins.add(callee.name);
    return callee.name;
  }

  #override({ target, value, late }: Override): PlannedOverride {
    const at =
      target.kind === "function"
        ? { function: target.name }
        : target.kind === "input"
          ? { input: target.path }
          : { data: target.path };
    if (value.kind === "rules" || value.kind === "builtin") return { ...at, call: this.#callee(value) };
    return { ...at, put: this.#operand(value), ...(late === undefined ? {} : { late }) };
  }

  #slot(variable: Variable): number {
    if (variable.generated) this.#generated.add(variable.slot);
    return variable.slot;
  }

  #operands(operands: readonly Operand[]): readonly PlannedOperand[] {
    return operands.map((operand) => this.#operand(operand));
  }

  #operand(operand: Operand): PlannedOperand {
    switch (operand.kind) {
      case "const": {
        const { value } = operand;
        if (typeof value !== "object" || value === null || value instanceof Decimal) return value;
        return isJson(value) ? { const: value } : { value: writtenValue(value) };
      }
      case "var":
        return { var: this.#slot(operand.variable) };
      case "ref": {
        const path = this.#operands(operand.path);
        if (operand.base === "input") return { input: path };
        return operand.base === "data" ? { data: path } : { ref: this.#slot(operand.base), path };
      }
      case "array":
        return { array: this.#operands(operand.items) };
      case "set":
        return { set: this.#operands(operand.items) };
      case "object":
        return { object: operand.entries.map(([key, value]) => [this.#operand(key), this.#operand(value)]) };
      case "comprehension":
        return {
          comprehension: operand.makes,
          ...(operand.key === undefined ? {} : { key: this.#operand(operand.key) }),
          of: this.#operand(operand.value),
          from: this.#closure(operand.body),
          row: operand.loc.row,
        };
      case "template":
        return {
          template: operand.parts.map((part) =>
            typeof part === "string" ? part : { of: this.#operand(part.value), from: this.#closure(part.body) },
          ),
          row: operand.loc.row,
        };
    }
  }
}

/** Whether JSON can say it. */
function isJson(value: Value): boolean {
  if (typeof value !== "object" || value === null || value instanceof Decimal) return true;
  if (value instanceof RegoSet || value instanceof RegoObject) return false;
  return isArray(value) ? value.every(isJson) : Object.values(value).every(isJson);
}

function writtenValue(value: Value): PlannedValue {
  if (typeof value !== "object" || value === null || value instanceof Decimal) return value;
  if (isArray(value)) return { array: value.map(writtenValue) };
  if (value instanceof RegoSet) return { set: value.sorted().map(writtenValue) };
  const keys: readonly Value[] = value instanceof RegoObject ? value.sorted() : Object.keys(value);
  return { object: keys.map((key) => [writtenValue(key), writtenValue(getKey(value, key) as Value)]) };
}
