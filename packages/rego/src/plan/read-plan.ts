import type { BuiltinTable } from "../builtins/builtin.ts";
import {
  type Action,
  type Callee,
  type Closure,
  Frame,
  type LoweredRule,
  type Operand,
  type Override,
  type Statement,
  type Variable,
} from "../compile/ir.ts";
import { emitRules } from "../compile/rules.ts";
import { markMixed, RuleNode, RuleSet } from "../compile/tree.ts";
import type { Document, Program } from "../eval/documents.ts";
import { LoadError } from "../load/load-error.ts";
import type { Location } from "../syntax/ast.ts";
import { setOwn } from "../value/json.ts";
import { Decimal } from "../value/number.ts";
import { RegoObject, RegoSet, type Value } from "../value/value.ts";
import type {
  Plan,
  PlannedCallee,
  PlannedClosure,
  PlannedOperand,
  PlannedOverride,
  PlannedRule,
  PlannedStatement,
  PlannedValue,
} from "./plan.ts";

/** Makes the closures of a plan. */
export function readPlan(plan: Plan, builtins: BuiltinTable): Program {
  const root = new RuleNode([]);
  const nodeAt = (path: readonly string[]): RuleNode => path.reduce((node, name) => node.child(name), root);
  for (const path of plan.packages) nodeAt(path);
  const sets = plan.sets.map(({ path, kind, arity, file, row }, id) => {
    const node = nodeAt(path);
    const set = new RuleSet(id, node, kind, arity);
    set.place = { file, row };
    node.rules = set;
    return set;
  });
  markMixed(root);
  const documents: Document[] = [];
  const program: Program = { root, documents };
  const options = {
    program,
    builtins,
    probe: undefined,
    arrange: (statements: readonly Statement[]) => statements,
    report: (_code: string, message: string) => {
      throw new LoadError("module_invalid", message);
    },
  };
  for (const [id, { rules, default: fallback }] of plan.sets.entries()) {
    if (rules === undefined) continue;
    const rule = (one: PlannedRule): LoweredRule => new RuleReader(sets, one).rule();
    documents[id] = emitRules(sets[id] as RuleSet, rules.map(rule), fallback === undefined ? undefined : rule(fallback), options);
  }
  return program;
}

function at(row: number): Location {
  return { row, col: 1, offset: 0 };
}

/** Nobody asks where it stands. */
const NOWHERE = at(0);

/** Reads one rule. */
class RuleReader {
  readonly #sets: readonly RuleSet[];
  readonly #rule: PlannedRule;
  readonly #frame = new Frame();
  readonly #variables: Variable[] = [];

  constructor(sets: readonly RuleSet[], rule: PlannedRule) {
    this.#sets = sets;
    this.#rule = rule;
  }

  rule(): LoweredRule {
    const { file, row, args, branches } = this.#rule;
    return {
      file,
      row,
      frame: this.#frame,
      args: this.#operands(args),
      branches: branches.map(({ body, path, key, value, row: line }) => ({
        statements: this.#body(body),
        path: this.#operands(path),
        key: key === undefined ? undefined : this.#operand(key),
        value: value === undefined ? undefined : this.#operand(value),
        loc: at(line),
      })),
    };
  }

  #variable(slot: number): Variable {
    const generated = this.#rule.generated.includes(slot);
    this.#frame.size = Math.max(this.#frame.size, slot + 1);
    this.#variables[slot] ??= { name: generated ? "_" : `slot ${slot}`, slot, generated, loc: NOWHERE, bound: false };
    return this.#variables[slot];
  }

  #body(body: readonly PlannedStatement[]): readonly Statement[] {
    return body.map((statement) => ({
      action: this.#action(statement),
      negated: statement.not === true,
      overrides: (statement.with ?? []).map((override) => this.#override(override)),
      loc: at(statement.row),
    }));
  }

  #closure({ body, captured }: PlannedClosure): Closure {
    return { captured: captured.map((slot) => this.#variable(slot)), literals: this.#body(body) };
  }

  #action(written: PlannedStatement): Action {
    if ("unify" in written) {
      const [left, right] = written.unify;
      return { kind: "unify", left: this.#operand(left), right: this.#operand(right), assignment: false };
    }
    if ("term" in written) return { kind: "term", operand: this.#operand(written.term) };
    if ("call" in written) {
      const out = written.out === undefined ? undefined : this.#operand(written.out);
      return { kind: "call", callee: this.#callee(written.call), args: this.#operands(written.args), out };
    }
    return {
      kind: "every",
      key: written.key === undefined ? undefined : this.#variable(written.key),
      value: this.#variable(written.value),
      domain: this.#operand(written.in),
      body: this.#closure(written.every),
    };
  }

  #callee(written: PlannedCallee): Callee {
    if (typeof written === "string") return { kind: "builtin", name: written };
    const set = this.#sets[written] as RuleSet;
    return { kind: "rules", set, name: set.name };
  }

  #override(written: PlannedOverride): Override {
    const target: Override["target"] =
      "function" in written
        ? { kind: "function", name: written.function }
        : "input" in written
          ? { kind: "input", path: written.input }
          : { kind: "data", path: written.data };
    if ("call" in written) return { target, value: this.#callee(written.call) };
    return { target, value: this.#operand(written.put), ...(written.late === undefined ? {} : { late: true }) };
  }

  #operands(operands: readonly PlannedOperand[]): readonly Operand[] {
    return operands.map((operand) => this.#operand(operand));
  }

  #operand(written: PlannedOperand): Operand {
    const loc = NOWHERE;
    if (typeof written !== "object" || written === null || written instanceof Decimal)
      return { kind: "const", value: written, loc };
    if ("const" in written) return { kind: "const", value: written.const, loc };
    if ("value" in written) return { kind: "const", value: readValue(written.value), loc };
    if ("var" in written) return { kind: "var", variable: this.#variable(written.var), loc };
    if ("input" in written) return { kind: "ref", base: "input", path: this.#operands(written.input), loc };
    if ("data" in written) return { kind: "ref", base: "data", path: this.#operands(written.data), loc };
    if ("ref" in written) return { kind: "ref", base: this.#variable(written.ref), path: this.#operands(written.path), loc };
    if ("array" in written) return { kind: "array", items: this.#operands(written.array), loc };
    if ("set" in written) return { kind: "set", items: this.#operands(written.set), loc };
    if ("object" in written) {
      const entries = written.object.map(([key, value]) => [this.#operand(key), this.#operand(value)] as const);
      return { kind: "object", entries, loc };
    }
    if ("template" in written) {
      const parts = written.template.map((part) =>
        typeof part === "string" ? part : { value: this.#operand(part.of), body: this.#closure(part.from) },
      );
      return { kind: "template", parts, loc: at(written.row) };
    }
    return {
      kind: "comprehension",
      makes: written.comprehension,
      key: written.key === undefined ? undefined : this.#operand(written.key),
      value: this.#operand(written.of),
      body: this.#closure(written.from),
      loc: at(written.row),
    };
  }
}

function readValue(written: PlannedValue): Value {
  if (typeof written !== "object" || written === null || written instanceof Decimal) return written;
  if ("array" in written) return written.array.map(readValue);
  if ("set" in written) return RegoSet.of(written.set.map(readValue));
  const entries = written.object.map(([key, value]) => [readValue(key), readValue(value)] as const);
  if (!entries.every(([key]) => typeof key === "string")) return RegoObject.of(entries);
  const object: Record<string, Value> = {};
  for (const [key, value] of entries) setOwn(object, key as string, value);
  return object;
}
