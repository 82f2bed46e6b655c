import { type Builtin, type BuiltinTable, checkOperands } from "../builtins/builtin.ts";
import { BuiltinError, EvaluationError } from "../errors.ts";
import type { Context, Eval, Frame, Mock, Overlay, Step, Test } from "../eval/context.ts";
import { Cursor, cursorKeys, documentOf, materialise, type Program, patch, step } from "../eval/documents.ts";
import { isMember } from "../eval/membership.ts";
import type { Location } from "../syntax/ast.ts";
import { termText } from "../value/format.ts";
import { allocate, allocateText, tick } from "../value/meter.ts";
import { add as addNumbers, multiply, subtract } from "../value/number.ts";
import {
  compare,
  equal,
  getKey,
  isArray,
  isObject,
  lookup,
  lookupName,
  objectSize,
  RegoObject,
  RegoSet,
  sortedKeys,
  type Value,
} from "../value/value.ts";
import {
  type Action,
  type Callee,
  eachVariable,
  type Frame as Layout,
  type Operand,
  type Override,
  type RefOperand,
  type Statement,
  sameKey,
  type Variable,
} from "./ir.ts";
import { cannotMatch, isComparable, type Requirement, requirementsOf } from "./selection.ts";
import type { Report, RuleNode } from "./tree.ts";

/** A literal's part: a test, or a generator that runs what follows once per solution. */
export type Piece = { readonly test: Test } | { readonly generate: (next: Step) => Step };

/** Called with each literal by engines compiled for explanation, coverage or a profile. */
export interface Probe {
  /** What the index of rules and the choice of elements would pass over is tried as well. */
  readonly exhaustive: boolean;
  /** A literal is about to be evaluated. */
  reach?(file: string, loc: Location): void;
  /** It holds; what follows it is about to run. */
  literal?(file: string, loc: Location): void;
  /** What followed has run: the literal is asked for its next solution. */
  redo?(file: string, loc: Location): void;
}

/**
 * A body's literals in an order in which each finds its variables bound; undefined where there is none, which has been reported. `checked`
 * is false inside of `every`, where types are not inferred. Leaves no variable bound that was not.
 */
export type Arrange = (statements: readonly Statement[], file: string, checked: boolean) => readonly Statement[] | undefined;

export interface EmitOptions {
  readonly program: Program;
  readonly builtins: BuiltinTable;
  readonly report: Report;
  readonly file: string;
  readonly frame: Layout;
  readonly arrange: Arrange;
  readonly probe: Probe | undefined;
}

const fail: Test = () => false;

/** Literals behind an enumeration that are looked at for what they ask of its elements. */
const MAX_REQUIREMENTS = 8;

/** Compiles statements to closures over a flat frame. Every variable has a fixed slot and a known first binding. */
export class Emitter {
  readonly #o: EmitOptions;
  /** Inside of `every`. */
  #unchecked = false;
  /** A closure is compiled once, wherever it is asked for: the first time binds its variables. */
  readonly #closures = new Map<Operand, Eval>();

  constructor(options: EmitOptions) {
    this.#o = options;
  }

  /** A body that calls `last` for every solution. */
  body(statements: readonly Statement[], last: Step): Step {
    return fold(this.pieces(statements), last);
  }

  /** The pieces of a body, ordered; what it has to bind for `heads` is reported at `loc` where it does not. */
  pieces(statements: readonly Statement[], heads: readonly (Operand | undefined)[] = [], loc?: Location): Piece[] {
    const ordered = this.#o.arrange(statements, this.#o.file, !this.#unchecked);
    if (ordered === undefined) return [{ test: fail }];
    const pieces = ordered.flatMap((statement, i) => this.#statement(statement, ordered, i + 1));
    for (const head of heads) {
      if (head?.kind !== "var" || head.variable.bound) continue;
      this.#o.report("rego_unsafe_var_error", `var ${head.variable.name} is unsafe`, this.#o.file, loc ?? head.loc);
      this.#bind(head.variable);
    }
    return pieces;
  }

  #bind(variable: Variable): void {
    variable.bound = true;
  }

