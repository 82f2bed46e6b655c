import type { BuiltinTable } from "../builtins/builtin.ts";
import { arranging } from "../compile/arrange.ts";
import { type Path, Reads, refText, rulesAt } from "../compile/dependencies.ts";
import { Emitter, fold } from "../compile/emit.ts";
import {
  type Action,
  type Branch,
  type Callee,
  eachVariable,
  Frame as Layout,
  type LoweredRule,
  type Operand,
  operandsOf,
  type RefOperand,
  type Statement,
  type Variable,
} from "../compile/ir.ts";
import { order } from "../compile/order.ts";
import { type PlacedRule, pathText, type RuleNode, type RuleSet, reporter } from "../compile/tree.ts";
import type { Context, Frame, Step } from "../eval/context.ts";
import { Cursor, materialise, type Program, step } from "../eval/documents.ts";
import type { Location } from "../syntax/ast.ts";
import { allocate, tick } from "../value/meter.ts";
import { isInteger } from "../value/number.ts";
import {
  equal,
  getKey,
  isArray,
  isNumber,
  isObject,
  lookup,
  objectSize,
  RegoObject,
  RegoSet,
  sortedKeys,
  type Value,
} from "../value/value.ts";
import {
  ALWAYS,
  and,
  type Comparison,
  type Condition,
  type ConditionCall,
  type ConditionField,
  type ConditionFunction,
  type ConditionValue,
  callsIn,
  compared,
  conditionValue,
  excludes,
  fieldKey,
  isAlways,
  isNever,
  NEVER,
  not,
  oneOf,
  or,
} from "./condition.ts";

/** What of a policy no condition says. */
export type PartialCode =
  /** A function of a column that no condition has, or of arguments that it does not take there. */
  | "partial_function"
  /** `with`, where what it changes or what is asked depends on a row. */
  | "partial_with"
  /** Going through a row or a column, or looking something up in it by what is not constant. */
  | "partial_iteration"
  /** A comprehension, a template string, an array, an object or a set that depends on a row. */
  | "partial_term"
  /** A row, or a document that holds one, as a value. */
  | "partial_row"
  /** What lies below a column. */
  | "partial_path"
  /** A rule or function that may have several values for one row. */
  | "partial_conflict"
  /** A set, an object or a package of rules that depend on a row, as a whole. */
  | "partial_document";

/** Ends a partial evaluation. */
export class PartialRefusal extends Error {
  override readonly name = "PartialRefusal";
  readonly code: PartialCode;
  readonly file: string;
  readonly loc: Location;

  constructor(code: PartialCode, message: string, file: string, loc: Location) {
    super(message);
    this.code = code;
    this.file = file;
    this.loc = loc;
  }
}

/**
 * A value as far as it is known: a document that holds rows (its path below `input`), a column of one or what is made of columns, an array or a set that was written with such a member, or a set of
 * rules that depend on a row.
 */
type Partly =
  | { readonly kind: "known"; readonly value: Value }
  | { readonly kind: "column"; readonly field: ConditionField }
  | { readonly kind: "list"; readonly of: "array" | "set"; readonly items: readonly Partly[] }
  | { readonly kind: "place"; readonly path: readonly string[] }
  | { readonly kind: "elements"; readonly set: RuleSet };

type Bindings = ReadonlyMap<Variable, Partly>;

/** A rule or query while it is evaluated: its variables' frame, and which of them may hang on a row. */
interface Place {
  readonly file: string;
  readonly layout: Layout;
  readonly emitter: Emitter;
  readonly tainted: Set<Variable>;
  readonly plans: Map<readonly Statement[], Plan>;
}

/** The literals of a body in order; those that no row can change are the engine's own steps. */
type Plan = readonly { readonly statement: Statement; readonly variables: readonly Variable[]; readonly run: Step | undefined }[];

interface Prepared {
  readonly place: Place;
  readonly lowered: LoweredRule;
  readonly plans: readonly Plan[];
}

/** What a rule is for the rows of a condition. */
interface Outcome {
  readonly value: Partly;
  readonly condition: Condition;
  readonly rule: number;
  readonly branch: number;
  readonly file: string;
  readonly loc: Location;
}

interface PartialOptions {
  readonly program: Program;
  readonly builtins: BuiltinTable;
  readonly lower: (placed: PlacedRule) => { readonly lowered: LoweredRule; readonly file: string };
  readonly arity: (callee: Callee) => number;
  readonly context: Context;
  /** Paths of rows below `input`, none within another. */
  readonly unknowns: readonly (readonly string[])[];
}

const known = (value: Value): Partly => ({ kind: "known", value });

const COMPARISONS: Readonly<Record<string, Comparison>> = { equal: "eq", neq: "ne", lt: "lt", lte: "le", gt: "gt", gte: "ge" };
const FLIPPED: Readonly<Record<Comparison, Comparison>> = { eq: "eq", ne: "ne", lt: "gt", gt: "lt", le: "ge", ge: "le" };
const TEXTS: ReadonlySet<string> = new Set(["startswith", "endswith", "contains"]);

/** What a function takes in its places: a column that is a number or a text, or what is known alone. */
type Taken = "number" | "text" | "known";
const CALLS: Readonly<Record<string, readonly Taken[]>> = {
  plus: ["number", "number"],
  minus: ["number", "number"],
  mul: ["number", "number"],
  abs: ["number"],
  count: ["text"],
  lower: ["text"],
  upper: ["text"],
  substring: ["text", "known", "known"],
  replace: ["text", "known", "known"],
  trim: ["text", "known"],
  trim_left: ["text", "known"],
  trim_right: ["text", "known"],
  trim_prefix: ["text", "known"],
  trim_suffix: ["text", "known"],
  trim_space: ["text"],
};