  /** Binds the arguments of a function; the test matches them against the values called with. */
  arguments(args: readonly Operand[]): (c: Context, f: Frame, values: readonly Value[]) => boolean {
    const slots: (readonly [number, number])[] = [];
    const patterns: (readonly [number, Match])[] = [];
    for (const [arg, i] of inBindingOrder(args)) {
      if (arg.kind === "var" && !arg.variable.bound) {
        this.#bind(arg.variable);
        slots.push([arg.variable.slot, i]);
      } else patterns.push([i, this.#pattern(arg)]);
    }
    return (c, f, values) => {
      for (const [slot, i] of slots) f[slot] = values[i];
      for (const [i, match] of patterns) if (!match(c, f, values[i] as Value)) return false;
      return true;
    };
  }

  // --- statements ----------------------------------------------------------------------------------------------------

  /** The pieces of one literal; those from `next` on follow it. */
  #statement(s: Statement, body: readonly Statement[], next: number): Piece[] {
    const { probe, file } = this.#o;
    let pieces: Piece[];
    if (s.overrides.length > 0) pieces = [this.#overridden(this.#core(s), s.overrides)];
    else pieces = this.#selects(s, body, next) ?? this.#core(s);
    if (probe === undefined) return pieces;
    const { loc } = s;
    const told = (tell: (file: string, loc: Location) => void): Piece => ({
      test: () => {
        tell(file, loc);
        return true;
      },
    });
    const { reach, literal, redo } = probe;
    if (reach !== undefined) pieces = [told(reach.bind(probe)), ...pieces];
    if (literal !== undefined) pieces = [...pieces, told(literal.bind(probe))];
    if (redo === undefined || s.negated) return pieces;
    const after = (next: Step): Step => {
      return (c, f) => {
        const stop = next(c, f);
        redo.call(probe, file, loc);
        return stop;
      };
    };
    return [...pieces, { generate: after }];
  }

  #core(s: Statement): Piece[] {
    if (!s.negated) return this.#action(s.action, s.loc);
    const inner = fold(this.#action(s.action, s.loc), () => true);
    return [{ test: (c, f) => !inner(c, f) }];
  }

  #action(action: Action, loc: Location): Piece[] {
    const pieces: Piece[] = [];
    switch (action.kind) {
      case "term": {
        const operand = this.#hoist(action.operand, pieces);
        if (operand.kind === "const") {
          if (operand.value === false) pieces.push({ test: fail });
          return pieces;
        }
        const value = this.evaluate(operand);
        pieces.push({
          test: (c, f) => {
            const v = value(c, f);
            return v !== undefined && v !== false;
          },
        });
        return pieces;
      }
      case "unify":
        if (this.#enumerates(action.left, action.right, pieces)) return pieces;
        this.#unify(this.#hoist(action.left, pieces), this.#hoist(action.right, pieces), pieces, loc);
        return pieces;
      case "call":
        return this.#call(action.callee, action.args, action.out, loc);
      case "every":
        return [{ test: this.#every(action) }];
    }
  }

  #every(action: Action & { kind: "every" }): Test {
    const domain = this.evaluate(action.domain);
    if (action.key !== undefined) this.#bind(action.key);
    this.#bind(action.value);
    // like OPA, no types are inferred inside
    const unchecked = this.#unchecked;
    this.#unchecked = true;
    const body = this.body(action.body.literals, () => true);
    this.#unchecked = unchecked;
    const key = action.key?.slot;
    const slot = action.value.slot;
    return (c, f) => {
      const over = domain(c, f);
      if (over === undefined) return false;
      if (isArray(over)) {
        for (let i = 0; i < over.length; i++) {
          tick();
          if (key !== undefined) f[key] = i;
          f[slot] = over[i];
          if (!body(c, f)) return false;
        }
        return true;
      }
      const isSet = over instanceof RegoSet;
      if (!isSet && !isObject(over)) return false;
      for (const k of isSet ? over.sorted() : sortedKeys(over)) {
        tick();
        if (key !== undefined) f[key] = k;
        f[slot] = isSet ? k : getKey(over, k);
        if (!body(c, f)) return false;
      }
      return true;
    };
  }

  // --- with ----------------------------------------------------------------------------------------------------------

  #overridden(inner: Piece[], overrides: readonly Override[]): Piece {
    const changes = overrides.map((override) => this.#change(override));
    const enter = (c: Context, f: Frame): Saved | undefined => {
      const saved: Saved = { input: c.input, data: c.data, overlay: c.overlay, mocks: c.mocks, memo: c.memo };
      for (const change of changes) {
        tick();
        if (!change(c, f)) {
          restore(c, saved);
          return undefined;
        }
      }
      c.memo = [];
      return saved;
    };
    if (inner.every((piece) => "test" in piece)) {
      const body = fold(inner, () => true);
      return {
        test: (c, f) => {
          const saved = enter(c, f);
          if (saved === undefined) return false;
          const held = body(c, f);
          restore(c, saved);
          return held;
        },
      };
    }
    const slot = this.#o.frame.slot();
    return {
      generate: (next) => {
        const body = fold(inner, (c, f) => {
          const changed: Saved = { input: c.input, data: c.data, overlay: c.overlay, mocks: c.mocks, memo: c.memo };
          restore(c, f[slot] as Saved);
          const stop = next(c, f);
          restore(c, changed);
          return stop;
        });
        return (c, f) => {
          const saved = enter(c, f);
          if (saved === undefined) return false;
          const outer = f[slot];
          f[slot] = saved;
          const stop = body(c, f);
          f[slot] = outer;
          restore(c, saved);
          return stop;
        };
      },
    };
  }

  #change(override: Override): Test {
    const { target, value } = override;
    if (target.kind === "function") {
      const { name } = target;
      if (value.kind === "rules" || value.kind === "builtin") {
        const mock: Mock = { kind: "function", callee: value };
        return (c) => {
          c.mocks = new Map(c.mocks).set(name, mock);
          return true;
        };
      }
      const put = this.evaluate(value);
      if (override.late) {
        const mock: Mock = { kind: "document", read: put };
        return (c) => {
          c.mocks = new Map(c.mocks).set(name, mock);
          return true;
        };
      }
      return (c, f) => {
        const v = put(c, f);
        if (v === undefined) return false;
        c.mocks = new Map(c.mocks).set(name, { kind: "value", value: v });
        return true;
      };
    }
    const put = this.evaluate(value as Operand);
    const { path } = target;
    if (target.kind === "input") {
      return (c, f) => {
        const v = put(c, f);
        if (v === undefined) return false;
        c.input = patch(c.input, path, v);
        return true;
      };
    }
    const { program } = this.#o;
    return (c, f) => {
      const v = put(c, f);
      if (v === undefined) return false;
      c.overlay = overlaid(c.overlay, program.root, path, v);
      c.data = patch(c.data, path, v);
      return true;
    };
  }

  // --- refs with variables to bind -------------------------------------------------------------------------------------

  /** `x = xs[_]` whose next literals compare x with what is known: elements that differ are passed over inside of the loop. */
  #selects(s: Statement, body: readonly Statement[], next: number): Piece[] | undefined {
    const { action } = s;
    if (s.negated || action.kind !== "unify" || action.left.kind !== "var" || this.#o.probe?.exhaustive === true)
      return undefined;
    const pieces: Piece[] = [];
    const found = requirementsOf(action.left.variable, body.slice(next, next + MAX_REQUIREMENTS));
    return found.length > 0 && this.#enumerates(action.left, action.right, pieces, found) ? pieces : undefined;
  }

  /** `x = xs[_]` with x not bound: the generator fills x's own slot. */
  #enumerates(target: Operand, ref: Operand, pieces: Piece[], wanted: readonly Requirement[] = []): boolean {
    if (target.kind !== "var" || target.variable.bound || ref.kind !== "ref") return false;
    if (typeof ref.base === "object" && !ref.base.bound) return false;
    const simple = ref.path.every((part) => part.kind === "const" || part.kind === "var" || isReady(part));
    if (!simple || ref.path.every((part) => isReady(part))) return false;
    if (ref.path.some((part) => part.kind === "var" && part.variable === target.variable)) return false;
    this.#generator(ref, target.variable.slot, pieces, wanted);
    this.#bind(target.variable);
    return true;
  }

  /** Replaces refs that enumerate by the variables their generators fill. */
  #hoist(operand: Operand, pieces: Piece[]): Operand {
    switch (operand.kind) {
      case "ref": {
        const path = operand.path.map((part) =>
          part.kind === "ref" ? this.#hoist(part, pieces) : this.#hoistInside(part, pieces),
        );
        const ref: RefOperand = { ...operand, path };
        if (!path.some((part) => !isReady(part))) return ref;
        if (typeof ref.base === "object" && !ref.base.bound) return ref;
        const slot = this.#o.frame.slot();
        const variable: Variable = { name: "_", slot, generated: true, loc: operand.loc, bound: true };
        this.#generator(ref, slot, pieces);
        return { kind: "var", variable, loc: operand.loc };
      }
      default:
        return this.#hoistInside(operand, pieces);
    }
  }

  #hoistInside(operand: Operand, pieces: Piece[]): Operand {
    switch (operand.kind) {
      case "array":
      case "set":
        return { ...operand, items: operand.items.map((item) => this.#hoist(item, pieces)) };
      case "object":
        return {
          ...operand,
          entries: operand.entries.map(([k, v]) => [this.#hoist(k, pieces), this.#hoist(v, pieces)] as const),
        };
      default:
        return operand;
    }
  }

  #generator(ref: RefOperand, slot: number, pieces: Piece[], wanted: readonly Requirement[] = []): void {
    const { program } = this.#o;
    const selected = wanted.map((r): Selected => [r.name, this.evaluate(r.wanted), this.#o.frame.slot()]);
    const first = ref.path.findIndex((part) => !isReady(part));
    const start = this.#start({ ...ref, path: ref.path.slice(0, first) });
    const builders: ((rest: Walk) => Walk)[] = [];
    for (const [i, part] of ref.path.entries()) {
      if (i < first) continue;
      if (isReady(part)) {
        const key = this.evaluate(part);
        builders.push((rest) => (c, f, v) => {
          const k = key(c, f);
          if (k === undefined) return false;
          const w = step(c, program, v, k);
          return w === undefined ? false : rest(c, f, w);
        });
      } else if (part.kind === "var") {
        const at = part.variable.slot;
        this.#bind(part.variable);
        const last = i === ref.path.length - 1 && selected.length > 0;
        builders.push((rest) => (last ? select(program, at, selected, rest) : enumerate(program, at, rest)));
      } else {
        const match = this.#pattern(part);
        const holder = this.#o.frame.slot();
        builders.push((rest) =>
          enumerate(program, holder, (c, f, v) => (match(c, f, f[holder] as Value) ? rest(c, f, v) : false)),
        );
      }
    }
    pieces.push({
      generate: (next) => {
        let walk: Walk = (c, f, v) => {
          const value = materialise(c, program, v);
          if (value === undefined) return false;
          f[slot] = value;
          return next(c, f);
        };
        for (let i = builders.length - 1; i >= 0; i--) walk = (builders[i] as (rest: Walk) => Walk)(walk);
        return (c, f) => {
          const v = start(c, f);
          return v === undefined ? false : walk(c, f, v);
        };
      },
    });
  }

  /** A ref's start for a generator: may be a place in the rule tree. */
  #start(ref: RefOperand): (c: Context, f: Frame) => Value | Cursor | undefined {
    if (ref.base !== "data") return this.#ref(ref);
    return this.#dataRef(ref, true) as (c: Context, f: Frame) => Value | Cursor | undefined;
  }

  // --- unification -----------------------------------------------------------------------------------------------------

  #unify(left: Operand, right: Operand, pieces: Piece[], loc: Location): void {
    let pairs: (readonly [Operand, Operand])[] = [[left, right]];
    while (pairs.length > 0) {
      const waiting: (readonly [Operand, Operand])[] = [];
      let progress = false;
      while (pairs.length > 0) {
        const [a, b] = pairs.shift() as readonly [Operand, Operand];
        if (this.#unifyPair(a, b, pairs, pieces)) progress = true;
        else waiting.push([a, b]);
      }
      if (!progress) {
        const unbound = new Set<string>();
        for (const [a, b] of waiting) for (const side of [a, b]) eachVariable(side, (v) => v.bound || unbound.add(v.name));
        for (const name of unbound) this.#o.report("rego_unsafe_var_error", `var ${name} is unsafe`, this.#o.file, loc);
        pieces.push({ test: fail });
        return;
      }
      pairs = waiting;
    }
  }

  #unifyPair(a: Operand, b: Operand, pairs: (readonly [Operand, Operand])[], pieces: Piece[]): boolean {
    const readyA = isReady(a);
    const readyB = isReady(b);
    if (a.kind === "var" && !readyA && readyB) {
      this.#assign(a.variable, b, pieces);
      return true;
    }
    if (b.kind === "var" && !readyB && readyA) {
      this.#assign(b.variable, a, pieces);
      return true;
    }
    if (a.kind === "array" && b.kind === "array" && !(readyA && readyB)) {
      if (a.items.length !== b.items.length) pieces.push({ test: fail });
      else for (const [i, item] of a.items.entries()) pairs.push([item, b.items[i] as Operand]);
      return true;
    }
    if (a.kind === "object" && b.kind === "object" && !(readyA && readyB)) {
      const constant = [...a.entries, ...b.entries].every(([k]) => k.kind === "const");
      const matched = a.entries.map(([k, v]) => {
        const other = b.entries.find(([k2]) => sameKey(k, k2));
        return other === undefined ? undefined : ([v, other[1]] as const);
      });
      if (constant || !matched.includes(undefined)) {
        if (a.entries.length !== b.entries.length || matched.includes(undefined)) pieces.push({ test: fail });
        else for (const pair of matched) if (pair !== undefined) pairs.push(pair);
        return true;
      }
    }
    if (readyA && readyB) {
      pieces.push({ test: this.#equality(a, b) });
      return true;
    }
    if (readyB && isPattern(a)) {
      pieces.push({ test: this.#destructure(a, b) });
      return true;
    }
    if (readyA && isPattern(b)) {
      pieces.push({ test: this.#destructure(b, a) });
      return true;
    }
    return false;
  }

  #assign(variable: Variable, from: Operand, pieces: Piece[]): void {
    const value = this.evaluate(from);
    const { slot } = variable;
    this.#bind(variable);
    pieces.push({
      test: (c, f) => {
        const v = value(c, f);
        if (v === undefined) return false;
        f[slot] = v;
        return true;
      },
    });
  }

  #destructure(pattern: Operand, from: Operand): Test {
    const value = this.evaluate(from);
    const match = this.#pattern(pattern);
    return (c, f) => {
      const v = value(c, f);
      return v !== undefined && match(c, f, v);
    };
  }

  #equality(a: Operand, b: Operand): Test {
    if (a.kind === "const" && b.kind === "const") return equal(a.value, b.value) ? () => true : fail;
    if (a.kind === "const") return this.#equality(b, a);
    if (a.kind === "object" || a.kind === "array") return this.#destructure(a, b);
    if (b.kind === "object" || b.kind === "array") return this.#destructure(b, a);
    const x = this.evaluate(a);
    if (b.kind === "const" && (typeof b.value === "string" || typeof b.value === "boolean" || b.value === null)) {
      const { value } = b;
      return (c, f) => x(c, f) === value;
    }
    const y = this.evaluate(b);
    return (c, f) => {
      const v = x(c, f);
      if (v === undefined) return false;
      const w = y(c, f);
      return w !== undefined && (v === w || equal(v, w));
    };
  }

  /** Matches a value against an operand, binding the variables that are not bound yet. */
  #pattern(operand: Operand): Match {
    switch (operand.kind) {
      case "const": {
        const { value } = operand;
        if (typeof value === "string" || typeof value === "boolean" || value === null) return (_c, _f, v) => v === value;
        return (_c, _f, v) => equal(v, value);
      }
      case "var": {
        const { slot } = operand.variable;
        if (operand.variable.bound) return (_c, f, v) => equal(f[slot] as Value, v);
        this.#bind(operand.variable);
        return (_c, f, v) => {
          f[slot] = v;
          return true;
        };
      }
      case "array": {
        const matches = inBindingOrder(operand.items).map(([item, i]) => [i, this.#pattern(item)] as const);
        const { length } = operand.items;
        return (c, f, v) => {
          if (!isArray(v) || v.length !== length) return false;
          for (const [i, match] of matches) if (!match(c, f, v[i] as Value)) return false;
          return true;
        };
      }
      case "object": {
        const size = operand.entries.length;
        const entries = operand.entries.map(([key, value]) => [this.evaluate(key), value] as const);
        const names = operand.entries.map(([key]) =>
          key.kind === "const" && typeof key.value === "string" ? key.value : undefined,
        );
        const matches = inBindingOrder(entries.map(([, value]) => value)).map(
          ([value, i]) => [names[i], (entries[i] as (typeof entries)[number])[0], this.#pattern(value)] as const,
        );
        return (c, f, v) => {
          if (!isObject(v)) return false;
          for (const [name, key, match] of matches) {
            let w: Value | undefined;
            if (name !== undefined) w = lookupName(v, name);
            else {
              const k = key(c, f);
              w = k === undefined ? undefined : getKey(v, k);
            }
            if (w === undefined || !match(c, f, w)) return false;
          }
          return objectSize(v) === size;
        };
      }
      default: {
        const value = this.evaluate(operand);
        return (c, f, v) => {
          const w = value(c, f);
          return w !== undefined && equal(v, w);
        };
      }
    }
  }

  // --- operands --------------------------------------------------------------------------------------------------------

  /** An operand whose variables are bound. */
  evaluate(operand: Operand): Eval {
    switch (operand.kind) {
      case "const": {
        const { value } = operand;
        return () => value;
      }
      case "var": {
        const { slot } = operand.variable;
        return (_c, f) => f[slot] as Value;
      }
      case "ref":
        return this.#ref(operand);
      case "array": {
        const items = operand.items.map((item) => this.evaluate(item));
        return (c, f) => {
          allocate(items.length);
          const out = new Array<Value>(items.length);
          for (let i = 0; i < items.length; i++) {
            const v = (items[i] as Eval)(c, f);
            if (v === undefined) return undefined;
            out[i] = v;
          }
          return out;
        };
      }
      case "set": {
        const items = operand.items.map((item) => this.evaluate(item));
        return (c, f) => {
          const out = new RegoSet();
          for (const item of items) {
            const v = item(c, f);
            if (v === undefined) return undefined;
            out.add(v);
          }
          return out;
        };
      }
      case "object": {
        const entries = operand.entries.map(([k, v]) => [this.evaluate(k), this.evaluate(v)] as const);
        return (c, f) => {
          const out = new RegoObject();
          for (const [key, value] of entries) {
            const k = key(c, f);
            if (k === undefined) return undefined;
            const v = value(c, f);
            if (v === undefined) return undefined;
            out.set(k, v);
          }
          return out;
        };
      }
      case "comprehension":
      case "template": {
        const known = this.#closures.get(operand);
        if (known !== undefined) return known;
        const made = operand.kind === "template" ? this.#template(operand) : this.#comprehension(operand);
        this.#closures.set(operand, made);
        return made;
      }
    }
  }

  #comprehension(operand: Operand & { kind: "comprehension" }): Eval {
    const slot = this.#o.frame.slot();
    const pieces = this.pieces(operand.body.literals, [operand.key, operand.value], operand.loc);
    const value = this.evaluate(operand.value);
    const { makes } = operand;
    if (makes === "array") {
      const body = fold(pieces, (c, f) => {
        const v = value(c, f);
        if (v !== undefined) {
          allocate(1);
          (f[slot] as Value[]).push(v);
        }
        return false;
      });
      return (c, f) => {
        const out: Value[] = [];
        f[slot] = out;
        body(c, f);
        return out;
      };
    }
    if (makes === "set") {
      const body = fold(pieces, (c, f) => {
        const v = value(c, f);
        if (v !== undefined) (f[slot] as RegoSet).add(v);
        return false;
      });
      return (c, f) => {
        const out = new RegoSet();
        f[slot] = out;
        body(c, f);
        return out;
      };
    }
    const key = this.evaluate(operand.key as Operand);
    const { file } = this.#o;
    const { row } = operand.loc;
    const body = fold(pieces, (c, f) => {
      const k = key(c, f);
      const v = value(c, f);
      if (k === undefined || v === undefined) return false;
      const object = f[slot] as RegoObject;
      const known = object.get(k);
      if (known === undefined) object.set(k, v);
      else if (!equal(known, v)) throw conflict(file, row, "object keys must be unique");
      return false;
    });
    return (c, f) => {
      const out = new RegoObject();
      f[slot] = out;
      body(c, f);
      return out;
    };
  }

  #template(operand: Operand & { kind: "template" }): Eval {
    const { file } = this.#o;
    const { row } = operand.loc;
    const parts = operand.parts.map((part) => {
      if (typeof part === "string") return part;
      const slot = this.#o.frame.slot();
      const pieces = this.pieces(part.body.literals, [part.value]);
      const value = this.evaluate(part.value);
      const body = fold(pieces, (c, f) => {
        const v = value(c, f);
        if (v === undefined) return false;
        if (f[slot] !== undefined && !equal(f[slot] as Value, v)) {
          throw conflict(file, row, "template-strings must not produce multiple outputs");
        }
        f[slot] = v;
        return false;
      });
      return { body, slot };
    });
    return (c, f) => {
      let out = "";
      for (const part of parts) {
        if (typeof part === "string") {
          allocateText(part.length);
          out += part;
        } else {
          f[part.slot] = undefined;
          part.body(c, f);
          const v = f[part.slot] as Value | undefined;
          if (typeof v === "string") allocateText(v.length);
          out += v === undefined ? "<undefined>" : typeof v === "string" ? v : termText(v);
        }
      }
      return out;
    };
  }

  #ref(ref: RefOperand): Eval {
    if (ref.base === "data") return this.#dataRef(ref, false) as Eval;
    if (ref.base === "input") return chain((c) => c.input, this.#keys(ref.path));
    const { slot } = ref.base;
    return chain((_c, f) => f[slot] as Value, this.#keys(ref.path));
  }

  #keys(path: readonly Operand[]): readonly (string | Eval)[] {
    return path.map((part) => (part.kind === "const" && typeof part.value === "string" ? part.value : this.evaluate(part)));
  }

  /** A ref below `data`: rules where the tree has them, base documents elsewhere. */
  #dataRef(ref: RefOperand, open: boolean): (c: Context, f: Frame) => Value | Cursor | undefined {
    const { program } = this.#o;
    const keys = this.#keys(ref.path);
    const slow = (c: Context, f: Frame): Value | Cursor | undefined => {
      let at: Value | Cursor | undefined = new Cursor(program.root, c.data);
      for (const key of keys) {
        const k = typeof key === "string" ? key : key(c, f);
        if (k === undefined || at === undefined) return undefined;
        at = step(c, program, at, k);
      }
      return open ? at : materialise(c, program, at);
    };
    let node: RuleNode = program.root;
    let i = 0;
    for (; i < keys.length; i++) {
      const key = keys[i];
      const child: RuleNode | undefined = typeof key === "string" ? node.children.get(key) : undefined;
      if (child === undefined) break;
      node = child;
      if (node.rules !== undefined) {
        i++;
        break;
      }
    }
    if (node.rules !== undefined) {
      if (node.rules.kind === "function") return (c, f) => (c.overlay === undefined ? undefined : slow(c, f));
      const { id } = node.rules;
      const fast = chain((c) => documentOf(c, program, id), keys.slice(i));
      return (c, f) => (c.overlay === undefined ? fast(c, f) : slow(c, f));
    }
    if (ref.path[i]?.kind === "const") {
      // no rule lies on the way: a base document
      const numbered = ref.path.some((part) => part.kind === "const" && typeof part.value === "number");
      const base = numbered ? stored(keys) : chain((c) => c.data, keys);
      return (c, f) => (c.overlay === undefined ? base(c, f) : slow(c, f));
    }
    return slow;
  }

  // --- calls -----------------------------------------------------------------------------------------------------------

  #call(callee: Callee, args: readonly Operand[], out: Operand | undefined, loc: Location): Piece[] {
    const pieces: Piece[] = [];
    const operands = args.map((arg) => this.#hoist(arg, pieces));
    if (callee.kind === "builtin" && callee.name === "walk") {
      this.#walk(operands[0] as Operand, out, pieces);
      return pieces;
    }
    if (out === undefined) {
      pieces.push({ test: this.#test(callee, operands, loc) });
      return pieces;
    }
    const result = this.#hoist(out, pieces);
    const value = this.#invoke(callee, operands, loc);
    if (result.kind === "var" && !result.variable.bound) {
      const { slot } = result.variable;
      this.#bind(result.variable);
      pieces.push({
        test: (c, f) => {
          const v = value(c, f);
          if (v === undefined) return false;
          f[slot] = v;
          return true;
        },
      });
    } else {
      const match = this.#pattern(result);
      pieces.push({
        test: (c, f) => {
          const v = value(c, f);
          return v !== undefined && match(c, f, v);
        },
      });
    }
    return pieces;
  }

  #walk(over: Operand, out: Operand | undefined, pieces: Piece[]): void {
    const value = this.evaluate(over);
    const target = out === undefined ? undefined : this.#hoist(out, pieces);
    const pathless = target?.kind === "array" && target.items.length === 2 && isWildcard(target.items[0] as Operand);
    const match = target === undefined ? (): boolean => true : this.#pattern(target);
    pieces.push({
      generate: (next) => (c, f) => {
        const v = value(c, f);
        if (v === undefined) return false;
        return walkValue(v, [], pathless, (path, at) => match(c, f, [path, at]) && next(c, f));
      },
    });
  }

  #test(callee: Callee, args: readonly Operand[], loc: Location): Test {
    if (callee.kind === "builtin" && args.length === 2 && COMPARISONS.has(callee.name)) {
      const compareTest = this.#comparison(callee.name, args[0] as Operand, args[1] as Operand);
      const general = this.#invoke(callee, args, loc);
      return (c, f) => (c.mocks === undefined ? compareTest(c, f) : isTrue(general(c, f)));
    }
    const value = this.#invoke(callee, args, loc);
    const evals = args.map((arg) => this.evaluate(arg));
    return (c, f) => {
      // As in OPA: whose value nobody asks for is not looked at.
      if (c.mocks?.get(callee.name)?.kind === "document") return evals.every((e) => e(c, f) !== undefined);
      return isTrue(value(c, f));
    };
  }

  #comparison(name: string, a: Operand, b: Operand): Test {
    if (name === "equal") return this.#equality(a, b);
    if (name === "internal.member_2") return this.#membership(a, b);
    const x = this.evaluate(a);
    const y = this.evaluate(b);
    if (name === "neq") {
      return (c, f) => {
        const v = x(c, f);
        const w = y(c, f);
        return v !== undefined && w !== undefined && v !== w && !equal(v, w);
      };
    }
    const holds = COMPARISONS.get(name) as (order: number) => boolean;
    return (c, f) => {
      const v = x(c, f);
      const w = y(c, f);
      return v !== undefined && w !== undefined && holds(compare(v, w));
    };
  }

  #membership(a: Operand, b: Operand): Test {
    const x = this.evaluate(a);
    if (b.kind === "const" && isArray(b.value) && b.value.length > 4) {
      const set = RegoSet.of(b.value);
      return (c, f) => {
        const v = x(c, f);
        return v !== undefined && set.has(v);
      };
    }
    const y = this.evaluate(b);
    return (c, f) => {
      const v = x(c, f);
      const w = y(c, f);
      return v !== undefined && w !== undefined && isMember(v, w);
    };
  }

  /** The value of a call; undefined where the function is, or on a builtin's error. */
  #invoke(callee: Callee, args: readonly Operand[], loc: Location): Eval {
    const evals = args.map((arg) => this.evaluate(arg));
    const direct =
      callee.kind === "rules" ? this.#invokeRules(callee.set.id, evals) : this.#invokeBuiltin(callee.name, evals, loc);
    const { name } = callee;
    const mocked = this.#mocked(evals, loc);
    return (c, f) => {
      if (c.mocks !== undefined) {
        const mock = c.mocks.get(name);
        if (mock !== undefined) return mocked(c, f, mock);
      }
      return direct(c, f);
    };
  }

  #mocked(evals: readonly Eval[], loc: Location): (c: Context, f: Frame, mock: Mock) => Value | undefined {
    return (c, f, mock) => {
      const values: Value[] = [];
      for (const e of evals) {
        const v = e(c, f);
        if (v === undefined) return undefined;
        values.push(v);
      }
      if (mock.kind === "value") return mock.value;
      if (mock.kind === "document") return mock.read(c, f);
      const { callee } = mock;
      if (callee.kind === "builtin") return this.#runBuiltin(c, this.#o.builtins.get(callee.name) as Builtin, values, loc);
      // the replacement itself sees every original function
      const { mocks, memo } = c;
      c.mocks = undefined;
      c.memo = [];
      const value = callFunction(c, this.#o.program, callee.set.id, values);
      c.mocks = mocks;
      c.memo = memo;
      return value;
    };
  }

  #invokeRules(id: number, evals: readonly Eval[]): Eval {
    const { program } = this.#o;
    return (c, f) => {
      const values = new Array<Value>(evals.length);
      for (let i = 0; i < evals.length; i++) {
        const v = (evals[i] as Eval)(c, f);
        if (v === undefined) return undefined;
        values[i] = v;
      }
      return callFunction(c, program, id, values);
    };
  }