/** Go's `unicode.IsSpace`, which `trim_space` asks. */
const SPACES =
  "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000";

/** By Rego's order of all values each kind is a range. */
const KINDS: Readonly<Record<string, (field: ConditionField) => Condition>> = {
  is_null: (field) => compared("eq", field, null),
  is_boolean: (field) => oneOf(field, [false, true]),
  is_number: (field) => and([compared("gt", field, true), compared("lt", field, "")]),
  is_string: (field) => compared("ge", field, ""),
  is_array: () => NEVER,
  is_object: () => NEVER,
  is_set: () => NEVER,
};

/** So many fields has one condition: it becomes a statement of a database. */
const MAX_FIELDS = 10_000;

/** So many calls has one field. */
const MAX_CALLS = 100;

/**
 * Evaluates a body for all rows at once. What no row can change is run by the engine; the rest is followed literal by literal, each solution with the condition that a row must meet for it.
 */
export class PartialEvaluator {
  readonly #o: PartialOptions;
  readonly #prepared = new Map<PlacedRule, Map<string, Prepared>>();
  readonly #documents = new Map<RuleSet, readonly Outcome[]>();
  readonly #depends = new Map<RuleSet, boolean>();
  readonly #calls = new Map<string, { readonly run: Step; readonly layout: Layout; readonly variables: readonly Variable[] }>();

  constructor(options: PartialOptions) {
    this.#o = options;
  }

  /** The condition of the rows for which a query has a solution. */
  query(statements: readonly Statement[], layout: Layout): Condition {
    const place = this.#place("query", layout);
    const found: Condition[] = [];
    this.#solve(place, this.#plan(place, statements), 0, new Map(), ALWAYS, (_, condition) => void found.push(condition));
    return this.#bounded(or(found));
  }