  #invokeBuiltin(name: string, evals: readonly Eval[], loc: Location): Eval {
    const builtin = this.#o.builtins.get(name) as Builtin;
    const general: Eval = (c, f) => {
      const values = new Array<Value>(evals.length);
      for (let i = 0; i < evals.length; i++) {
        const v = (evals[i] as Eval)(c, f);
        if (v === undefined) return undefined;
        values[i] = v;
      }
      return this.#runBuiltin(c, builtin, values, loc);
    };
    const [x, y] = evals;
    const quick = ARITHMETIC.get(name);
    if (quick !== undefined && x !== undefined && y !== undefined) {
      return (c, f) => {
        const v = x(c, f);
        const w = y(c, f);
        if (v === undefined || w === undefined) return undefined;
        if (typeof v === "number" && typeof w === "number") return quick(v, w);
        return this.#runBuiltin(c, builtin, [v, w], loc);
      };
    }
    return general;
  }

  #runBuiltin(c: Context, builtin: Builtin, values: readonly Value[], loc: Location): Value | undefined {
    tick();
    try {
      checkOperands(builtin, values);
      return builtin.run(values, c.call);
    } catch (error) {
      if (!(error instanceof BuiltinError)) throw error;
      const message = `${this.#o.file}:${loc.row}: ${error.code}: ${builtin.name}: ${error.message}`;
      if (c.strict) throw new EvaluationError(error.code, message);
      c.builtinErrors ??= [];
      if (c.builtinErrors.length < 100) c.builtinErrors.push(new BuiltinError(message, error.code));
      return undefined;
    }
  }
}

// --- run time ------------------------------------------------------------------------------------------------------------

type Walk = (c: Context, f: Frame, v: Value | Cursor) => boolean;
type Match = (c: Context, f: Frame, v: Value) => boolean;

interface Saved {
  readonly input: Value | undefined;
  readonly data: Value;
  readonly overlay: Overlay | undefined;
  readonly mocks: ReadonlyMap<string, Mock> | undefined;
  readonly memo: unknown[];
}

function restore(c: Context, saved: Saved): void {
  c.input = saved.input;
  c.data = saved.data;
  c.overlay = saved.overlay;
  c.mocks = saved.mocks;
  c.memo = saved.memo;
}

export function conflict(file: string, row: number, message: string): EvaluationError {
  return new EvaluationError("eval_conflict_error", `${file}:${row}: eval_conflict_error: ${message}`);
}

const COMPARISONS = new Map<string, (order: number) => boolean>([
  ["equal", (order) => order === 0],
  ["neq", (order) => order !== 0],
  ["lt", (order) => order < 0],
  ["lte", (order) => order <= 0],
  ["gt", (order) => order > 0],
  ["gte", (order) => order >= 0],
  ["internal.member_2", () => false],
]);

const ARITHMETIC = new Map<string, (a: number, b: number) => Value>([
  ["plus", addNumbers],
  ["minus", subtract],
  ["mul", multiply],
]);