  #bounded(condition: Condition): Condition {
    let left = MAX_FIELDS;
    const open = [condition];
    for (let c = open.pop(); c !== undefined; c = open.pop()) {
      tick();
      if (c.type === "compound") open.push(...c.value);
      else left -= (c.operator === "in" ? c.value.length : 1) + callsIn(c.field);
      if (left < 0) allocate(Number.POSITIVE_INFINITY);
    }
    return condition;
  }

  // --- what hangs on a row -------------------------------------------------------------------------------------------

  #holdsRow(path: Path): boolean {
    const [root, ...parts] = path;
    if (root !== "input") return false;
    return this.#o.unknowns.some((unknown) => {
      const n = Math.min(unknown.length, parts.length);
      for (let i = 0; i < n; i++) if (unknown[i] !== parts[i]) return false;
      return true;
    });
  }

  #readsRow({ paths, callees }: { readonly paths: readonly Path[]; readonly callees: ReadonlySet<RuleSet> }): boolean {
    if (paths.some((path) => this.#holdsRow(path))) return true;
    for (const set of callees) if (this.#dependent(set)) return true;
    return paths.some(
      (path) => path[0] === "data" && rulesAt(this.#o.program.root, path.slice(1)).some((set) => this.#dependent(set)),
    );
  }

  #dependent(set: RuleSet): boolean {
    const told = this.#depends.get(set);
    if (told !== undefined) return told;
    // rules do not ask for themselves
    const rules = set.fallback === undefined ? set.rules : [...set.rules, set.fallback];
    const depends = rules.some((placed) => {
      const reads = new Reads();
      reads.rule(this.#o.lower(placed).lowered);
      return this.#readsRow(reads.found());
    });
    this.#depends.set(set, depends);
    return depends;
  }

  /** Whether anything at or below a node depends on a row; of the document of an object's rules all of it counts. */
  #isDependentNode(node: RuleNode): boolean {
    for (const { rules } of (node.mixed ?? node).subtree()) if (rules !== undefined && this.#dependent(rules)) return true;
    return false;
  }

  // --- bodies --------------------------------------------------------------------------------------------------------

  #place(file: string, layout: Layout): Place {
    const { program, builtins, arity } = this.#o;
    const { report } = reporter();
    const arrange = arranging(arity, report, () => undefined);
    const emitter = new Emitter({ program, builtins, report, file, frame: layout, arrange, probe: undefined });
    return { file, layout, emitter, tainted: new Set(), plans: new Map() };
  }

  #plan(place: Place, statements: readonly Statement[]): Plan {
    const made = place.plans.get(statements);
    if (made !== undefined) return made;
    const { ordered, bound } = order(statements, ({ callee }) => this.#o.arity(callee));
    for (const variable of bound) variable.bound = false;
    const plan = ordered.map((statement) => {
      const direct = new Set<Variable>();
      const captured = new Set<Variable>();
      const operands = [...operandsOf(statement.action)];
      for (const { value } of statement.overrides) if (value.kind !== "rules" && value.kind !== "builtin") operands.push(value);
      for (const operand of operands)
        eachVariable(
          operand,
          (v) => direct.add(v),
          (v) => captured.add(v),
        );
      if (statement.action.kind === "every") for (const v of statement.action.body.captured) captured.add(v);
      const reads = new Reads();
      reads.body([statement]);
      const variables = [...direct];
      const hangs = [...direct, ...captured].some((v) => place.tainted.has(v)) || this.#readsRow(reads.found());
      if (!hangs) {
        return { statement, variables: [...variables, ...captured], run: fold(place.emitter.pieces([statement]), solved) };
      }
      for (const v of variables) {
        if (!v.bound) place.tainted.add(v);
        v.bound = true;
      }
      return { statement, variables, run: undefined };
    });
    place.plans.set(statements, plan);
    return plan;
  }

  #solve(
    place: Place,
    plan: Plan,
    at: number,
    bindings: Bindings,
    condition: Condition,
    found: (bindings: Bindings, condition: Condition) => void,
  ): void {
    tick();
    if (isNever(condition)) return;
    const next = plan[at];
    if (next === undefined) {
      allocate(1);
      found(bindings, condition);
      return;
    }
    const goOn = (more: Bindings, met: Condition): void => this.#solve(place, plan, at + 1, more, and([condition, met]), found);
    if (next.run === undefined) this.#statement(place, next.statement, bindings, goOn);
    else for (const more of this.#run(place, next.run, next.variables, bindings)) goOn(more, ALWAYS);
  }

  /** The solutions of a literal that no row changes, by the engine. */
  #run(place: Place, run: Step, variables: readonly Variable[], bindings: Bindings): readonly Bindings[] {
    const f: Frame = new Array(place.layout.size);
    for (const variable of variables) {
      const value = bindings.get(variable);
      if (value?.kind === "known") f[variable.slot] = value.value;
    }
    const solutions: Bindings[] = [];
    f[0] = (): void => {
      allocate(1);
      const more = new Map(bindings);
      for (const variable of variables) {
        const value = f[variable.slot] as Value | undefined;
        if (value !== undefined && !more.has(variable)) more.set(variable, known(value));
      }
      solutions.push(more);
    };
    run(this.#o.context, f);
    return solutions;
  }

  #statement(place: Place, { action, negated, overrides, loc }: Statement, bindings: Bindings, found: Found): void {
    if (overrides.length > 0) throw this.#refusal(place, loc, "partial_with", "with on what depends on a row");
    if (!negated) this.#action(place, action, loc, bindings, found);
    else {
      const holds: Condition[] = [];
      this.#action(place, action, loc, bindings, (_, condition) => void holds.push(condition));
      found(bindings, not(or(holds), tick));
    }
  }

  #action(place: Place, action: Action, loc: Location, bindings: Bindings, found: Found): void {
    switch (action.kind) {
      case "term":
        this.#value(place, action.operand, bindings, (value, more, condition) => this.#truthy(value, more, condition, found));
        return;
      case "unify":
        this.#unify(place, action.left, action.right, bindings, found);
        return;
      case "call":
        if (action.callee.kind === "rules") this.#ask(place, action.callee.set, action, loc, bindings, found);
        else this.#builtin(place, action.callee.name, action, loc, bindings, found);
        return;
      case "every":
        this.#every(place, action, loc, bindings, found);
    }
  }

  #truthy(value: Partly, bindings: Bindings, condition: Condition, found: Found): void {
    if (value.kind === "column") found(bindings, and([condition, compared("ne", value.field, false)]));
    else if (value.kind !== "known" || value.value !== false) found(bindings, condition);
  }

  #every(place: Place, action: Action & { kind: "every" }, loc: Location, bindings: Bindings, found: Found): void {
    this.#value(place, action.domain, bindings, (domain, more, met) => {
      if (domain.kind !== "known" && domain.kind !== "list")
        throw this.#refusal(place, loc, "partial_iteration", "every over a row or a column");
      if (domain.kind === "known" && !isArray(domain.value) && !isObject(domain.value) && !(domain.value instanceof RegoSet))
        return;
      for (const variable of [action.key, action.value]) {
        if (variable === undefined) continue;
        variable.bound = true;
        let hangs = domain.kind === "list";
        eachVariable(action.domain, (v) => (hangs ||= place.tainted.has(v)));
        if (hangs) place.tainted.add(variable);
      }
      const plan = this.#plan(place, action.body.literals);
      const all: Condition[] = [met];
      for (const [key, item] of membersOf(domain)) {
        const inside = new Map(more).set(action.value, item);
        if (action.key !== undefined) inside.set(action.key, key);
        const holds: Condition[] = [];
        this.#solve(place, plan, 0, inside, ALWAYS, (_, condition) => void holds.push(condition));
        all.push(or(holds));
      }
      found(more, and(all));
    });
  }

  // --- unification ---------------------------------------------------------------------------------------------------

  #isOpen(operand: Operand, bindings: Bindings): boolean {
    let open = false;
    if (operand.kind === "var" || operand.kind === "array" || operand.kind === "object")
      eachVariable(operand, (v) => (open ||= !bindings.has(v)));
    return open;
  }

  #unify(place: Place, left: Operand, right: Operand, bindings: Bindings, found: Found): void {
    if (left.kind === "array" && right.kind === "array") {
      if (left.items.length === right.items.length)
        this.#unifyAll(
          place,
          left.items.map((item, i) => [item, right.items[i] as Operand] as const),
          0,
          bindings,
          ALWAYS,
          found,
        );
      return;
    }
    const [pattern, other] = this.#isOpen(right, bindings) && !this.#isOpen(left, bindings) ? [right, left] : [left, right];
    this.#value(place, other, bindings, (value, more, condition) =>
      this.#match(place, pattern, value, more, (last, met) => found(last, and([condition, met]))),
    );
  }

  #unifyAll(
    place: Place,
    pairs: readonly (readonly [Operand, Operand])[],
    at: number,
    bindings: Bindings,
    condition: Condition,
    found: Found,
  ): void {
    const pair = pairs[at];
    if (pair === undefined) found(bindings, condition);
    else
      this.#unify(place, pair[0], pair[1], bindings, (more, met) =>
        this.#unifyAll(place, pairs, at + 1, more, and([condition, met]), found),
      );
  }

  /** Matches an operand against a value, binding what of it is not bound. */
  #match(place: Place, operand: Operand, value: Partly, bindings: Bindings, found: Found): void {
    if (operand.kind === "var" && !bindings.has(operand.variable)) {
      found(new Map(bindings).set(operand.variable, value), ALWAYS);
      return;
    }
    if (operand.kind === "array" || operand.kind === "object") {
      const of = this.#comparable(place, value, operand.loc);
      // columns are neither
      const parts = of.kind === "column" ? undefined : this.#parts(place, operand, of.value);
      if (parts !== undefined) this.#matchAll(place, parts.operands, parts.values, 0, bindings, ALWAYS, found);
      return;
    }
    this.#value(place, operand, bindings, (other, more, condition) =>
      found(more, and([condition, this.#compare(place, "eq", other, value, operand.loc)])),
    );
  }

  /** The operands of a pattern with the values that they have to match; `undefined` where the whole is of another form. */
  #parts(
    place: Place,
    pattern: Operand & { kind: "array" | "set" | "object" },
    value: Value,
  ): { readonly operands: readonly Operand[]; readonly values: readonly Partly[] } | undefined {
    if (pattern.kind !== "object") {
      if (!isArray(value) || value.length !== pattern.items.length) return undefined;
      return { operands: pattern.items, values: value.map(known) };
    }
    if (!isObject(value) || objectSize(value) !== pattern.entries.length) return undefined;
    const values: Partly[] = [];
    for (const [key] of pattern.entries) {
      if (key.kind !== "const") throw this.#refusal(place, key.loc, "partial_term", "a pattern with computed keys");
      const member = getKey(value, key.value);
      if (member === undefined) return undefined;
      values.push(known(member));
    }
    return { operands: pattern.entries.map(([, item]) => item), values };
  }

  #matchAll(
    place: Place,
    operands: readonly Operand[],
    values: readonly Partly[],
    at: number,
    bindings: Bindings,
    condition: Condition,
    found: Found,
  ): void {
    const operand = operands[at];
    if (operand === undefined) found(bindings, condition);
    else
      this.#match(place, operand, values[at] as Partly, bindings, (more, met) =>
        this.#matchAll(place, operands, values, at + 1, more, and([condition, met]), found),
      );
  }

  #compare(place: Place, operator: Comparison, left: Partly, right: Partly, loc: Location): Condition {
    const a = this.#comparable(place, left, loc);
    const b = this.#comparable(place, right, loc);
    if (a.kind === "column") {
      if (b.kind === "known") return compared(operator, a.field, b.value);
      if (fieldKey(a.field) === fieldKey(b.field))
        return operator === "eq" || operator === "le" || operator === "ge" ? ALWAYS : NEVER;
      return { type: "field", operator, field: a.field, value: { field: b.field } };
    }
    if (b.kind === "column") return compared(FLIPPED[operator], b.field, a.value);
    return equal(a.value, b.value) ? ALWAYS : NEVER;
  }

  #comparable(place: Place, value: Partly, loc: Location): Partly & { kind: "known" | "column" } {
    if (value.kind === "known" || value.kind === "column") return value;
    if (value.kind === "place") throw this.#refusal(place, loc, "partial_row", "a row as a whole");
    if (value.kind === "list") throw this.#refusal(place, loc, "partial_term", "an array or a set that holds a column");
    throw this.#refusal(place, loc, "partial_document", `${value.set.name} as a whole`);
  }

  // --- calls ---------------------------------------------------------------------------------------------------------

  #builtin(place: Place, name: string, action: Action & { kind: "call" }, loc: Location, bindings: Bindings, found: Found): void {
    const answer = (holds: Condition, more: Bindings, met: Condition): void => {
      if (action.out === undefined) {
        found(more, and([met, holds]));
        return;
      }
      for (const [value, condition] of [
        [true, holds],
        [false, not(holds, tick)],
      ] as const)
        this.#match(place, action.out, known(value), more, (last, matched) => found(last, and([met, condition, matched])));
    };
    // what is printed changes nothing
    if (name === "print") {
      found(bindings, ALWAYS);
      return;
    }
    this.#values(place, action.args, 0, [], bindings, ALWAYS, (args, more, met) => {
      const values = args.flatMap((arg) => (arg.kind === "known" ? [arg.value] : []));
      if (values.length === args.length) {
        const value = this.#call(action.callee, values, place);
        if (value === undefined) return;
        if (action.out === undefined) this.#truthy(known(value), more, met, found);
        else this.#match(place, action.out, known(value), more, (last, matched) => found(last, and([met, matched])));
        return;
      }
      const [a, b] = args as readonly [Partly, Partly];
      const operator = Object.hasOwn(COMPARISONS, name) ? COMPARISONS[name] : undefined;
      if (operator !== undefined) answer(this.#compare(place, operator, a, b, loc), more, met);
      else if (name === "internal.member_2") answer(this.#member(place, a, b, loc), more, met);
      else if (TEXTS.has(name))
        this.#holds(place, name as "contains", a, b, loc, (defined, holds) => answer(holds, more, and([met, defined])));
      else if (Object.hasOwn(KINDS, name)) {
        const of = this.#comparable(place, a, loc) as Partly & { kind: "column" };
        answer((KINDS[name] as (typeof KINDS)[string])(of.field), more, met);
      } else {
        const value = this.#made(place, name, action.callee, args, loc);
        if (value === undefined) return;
        const exists: Condition = value.kind === "column" ? { type: "field", operator: "exists", field: value.field } : ALWAYS;
        const both = and([met, exists]);
        if (action.out === undefined) this.#truthy(value, more, both, found);
        else this.#match(place, action.out, value, more, (last, matched) => found(last, and([both, matched])));
      }
    });
  }

  /** Of texts alone: for which rows there is an answer, and for which of those it is true. */
  #holds(
    place: Place,
    operator: "startswith" | "endswith" | "contains",
    text: Partly,
    part: Partly,
    loc: Location,
    found: (defined: Condition, holds: Condition) => void,
  ): void {
    const of = this.#comparable(place, text, loc);
    const wanted = this.#comparable(place, part, loc);
    for (const side of [of, wanted]) if (side.kind === "known" && typeof side.value !== "string") return;
    const field: ConditionField = of.kind === "column" ? of.field : { call: "concat", of: [of.value as string] };
    const value = wanted.kind === "column" ? { field: wanted.field } : (wanted.value as string);
    const texts = [of, wanted].map((side) => (side.kind === "column" ? compared("ge", side.field, "") : ALWAYS));
    found(and(texts), { type: "field", operator, field, value });
  }

  /** What a function makes of columns; `undefined` where it has no answer for any row. */
  #made(place: Place, name: string, callee: Callee, args: readonly Partly[], loc: Location): Partly | undefined {
    const [first, second] = args;
    if (name === "count" && first?.kind === "list" && first.of === "array") return known(first.items.length);
    if (name === "concat" && first?.kind === "known" && second?.kind === "list" && second.of === "array") {
      const glue = first.value;
      const texts = second.items.map((item) => this.#comparable(place, item, loc));
      if (typeof glue !== "string" || texts.some((text) => text.kind === "known" && typeof text.value !== "string"))
        return undefined;
      const of = texts.flatMap((text, i) => [...(i === 0 || glue === "" ? [] : [glue]), argument(text)]);
      return this.#called(place, { call: "concat", of }, loc);
    }
    const parts = args.map((arg) => this.#comparable(place, arg, loc));
    const takes = Object.hasOwn(CALLS, name) ? CALLS[name] : undefined;
    if (takes === undefined || takes.some((each, i) => each === "known" && parts[i]?.kind === "column"))
      throw this.#refusal(place, loc, "partial_function", `${name} of a column`);
    // whether it has an answer hangs on nothing but the kinds of its columns
    const samples = parts.map((part, i) => (part.kind === "known" ? part.value : takes[i] === "number" ? 0 : ""));
    if (this.#call(callee, samples, place) === undefined) return undefined;
    if (parts.some((part) => part.kind === "known" && isNumber(part.value) && !isInteger(part.value)))
      throw this.#refusal(place, loc, "partial_function", `${name} of a column and a fraction, which is rounded here,`);
    if (name === "replace" && samples[1] === "") throw this.#refusal(place, loc, "partial_function", "replace of the empty text");
    const of = parts.map(argument);
    return this.#called(
      place,
      name === "trim_space" ? { call: "trim", of: [...of, SPACES] } : { call: name as ConditionFunction, of },
      loc,
    );
  }

  #called(place: Place, field: ConditionCall, loc: Location): Partly {
    if (callsIn(field) > MAX_CALLS) throw this.#refusal(place, loc, "partial_function", `a term of more than ${MAX_CALLS} calls`);
    return { kind: "column", field };
  }

  #member(place: Place, item: Partly, collection: Partly, loc: Location): Condition {
    if (collection.kind === "elements")
      return or(
        this.#elements(collection.set).map(({ value, condition }) =>
          and([condition, this.#compare(place, "eq", item, value, loc)]),
        ),
      );
    if (collection.kind === "list") return or(collection.items.map((each) => this.#compare(place, "eq", item, each, loc)));
    if (collection.kind !== "known") throw this.#refusal(place, loc, "partial_iteration", "in a row or a column");
    // where both are known the engine has answered
    const { field } = this.#comparable(place, item, loc) as Partly & { kind: "column" };
    const { value } = collection;
    const values = new Map<string, ConditionValue>();
    for (const [, each] of entriesOf(value)) {
      tick();
      const scalar = conditionValue(each);
      if (scalar !== undefined) values.set(JSON.stringify(scalar), scalar);
    }
    return oneOf(field, [...values.values()]);
  }

  /** What a function gives for values that are known. */
  #call(callee: Callee, values: readonly Value[], { file }: Place): Value | undefined {
    const key = `${callee.kind} ${callee.kind === "rules" ? callee.set.id : callee.name}`;
    let call = this.#calls.get(key);
    if (call === undefined) {
      const loc: Location = { row: 1, col: 1, offset: 0 };
      const layout = new Layout();
      const variables = [...values, undefined].map(() => layout.variable("_", false, loc));
      for (const variable of variables.slice(0, -1)) variable.bound = true;
      const operands = variables.map((variable): Operand => ({ kind: "var", variable, loc }));
      const action: Action = { kind: "call", callee, args: operands.slice(0, -1), out: operands.at(-1) };
      const pieces = this.#place(file, layout).emitter.pieces([{ action, negated: false, overrides: [], loc }]);
      call = { run: fold(pieces, solved), layout, variables };
      this.#calls.set(key, call);
    }
    const f: Frame = new Array(call.layout.size);
    for (const [i, { slot }] of call.variables.entries()) f[slot] = values[i];
    const out = call.variables.at(-1) as Variable;
    let value: Value | undefined;
    f[0] = (): void => {
      value = f[out.slot] as Value;
    };
    call.run(this.#o.context, f);
    return value;
  }

  #ask(place: Place, set: RuleSet, action: Action & { kind: "call" }, loc: Location, bindings: Bindings, found: Found): void {
    this.#values(place, action.args, 0, [], bindings, ALWAYS, (args, more, met) => {
      const give = (value: Partly, condition: Condition): void => {
        const both = and([met, condition]);
        if (action.out === undefined) this.#truthy(value, more, both, found);
        else this.#match(place, action.out, value, more, (last, matched) => found(last, and([both, matched])));
      };
      const values = args.flatMap((arg) => (arg.kind === "known" ? [arg.value] : []));
      if (values.length === args.length && !this.#dependent(set)) {
        const value = this.#call(action.callee, values, place);
        if (value !== undefined) give(known(value), ALWAYS);
      } else for (const { value, condition } of this.#single(set, args, place, loc)) give(value, condition);
    });
  }

  // --- rules ---------------------------------------------------------------------------------------------------------

  /** A rule with its arguments, of which `pattern` says which are known. */
  #prepare(placed: PlacedRule, args: readonly Partly[]): Prepared {
    const pattern = args.map(({ kind }) => (kind === "known" ? "k" : "u")).join("");
    let all = this.#prepared.get(placed);
    if (all === undefined) {
      all = new Map();
      this.#prepared.set(placed, all);
    }
    const made = all.get(pattern);
    if (made !== undefined) return made;
    const { lowered, file } = this.#o.lower(placed);
    const place = this.#place(file, lowered.frame);
    for (const [i, arg] of lowered.args.entries())
      eachVariable(arg, (v) => {
        v.bound = true;
        if (args[i]?.kind !== "known") place.tainted.add(v);
      });
    const plans = lowered.branches.map(({ statements }) => this.#plan(place, statements));
    const prepared = { place, lowered, plans };
    all.set(pattern, prepared);
    return prepared;
  }

  /** Complete rules and functions: what they are, for which rows. */
  #single(set: RuleSet, args: readonly Partly[], place: Place, loc: Location): readonly Outcome[] {
    const outcomes = set.rules.flatMap((placed, rule) => this.#rule(placed, rule, args));
    const values: Outcome[][] = [];
    for (const outcome of outcomes) {
      const same = values.find(([of]) => {
        tick();
        return isSame((of as Outcome).value, outcome.value);
      });
      if (same === undefined) values.push([outcome]);
      else same.push(outcome);
    }
    for (const [i, some] of values.entries())
      for (const a of some)
        for (const b of values.slice(i + 1).flat()) {
          tick();
          if ((a.rule === b.rule && a.branch !== b.branch) || excludes(a.condition, b.condition, tick)) continue;
          throw new PartialRefusal("partial_conflict", `${set.name} may have several values for one row`, b.file, b.loc);
        }
    if (set.fallback === undefined) return outcomes;
    const none = not(or(outcomes.map(({ condition }) => condition)), tick);
    if (isNever(none)) return outcomes;
    const fallback = this.#rule(set.fallback, -1, args).map((outcome) => ({
      ...outcome,
      condition: and([none, outcome.condition]),
    }));
    if (fallback.length > 1)
      throw this.#refusal(place, loc, "partial_conflict", `${set.name} may have several values for one row`);
    return [...outcomes, ...fallback];
  }

  #rule(placed: PlacedRule, rule: number, args: readonly Partly[]): readonly Outcome[] {
    const { place, lowered, plans } = this.#prepare(placed, args);
    const outcomes: Outcome[] = [];
    this.#matchAll(place, lowered.args, args, 0, new Map(), ALWAYS, (bindings, met) => {
      let before = met;
      for (const [branch, plan] of plans.entries()) {
        if (isNever(before)) break;
        const { value, loc } = lowered.branches[branch] as Branch;
        const holds: Condition[] = [];
        this.#solve(place, plan, 0, bindings, ALWAYS, (more, condition) => {
          if (value === undefined) return;
          this.#value(place, value, more, (of, _, told) => {
            const holding = and([condition, told]);
            holds.push(holding);
            if (!isNever(and([before, holding])))
              outcomes.push({ value: of, condition: and([before, holding]), rule, branch, file: place.file, loc });
          });
        });
        before = and([before, not(or(holds), tick)]);
      }
    });
    return outcomes;
  }

  /** The elements of a set of rules, for which rows. */
  #elements(set: RuleSet): readonly Outcome[] {
    const made = this.#documents.get(set);
    if (made !== undefined) return made;
    const outcomes = set.rules.flatMap((placed, rule) => {
      const { place, lowered, plans } = this.#prepare(placed, []);
      const out: Outcome[] = [];
      for (const [branch, plan] of plans.entries()) {
        const { key, loc } = lowered.branches[branch] as Branch;
        this.#solve(place, plan, 0, new Map(), ALWAYS, (more, condition) => {
          if (key === undefined) return;
          this.#value(
            place,
            key,
            more,
            (value, _, told) => void out.push({ value, condition: and([condition, told]), rule, branch, file: place.file, loc }),
          );
        });
      }
      return out;
    });
    this.#documents.set(set, outcomes);
    return outcomes;
  }

  #complete(set: RuleSet, place: Place, loc: Location): readonly Outcome[] {
    const made = this.#documents.get(set);
    if (made !== undefined) return made;
    const outcomes = this.#single(set, [], place, loc);
    this.#documents.set(set, outcomes);
    return outcomes;
  }

  // --- operands ------------------------------------------------------------------------------------------------------

  #values(
    place: Place,
    operands: readonly Operand[],
    at: number,
    before: readonly Partly[],
    bindings: Bindings,
    condition: Condition,
    found: (values: readonly Partly[], bindings: Bindings, condition: Condition) => void,
  ): void {
    const operand = operands[at];
    if (operand === undefined) found(before, bindings, condition);
    else
      this.#value(place, operand, bindings, (value, more, met) =>
        this.#values(place, operands, at + 1, [...before, value], more, and([condition, met]), found),
      );
  }

  #value(place: Place, operand: Operand, bindings: Bindings, found: FoundValue): void {
    tick();
    switch (operand.kind) {
      case "const":
        found(known(operand.value), bindings, ALWAYS);
        return;
      case "var": {
        const value = bindings.get(operand.variable);
        if (value === undefined) throw this.#refusal(place, operand.loc, "partial_iteration", "a variable that rows would bind");
        found(value, bindings, ALWAYS);
        return;
      }
      case "ref":
        this.#ref(place, operand, bindings, found);
        return;
      case "array":
      case "set":
        this.#values(place, operand.items, 0, [], bindings, ALWAYS, (items, more, condition) => {
          const values = items.flatMap((item) => (item.kind === "known" ? [item.value] : []));
          if (values.length < items.length) found({ kind: "list", of: operand.kind, items }, more, condition);
          else found(known(operand.kind === "array" ? values : RegoSet.of(values)), more, condition);
        });
        return;
      case "object":
        this.#values(place, operand.entries.flat(), 0, [], bindings, ALWAYS, (items, more, condition) => {
          const values = this.#allKnown(place, items, operand.loc);
          const pairs = operand.entries.map((_, i) => [values[2 * i], values[2 * i + 1]] as [Value, Value]);
          if (new Set(pairs.map(([key]) => JSON.stringify(conditionValue(key) ?? null))).size < pairs.length)
            throw this.#refusal(place, operand.loc, "partial_term", "an object with computed keys");
          found(known(RegoObject.of(pairs)), more, condition);
        });
        return;
      case "comprehension":
        found(known(this.#comprehension(place, operand, bindings)), bindings, ALWAYS);
        return;
      case "template":
        throw this.#refusal(place, operand.loc, "partial_term", "a template string that depends on a row");
    }
  }

  #allKnown(place: Place, items: readonly Partly[], loc: Location): readonly Value[] {
    return items.map((item) => {
      if (item.kind !== "known") throw this.#refusal(place, loc, "partial_term", "an object that holds a column");
      return item.value;
    });
  }

  /** A comprehension whose body holds whatever the row. */
  #comprehension(place: Place, operand: Operand & { kind: "comprehension" }, bindings: Bindings): Value {
    const refuse = (): PartialRefusal =>
      this.#refusal(place, operand.loc, "partial_term", "a comprehension that depends on a row");
    if (operand.makes === "object") throw refuse();
    const items: Value[] = [];
    const plan = this.#plan(place, operand.body.literals);
    this.#solve(place, plan, 0, bindings, ALWAYS, (more, condition) =>
      this.#value(place, operand.value, more, (item, _, met) => {
        if (item.kind !== "known" || !isAlways(and([condition, met]))) throw refuse();
        items.push(item.value);
      }),
    );
    return operand.makes === "array" ? items : RegoSet.of(items);
  }

  // --- refs ----------------------------------------------------------------------------------------------------------

  #ref(place: Place, ref: RefOperand, bindings: Bindings, found: FoundValue): void {
    const { base } = ref;
    if (base === "data") {
      const { program, context } = this.#o;
      this.#fromData(place, new Cursor(program.root, context.data), ref, 0, bindings, found);
    } else if (base === "input") {
      const value = this.#atInput([]);
      if (value !== undefined) this.#walk(place, value, ref, 0, bindings, ALWAYS, found);
    } else
      this.#value(place, { kind: "var", variable: base, loc: ref.loc }, bindings, (value) =>
        this.#walk(place, value, ref, 0, bindings, ALWAYS, found),
      );
  }

  /** What stands at a path below `input`. */
  #atInput(path: readonly string[]): Partly | undefined {
    for (const unknown of this.#o.unknowns) {
      const n = Math.min(unknown.length, path.length);
      if (unknown.slice(0, n).some((name, i) => name !== path[i])) continue;
      return path.length > unknown.length ? { kind: "column", field: refText(["input", ...path]) } : { kind: "place", path };
    }
    let value = this.#o.context.input;
    for (const name of path) value = value === undefined ? undefined : lookup(value, name);
    return value === undefined ? undefined : known(value);
  }

  #walk(
    place: Place,
    from: Partly,
    ref: RefOperand,
    at: number,
    bindings: Bindings,
    condition: Condition,
    found: FoundValue,
  ): void {
    const key = ref.path[at];
    if (key === undefined) {
      if (from.kind !== "column") found(from, bindings, condition);
      else found(from, bindings, and([condition, { type: "field", operator: "exists", field: from.field }]));
      return;
    }
    const isOpen = this.#isOpen(key, bindings);
    if (from.kind === "column") {
      if (isOpen) throw this.#refusal(place, ref.loc, "partial_iteration", "going through a column");
      throw this.#refusal(place, ref.loc, "partial_path", `what lies below the column ${from.field}`);
    }
    if (from.kind === "elements") {
      for (const { value, condition: told } of this.#elements(from.set))
        this.#match(place, key, value, bindings, (more, met) =>
          this.#walk(place, value, ref, at + 1, more, and([condition, told, met]), found),
        );
      return;
    }
    if (from.kind === "place") {
      if (isOpen) throw this.#refusal(place, ref.loc, "partial_iteration", "going through a row");
      this.#value(place, key, bindings, (name, more, met) => {
        if (name.kind !== "known") throw this.#refusal(place, ref.loc, "partial_iteration", "a column that is not named");
        const value = typeof name.value === "string" ? this.#atInput([...from.path, name.value]) : undefined;
        if (value !== undefined) this.#walk(place, value, ref, at + 1, more, and([condition, met]), found);
      });
      return;
    }
    if (isOpen || from.kind === "list")
      for (const [k, v] of membersOf(from)) {
        tick();
        this.#match(place, key, k, bindings, (more, met) =>
          this.#walk(place, v, ref, at + 1, more, and([condition, met]), found),
        );
      }
    else
      this.#value(place, key, bindings, (name, more, met) => {
        const of = this.#comparable(place, name, ref.loc);
        if (of.kind === "column") {
          for (const [k, v] of entriesOf(from.value)) {
            tick();
            const same = and([condition, met, compared("eq", of.field, k)]);
            if (!isNever(same)) this.#walk(place, known(v), ref, at + 1, more, same, found);
          }
          return;
        }
        const value = lookup(from.value, of.value);
        if (value !== undefined) this.#walk(place, known(value), ref, at + 1, more, and([condition, met]), found);
      });
  }

  /** From a place among rules and base documents. */
  #fromData(place: Place, cursor: Cursor, ref: RefOperand, at: number, bindings: Bindings, found: FoundValue): void {
    const { program, context } = this.#o;
    const key = ref.path[at];
    if (key?.kind !== "const" || typeof key.value !== "string") {
      if (this.#isDependentNode(cursor.node))
        throw this.#refusal(place, ref.loc, "partial_document", "a package of rules that depend on a row");
      const value = materialise(context, program, cursor);
      if (value !== undefined) this.#walk(place, known(value), ref, at, bindings, ALWAYS, found);
      return;
    }
    const child = cursor.node.children.get(key.value);
    if (child?.mixed !== undefined && this.#isDependentNode(child))
      throw this.#refusal(place, ref.loc, "partial_document", `${pathText(child.mixed.path)}, an object that depends on a row`);
    const set = child?.rules;
    if (set !== undefined && set.kind !== "function" && this.#dependent(set)) {
      if (set.kind === "complete") {
        for (const { value, condition } of this.#complete(set, place, ref.loc))
          this.#walk(place, value, ref, at + 1, bindings, condition, found);
        return;
      }
      this.#walk(place, { kind: "elements", set }, ref, at + 1, bindings, ALWAYS, found);
      return;
    }
    const next = step(context, program, cursor, key.value);
    if (next instanceof Cursor) this.#fromData(place, next, ref, at + 1, bindings, found);
    else if (next !== undefined) this.#walk(place, known(next), ref, at + 1, bindings, ALWAYS, found);
  }

  #refusal({ file }: Place, loc: Location, code: PartialCode, what: string): PartialRefusal {
    return new PartialRefusal(code, `${what} cannot be a condition`, file, loc);
  }
}