function isTrue(v: Value | undefined): boolean {
  return v !== undefined && v !== false;
}

function callFunction(c: Context, program: Program, id: number, values: readonly Value[]): Value | undefined {
  tick();
  if (++c.depth > c.maxDepth) throw new EvaluationError("eval_limit_error", "evaluation exceeded its call depth");
  const value = (program.documents[id] as Program["documents"][number]).call(c, values);
  c.depth--;
  return value;
}

/** Runs `rest` for every key of a collection, the key in `slot`. */
function enumerate(program: Program, slot: number, rest: Walk): Walk {
  return (c, f, v) => {
    if (isArray(v)) {
      for (let i = 0; i < v.length; i++) {
        tick();
        f[slot] = i;
        if (rest(c, f, v[i] as Value)) return true;
      }
      return false;
    }
    if (typeof v !== "object" || v === null) return false;
    if (v instanceof RegoSet) {
      for (const item of v.sorted()) {
        tick();
        f[slot] = item;
        if (rest(c, f, item)) return true;
      }
      return false;
    }
    if (v instanceof Cursor) {
      for (const key of cursorKeys(v)) {
        tick();
        f[slot] = key;
        const w = step(c, program, v, key);
        if (w !== undefined && rest(c, f, w)) return true;
      }
      return false;
    }
    if (!isObject(v)) return false;
    for (const key of sortedKeys(v)) {
      tick();
      const w = getKey(v, key);
      if (w === undefined) continue;
      f[slot] = key;
      if (rest(c, f, w)) return true;
    }
    return false;
  };
}

/** A requirement, what computes its value, and the slot that holds it during the loop. */
type Selected = readonly [name: string | undefined, wanted: Eval, slot: number];

/** {@link enumerate} for the items that may meet every requirement; what is wanted is computed once. */
function select(program: Program, slot: number, selected: readonly Selected[], rest: Walk): Walk {
  const all = enumerate(program, slot, rest);
  const [first, ...others] = selected as readonly [Selected, ...Selected[]];
  const [name] = first;
  return (c, f, v) => {
    const items = isArray(v) ? v : v instanceof RegoSet ? v.sorted() : undefined;
    if (items === undefined || c.mocks !== undefined) return all(c, f, v);
    for (let i = 0; i < selected.length; i++) {
      const [, wanted, at] = selected[i] as Selected;
      const w = wanted(c, f);
      if (w === undefined) return false;
      if (!isComparable(w)) return all(c, f, v);
      f[at] = w;
    }
    const w = f[first[2]] as Value;
    const isSet = items !== v;
    next: for (let i = 0; i < items.length; i++) {
      tick();
      const item = items[i] as Value;
      if (cannotMatch(item, name, w)) continue;
      for (let j = 0; j < others.length; j++) {
        const [member, , at] = others[j] as Selected;
        if (cannotMatch(item, member, f[at] as Value)) continue next;
      }
      f[slot] = isSet ? item : i;
      if (rest(c, f, item)) return true;
    }
    return false;
  };
}

function walkValue(
  v: Value,
  path: readonly Value[],
  pathless: boolean,
  visit: (path: readonly Value[], at: Value) => boolean,
): boolean {
  tick();
  if (visit(path, v)) return true;
  const below = (key: Value, item: Value): boolean => {
    if (pathless) return walkValue(item, path, true, visit);
    allocate(path.length + 1);
    return walkValue(item, [...path, key], false, visit);
  };
  if (path.length > 2_000) throw new EvaluationError("eval_limit_error", "value is nested too deeply");
  if (isArray(v)) {
    for (let i = 0; i < v.length; i++) if (below(i, v[i] as Value)) return true;
  } else if (v instanceof RegoSet) {
    for (const item of v.sorted()) if (below(item, item)) return true;
  } else if (isObject(v)) {
    for (const key of sortedKeys(v)) if (below(key, getKey(v, key) as Value)) return true;
  }
  return false;
}