/** The last step of what the engine runs here: slot 0 takes each solution. */
const solved: Step = (_c, f) => {
  (f[0] as () => void)();
  return false;
};

/** An argument of a call as conditions hold it: scalars alone are taken. */
function argument(part: Partly & { kind: "known" | "column" }): ConditionCall["of"][number] {
  return part.kind === "column" ? { field: part.field } : (conditionValue(part.value) as ConditionValue);
}

type Found = (bindings: Bindings, condition: Condition) => void;
type FoundValue = (value: Partly, bindings: Bindings, condition: Condition) => void;

function isSame(a: Partly, b: Partly): boolean {
  if (a.kind === "known") return b.kind === "known" && equal(a.value, b.value);
  if (a.kind === "column") return b.kind === "column" && fieldKey(a.field) === fieldKey(b.field);
  if (a.kind === "list")
    return (
      b.kind === "list" &&
      a.of === b.of &&
      a.items.length === b.items.length &&
      a.items.every((item, i) => isSame(item, b.items[i] as Partly))
    );
  if (a.kind === "elements") return b.kind === "elements" && a.set === b.set;
  return b.kind === "place" && refText(["input", ...a.path]) === refText(["input", ...b.path]);
}

/** The same of what is known, and of what was written with columns in the order in which it was. */
function membersOf(of: Partly & { kind: "known" | "list" }): readonly (readonly [Partly, Partly])[] {
  if (of.kind === "known") return entriesOf(of.value).map(([key, value]) => [known(key), known(value)]);
  return of.items.map((item, i) => [of.of === "array" ? known(i) : item, item]);
}

/** The keys and members of a collection in Rego's order. */
function entriesOf(value: Value): readonly (readonly [Value, Value])[] {
  if (isArray(value)) return value.map((item, i) => [i, item] as const);
  if (value instanceof RegoSet) return value.sorted().map((item) => [item, item] as const);
  return isObject(value) ? sortedKeys(value).map((key) => [key, getKey(value, key) as Value] as const) : [];
}