/** Hides the rules at and below `path`, or replaces a value inside of the document of a rule above it. */
function overlaid(overlay: Overlay | undefined, root: RuleNode, path: readonly string[], value: Value): Overlay {
  const hidden = new Set(overlay?.hidden);
  const inside = new Map(overlay?.inside);
  let node: RuleNode | undefined = root;
  for (let i = 0; i < path.length; i++) {
    node = node?.children.get(path[i] as string);
    if (node === undefined) return { hidden, inside };
    if (node.rules !== undefined && i < path.length - 1) {
      inside.set(node, [...(inside.get(node) ?? []), { path: path.slice(i + 1), value }]);
      return { hidden, inside };
    }
  }
  if (node !== undefined) for (const below of node.subtree()) hidden.add(below);
  return { hidden, inside };
}

/** Reads a path from a start, step by step. */
function chain(start: Eval, keys: readonly (string | Eval)[]): Eval {
  const [k0, k1, k2] = keys;
  if (k0 === undefined) return start;
  if (keys.length === 1) {
    if (typeof k0 === "string") {
      return (c, f) => {
        const v = start(c, f);
        return v === undefined ? undefined : lookupName(v, k0);
      };
    }
    return (c, f) => {
      const v = start(c, f);
      if (v === undefined) return undefined;
      const k = k0(c, f);
      return k === undefined ? undefined : lookup(v, k);
    };
  }
  if (keys.length === 2 && typeof k0 === "string" && typeof k1 === "function") {
    return (c, f) => {
      const v = start(c, f);
      const w = v === undefined ? undefined : lookupName(v, k0);
      if (w === undefined) return undefined;
      const k = k1(c, f);
      return k === undefined ? undefined : lookup(w, k);
    };
  }
  if (keys.length === 2 && typeof k0 === "string" && typeof k1 === "string") {
    return (c, f) => {
      const v = start(c, f);
      const w = v === undefined ? undefined : lookupName(v, k0);
      return w === undefined ? undefined : lookupName(w, k1);
    };
  }
  if (keys.length === 3 && typeof k0 === "string" && typeof k1 === "string" && typeof k2 === "string") {
    return (c, f) => {
      const v = start(c, f);
      const w = v === undefined ? undefined : lookupName(v, k0);
      const x = w === undefined ? undefined : lookupName(w, k1);
      return x === undefined ? undefined : lookupName(x, k2);
    };
  }
  return (c, f) => {
    let v = start(c, f);
    for (let i = 0; i < keys.length; i++) {
      if (v === undefined) return undefined;
      const key = keys[i] as string | Eval;
      if (typeof key === "string") v = lookupName(v, key);
      else {
        const k = key(c, f);
        if (k === undefined) return undefined;
        v = lookup(v, k);
      }
    }
    return v;
  };
}

/** Reads base documents by a path with numbers: OPA's store has an object's member under the number's text. */
function stored(keys: readonly (string | Eval)[]): Eval {
  return (c, f) => {
    let v: Value | undefined = c.data;
    for (const key of keys) {
      const k = typeof key === "string" ? key : key(c, f);
      if (v === undefined || k === undefined) return undefined;
      v = typeof k === "number" && isObject(v) ? lookupName(v, String(k)) : lookup(v, k);
    }
    return v;
  };
}

/** Joins pieces into one step; runs of tests become one conjunction. */
export function fold(pieces: readonly Piece[], last: Step): Step {
  let next = last;
  for (let i = pieces.length - 1; i >= 0; ) {
    const piece = pieces[i] as Piece;
    if ("generate" in piece) {
      next = piece.generate(next);
      i--;
      continue;
    }
    const tests: Test[] = [];
    for (; i >= 0; i--) {
      const p = pieces[i] as Piece;
      if (!("test" in p)) break;
      tests.unshift(p.test);
    }
    next = conjunction(tests, next);
  }
  return next;
}

function conjunction(tests: readonly Test[], next: Step): Step {
  const [a, b, d] = tests;
  if (a === undefined) return next;
  if (b === undefined) return (c, f) => a(c, f) && next(c, f);
  if (d === undefined) return (c, f) => a(c, f) && b(c, f) && next(c, f);
  if (tests.length === 3) return (c, f) => a(c, f) && b(c, f) && d(c, f) && next(c, f);
  return (c, f) => {
    for (let i = 0; i < tests.length; i++) if (!(tests[i] as Test)(c, f)) return false;
    return next(c, f);
  };
}

export function isDeterministic(pieces: readonly Piece[]): boolean {
  return pieces.every((piece) => "test" in piece);
}

function isWildcard(operand: Operand): boolean {
  return operand.kind === "var" && operand.variable.generated && operand.variable.name === "_" && !operand.variable.bound;
}

function isPattern(operand: Operand): boolean {
  return operand.kind === "array" || operand.kind === "object";
}

/** All variables of the operand, closures' captures included, are bound. */
function isReady(operand: Operand): boolean {
  let ready = true;
  eachVariable(operand, (v) => {
    ready &&= v.bound;
  });
  return ready;
}

/** Items that bind variables first, so that those that only read them come after. */
function inBindingOrder(items: readonly Operand[]): (readonly [Operand, number])[] {
  const indexed = items.map((item, i) => [item, i] as const);
  const reads = (item: Operand): boolean => item.kind !== "const" && item.kind !== "var" && !isPattern(item) && !isReady(item);
  return [...indexed.filter(([item]) => !reads(item)), ...indexed.filter(([item]) => reads(item))];
}
