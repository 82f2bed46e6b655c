import type { BuiltinTable } from "../builtins/builtin.ts";
import type { ProblemCode } from "../errors.ts";
import type { Body, ElseBranch, Expr, Literal, Location, Module, RefTerm, Rule, Term, VarTerm, With } from "../syntax/ast.ts";
import { operandsOf, visit } from "../syntax/visit.ts";
import { RegoObject, RegoSet, type Value } from "../value/value.ts";
import {
  type Branch,
  type Callee,
  type Closure,
  Frame,
  type LoweredRule,
  type Operand,
  type Override,
  type Statement,
  type Variable,
} from "./ir.ts";
import { type Global, Symbols } from "./symbols.ts";
import { dynamicPart, pathText, type Report, type RuleNode } from "./tree.ts";

type Status = "seen" | "assigned" | "declared" | "arg";

class Scope {
  readonly variables = new Map<string, Variable>();
  readonly status = new Map<string, Status>();
  readonly captured = new Set<Variable>();
  /** Names declared further down: closures before the declaration do not see them. */
  readonly pending = new Set<string>();
  readonly parent: Scope | undefined;
  readonly closure: boolean;

  constructor(parent: Scope | undefined, closure: boolean) {
    this.parent = parent;
    this.closure = closure;
  }

  find(name: string, fromClosure = false): Variable | undefined {
    const own = this.variables.get(name);
    if (own !== undefined && !(fromClosure && this.pending.has(name))) return own;
    const outer = this.parent?.find(name, fromClosure || this.closure);
    if (outer !== undefined && this.closure) this.captured.add(outer);
    return outer;
  }

  has(name: string, fromClosure = false): boolean {
    if (this.variables.has(name) && !(fromClosure && this.pending.has(name))) return true;
    return this.parent?.has(name, fromClosure || this.closure) ?? false;
  }
}

/** Which variables of a rule have to be used, and how often each is named. */
class Usage {
  readonly #expected = new Map<Variable, { readonly message: string; readonly loc: Location; readonly own: number }>();
  readonly #named = new Map<Variable, number>();

  assigned(variable: Variable, loc: Location): void {
    this.#expected.set(variable, { message: `assigned var ${variable.name} unused`, loc, own: 1 });
  }

  argument(variable: Variable, loc: Location): void {
    const message = `unused argument ${variable.name}. (hint: use _ (wildcard variable) instead)`;
    this.#expected.set(variable, { message, loc, own: 0 });
  }

  used(variable: Variable): void {
    this.#named.set(variable, (this.#named.get(variable) ?? 0) + 1);
  }

  /** What is named nowhere but where it is assigned; it is forgotten with the rule. */
  takeUnused(): readonly { readonly message: string; readonly loc: Location }[] {
    const unused = [...this.#expected].filter(([variable, { own }]) => (this.#named.get(variable) ?? 0) <= own);
    this.#expected.clear();
    this.#named.clear();
    return unused.map(([, { message, loc }]) => ({ message, loc }));
  }
}

/** Turns rules and queries into statements without nested calls, with every name resolved; reports what is wrong. */
export class Lowerer {
  readonly #root: RuleNode;
  readonly #builtins: BuiltinTable;
  readonly #file: string;
  readonly #symbols: Symbols;
  /** What is assigned or an argument, and has to be used; undefined where nothing has to. */
  readonly #usage: Usage | undefined;
  readonly #reportAt: Report;
  #frame = new Frame();
  #rule: Rule | undefined;
  readonly #metadata: (rule: Rule) => { readonly own: Value; readonly chain: Value };
  /** Nodes of the rule tree that the current rule reads. */
  dependencies = new Set<RuleNode>();

  constructor(
    module: Module | undefined,
    root: RuleNode,
    builtins: BuiltinTable,
    report: Report,
    metadata: (rule: Rule) => { readonly own: Value; readonly chain: Value },
    strict = false,
  ) {
    this.#root = root;
    this.#builtins = builtins;
    this.#file = module?.name ?? "query";
    this.#reportAt = report;
    this.#symbols = new Symbols(module, root, report, strict);
    this.#metadata = metadata;
    this.#usage = strict ? new Usage() : undefined;
  }

  #report(code: ProblemCode, message: string, loc: Location): void {
    this.#reportAt(code, message, this.#file, loc);
  }

  // --- rules and queries ---------------------------------------------------------------------------------------------

  lowerRule(rule: Rule): LoweredRule {
    this.#frame = new Frame();
    this.#rule = rule;
    this.dependencies = new Set();
    const scope = new Scope(undefined, false);
    const checks: [Variable, Term][] = [];
    const args = (rule.head.args ?? []).map((arg) => this.#argument(arg, scope, checks));
    const branches = [this.#branch(scope, rule, rule.body, rule.head.value, checks, rule.loc)];
    for (const branch of rule.otherwise) {
      const value = branch.value ?? ({ kind: "scalar", value: true, loc: branch.loc } as const);
      branches.push(this.#branch(scope, rule, branch.body, value, checks, branch.loc));
    }
    for (const { message, loc } of this.#usage?.takeUnused() ?? []) this.#report("rego_compile_error", message, loc);
    return { file: this.#file, row: rule.loc.row, args, branches, frame: this.#frame };
  }

  /** Reports the imports that no rule lowered so far has used. */
  reportUnusedImports(): void {
    for (const { path, alias, loc } of this.#symbols.unused) {
      const as = alias === undefined ? "" : ` as ${alias}`;
      this.#report("rego_compile_error", `import ${pathText(path).slice("data.".length)}${as} unused`, loc);
    }
  }

  /** A query's statements and the variables that a solution reports. */
  lowerQuery(body: Body): {
    readonly statements: readonly Statement[];
    readonly variables: readonly Variable[];
    readonly frame: Frame;
  } {
    this.#frame = new Frame();
    this.#rule = undefined;
    this.dependencies = new Set();
    const scope = new Scope(undefined, false);
    const statements = this.#body(scope, body, []);
    return { statements, variables: [...scope.variables.values()], frame: this.#frame };
  }

  #argument(arg: Term, scope: Scope, checks: [Variable, Term][]): Operand {
    switch (arg.kind) {
      case "var": {
        if (arg.name === "_") return { kind: "var", variable: this.#frame.variable("_", true, arg.loc), loc: arg.loc };
        if (arg.name === "input" || arg.name === "data") {
          this.#report("rego_compile_error", `args must not shadow ${arg.name} (use a different variable name)`, arg.loc);
        }
        let variable = scope.variables.get(arg.name);
        if (variable === undefined) {
          variable = this.#frame.variable(arg.name, false, arg.loc);
          scope.variables.set(arg.name, variable);
          scope.status.set(arg.name, "arg");
          this.#usage?.argument(variable, this.#rule?.head.loc ?? arg.loc);
        } else this.#usage?.used(variable);
        return { kind: "var", variable, loc: arg.loc };
      }
      case "scalar":
        return { kind: "const", value: arg.value, loc: arg.loc };
      case "array":
        return { kind: "array", items: arg.items.map((item) => this.#argument(item, scope, checks)), loc: arg.loc };
      case "object":
        if (arg.entries.every(([key]) => key.kind === "scalar")) {
          const entries = arg.entries.map(
            ([key, value]) => [this.#argument(key, scope, checks), this.#argument(value, scope, checks)] as const,
          );
          return { kind: "object", entries, loc: arg.loc };
        }
        break;
      default:
    }
    const variable = this.#frame.variable("_", true, arg.loc);
    checks.push([variable, arg]);
    return { kind: "var", variable, loc: arg.loc };
  }

  #branch(
    args: Scope,
    rule: Rule,
    body: Body,
    value: Term | undefined,
    checks: readonly (readonly [Variable, Term])[],
    loc: ElseBranch["loc"],
  ): Branch {
    const scope = new Scope(args, false);
    const { key } = rule.head;
    const parts = dynamicPart(rule);
    const heads = [
      ...parts,
      ...(key === undefined ? [] : [key]),
      ...(value === undefined ? [] : [value]),
      ...checks.map(([, t]) => t),
    ];
    const statements = this.#body(scope, body, heads);
    for (const [variable, term] of checks) {
      const left: Operand = { kind: "var", variable, loc: term.loc };
      const right = this.#operand(term, scope, statements, []);
      statements.push(statement({ kind: "unify", left, right, assignment: false }, term.loc));
    }
    const settle = (term: Term): Operand => this.#settled(term, scope, statements);
    return {
      path: parts.map(settle),
      key: key === undefined ? undefined : settle(key),
      value: value === undefined ? undefined : settle(value),
      statements,
      loc,
    };
  }

  /** A term as a constant or a variable that the body's last statements bind. */
  #settled(term: Term, scope: Scope, out: Statement[]): Operand {
    const operand = this.#operand(term, scope, out, []);
    if (operand.kind === "const" || operand.kind === "var") return operand;
    return this.#temporary(operand, out, []);
  }

  #temporary(operand: Operand, out: Statement[], overrides: readonly Override[]): Operand & { kind: "var" } {
    const variable = this.#frame.variable("_", true, operand.loc);
    const left = { kind: "var", variable, loc: operand.loc } as const;
    out.push({ ...statement({ kind: "unify", left, right: operand, assignment: true }, operand.loc), overrides });
    return left;
  }

  // --- bodies --------------------------------------------------------------------------------------------------------

  #body(scope: Scope, literals: Body, heads: readonly Term[]): Statement[] {
    for (const literal of literals) {
      for (const name of declaredNames(literal.expr)) {
        if (name.name === "_" || scope.variables.has(name.name)) continue;
        scope.variables.set(name.name, this.#frame.variable(name.name, false, name.loc));
        scope.pending.add(name.name);
      }
    }
    const use = (name: VarTerm): void => {
      if (name.name === "_" || scope.has(name.name) || this.#symbols.resolve(name.name) !== undefined) return;
      scope.variables.set(name.name, this.#frame.variable(name.name, false, name.loc));
    };
    for (const literal of literals) {
      directNames(literal, use);
      for (const clause of literal.with) if (!this.#namesFunction(clause, scope)) namesOf(clause.value, use);
    }
    for (const head of heads) namesOf(head, use);
    const out: Statement[] = [];
    const unused = new Map<string, Location>();
    for (const literal of literals) this.#literal(literal, scope, out, unused);
    if (unused.size > 0) {
      for (const head of heads) namesOf(head, (name) => unused.delete(name.name), true);
      for (const [name, loc] of unused) this.#report("rego_compile_error", `declared var ${name} unused`, loc);
    }
    return out;
  }

  #closure(
    parent: Scope,
    literals: Body,
    heads: readonly Term[],
  ): { readonly closure: Closure; readonly heads: readonly Operand[] } {
    const scope = new Scope(parent, true);
    const statements = this.#body(scope, literals, heads);
    const operands = heads.map((head) => this.#settled(head, scope, statements));
    return { closure: { literals: statements, captured: [...scope.captured] }, heads: operands };
  }

  #literal(literal: Literal, scope: Scope, out: Statement[], unused: Map<string, Location>): void {
    const { expr, loc } = literal;
    if (expr.kind !== "some") namesInLiteral(literal, (name) => unused.delete(name.name));
    const overrides = literal.with.flatMap((clause) => this.#override(clause, scope, out));
    const push = (action: Statement["action"]): void => {
      out.push({ action, negated: literal.negated, overrides, loc });
    };
    switch (expr.kind) {
      case "some":
        for (const name of expr.names) {
          this.#declare(name, scope, "declared");
          if (name.name !== "_") unused.set(name.name, name.loc);
        }
        return;
      case "some-in": {
        const domain = this.#operand(expr.domain, scope, out, overrides);
        for (const name of declaredNames(expr)) this.#declare(name, scope, "assigned");
        const key: Operand =
          expr.key === undefined
            ? { kind: "var", variable: this.#frame.variable("_", true, loc), loc }
            : this.#operand(expr.key, scope, out, overrides);
        const value = this.#operand(expr.value, scope, out, overrides);
        let right: Operand;
        if (domain.kind === "ref") right = { ...domain, path: [...domain.path, key] };
        else {
          const { variable } = domain.kind === "var" ? domain : this.#temporary(domain, out, overrides);
          right = { kind: "ref", base: variable, path: [key], loc: domain.loc };
        }
        push({ kind: "unify", left: value, right, assignment: false });
        return;
      }
      case "every": {
        const domain = this.#operand(expr.domain, scope, out, overrides);
        const inner = new Scope(scope, true);
        const bind = (name: VarTerm | undefined): Variable | undefined => {
          if (name === undefined) return undefined;
          const variable = this.#frame.variable(name.name, false, name.loc);
          if (name.name !== "_") inner.variables.set(name.name, variable);
          return variable;
        };
        const key = bind(expr.key);
        const value = bind(expr.value) as Variable;
        const used = new Set<string>();
        for (const literal of expr.body) namesInLiteral(literal, ({ name }) => used.add(name));
        for (const name of [expr.key, expr.value]) {
          if (name !== undefined && name.name !== "_" && !used.has(name.name)) {
            this.#report("rego_compile_error", `declared var ${name.name} unused`, loc);
          }
        }
        const settled = domain.kind === "const" || domain.kind === "var" ? domain : this.#temporary(domain, out, overrides);
        const statements = this.#body(new Scope(inner, false), expr.body, []);
        push({ kind: "every", key, value, domain: settled, body: { literals: statements, captured: [...inner.captured] } });
        return;
      }
      case "assign": {
        if (!isAssignable(expr.left)) {
          this.#report(
            "rego_compile_error",
            `cannot assign to ${expr.left.kind === "scalar" ? typeof expr.left.value : expr.left.kind}`,
            loc,
          );
          return;
        }
        this.#equate(expr.right, expr.left, true, literal, scope, out, overrides);
        return;
      }
      case "unify":
        this.#equate(expr.right, expr.left, false, literal, scope, out, overrides);
        return;
      case "term": {
        const term = this.#uncalled(expr.term, scope);
        if (term.kind !== "call") {
          const operand = this.#operand(term, scope, out, overrides);
          push({ kind: "term", operand: literal.negated ? this.#inner(operand, out, overrides) : operand });
          return;
        }
        const call = this.#call(term, scope, out, overrides, true);
        if (call === undefined) return;
        if ("value" in call) push({ kind: "term", operand: { kind: "const", value: call.value, loc } });
        else if (!literal.negated) push({ kind: "call", ...call });
        else {
          const [left, right] = call.args;
          if (call.callee.name === "equal" && left !== undefined && right !== undefined) {
            const args = [this.#inner(left, out, overrides), this.#inner(right, out, overrides)];
            push({ kind: "call", ...call, args });
          } else push({ kind: "call", ...call, args: call.args.map((arg) => this.#negatedArgument(arg, out, overrides)) });
        }
      }
    }
  }

  #equate(
    rightSide: Term,
    leftTerm: Term,
    assignment: boolean,
    literal: Literal,
    scope: Scope,
    out: Statement[],
    overrides: readonly Override[],
  ): void {
    const { negated, loc } = literal;
    const rightTerm = this.#uncalled(rightSide, scope);
    const left = (): Operand => {
      if (assignment) {
        for (const name of patternNames(leftTerm)) {
          this.#declare(name, scope, "assigned");
          const variable = scope.variables.get(name.name);
          if (variable !== undefined) this.#usage?.assigned(variable, loc);
        }
      }
      return this.#operand(leftTerm, scope, out, overrides);
    };
    if (rightTerm.kind === "call" && !negated) {
      const call = this.#call(rightTerm, scope, out, overrides, false);
      if (call === undefined) {
        left();
        return;
      }
      if (!("value" in call)) {
        out.push({ action: { kind: "call", ...call, out: left() }, negated, overrides, loc });
        return;
      }
      const right: Operand = { kind: "const", value: call.value, loc };
      out.push({ action: { kind: "unify", left: left(), right, assignment }, negated, overrides, loc });
      return;
    }
    if (assignment) {
      const right = this.#operand(rightTerm, scope, out, overrides);
      out.push({ action: { kind: "unify", left: left(), right, assignment }, negated, overrides, loc });
    } else {
      const settle = (operand: Operand): Operand => (negated ? this.#inner(operand, out, overrides) : operand);
      const first = settle(left());
      const second = settle(this.#operand(rightTerm, scope, out, overrides));
      out.push({ action: { kind: "unify", left: first, right: second, assignment }, negated, overrides, loc });
    }
  }

  #declare(name: VarTerm, scope: Scope, as: "assigned" | "declared"): void {
    if (name.name === "_") return;
    if (name.name === "input" || name.name === "data") {
      this.#report("rego_compile_error", `variables must not shadow ${name.name} (use a different variable name)`, name.loc);
      return;
    }
    const status = scope.status.get(name.name) ?? (scope.closure ? undefined : scope.parent?.status.get(name.name));
    if (status === "arg" && (scope.status.has(name.name) || scope.parent?.parent === undefined)) {
      this.#report("rego_compile_error", `arg ${name.name} redeclared`, name.loc);
    } else if (status === "assigned") this.#report("rego_compile_error", `var ${name.name} assigned above`, name.loc);
    else if (status === "declared") this.#report("rego_compile_error", `var ${name.name} declared above`, name.loc);
    else if (status === "seen") this.#report("rego_compile_error", `var ${name.name} referenced above`, name.loc);
    scope.status.set(name.name, as);
    scope.pending.delete(name.name);
  }

  /** True if a `with` puts a function, not a value, in the place of its target. */
  #namesFunction(clause: With, scope: Scope): boolean {
    const { value } = clause;
    return (value.kind === "var" || value.kind === "ref") && this.#callee(value, scope, false) !== undefined;
  }

  // --- terms ---------------------------------------------------------------------------------------------------------

  #operand(written: Term, scope: Scope, out: Statement[], overrides: readonly Override[]): Operand {
    const term = this.#uncalled(written, scope);
    const { loc } = term;
    switch (term.kind) {
      case "scalar":
        return { kind: "const", value: term.value, loc };
      case "var":
        return this.#variable(term, scope);
      case "ref":
        return this.#ref(term, scope, out, overrides);
      case "array":
      case "set": {
        const items = term.items.map((item) => this.#operand(item, scope, out, overrides));
        if (!items.every((item) => item.kind === "const")) return { kind: term.kind, items, loc };
        const values = items.map((item) => item.value);
        return { kind: "const", value: term.kind === "array" ? values : RegoSet.of(values), loc };
      }
      case "object": {
        const entries = term.entries.map(
          ([key, value]) => [this.#operand(key, scope, out, overrides), this.#operand(value, scope, out, overrides)] as const,
        );
        return constantObject(entries, loc) ?? { kind: "object", entries, loc };
      }
      case "array-comprehension":
      case "set-comprehension": {
        const { closure, heads } = this.#closure(scope, term.body, [term.head]);
        const makes = term.kind === "array-comprehension" ? "array" : "set";
        return { kind: "comprehension", makes, key: undefined, value: heads[0] as Operand, body: closure, loc };
      }
      case "object-comprehension": {
        const { closure, heads } = this.#closure(scope, term.body, [term.key, term.value]);
        return { kind: "comprehension", makes: "object", key: heads[0], value: heads[1] as Operand, body: closure, loc };
      }
      case "call": {
        const call = this.#call(term, scope, out, overrides, false);
        if (call === undefined) return { kind: "const", value: null, loc };
        if ("value" in call) return { kind: "const", value: call.value, loc };
        const variable = this.#frame.variable("_", true, loc);
        const result = { kind: "var", variable, loc } as const;
        out.push({ action: { kind: "call", ...call, out: result }, negated: false, overrides, loc });
        return result;
      }
      case "template":
        return {
          kind: "template",
          loc,
          parts: term.parts.map((part) => {
            if (typeof part === "string") return part;
            if (part.expr.kind !== "term") return "";
            const inner = new Scope(scope, true);
            const statements: Statement[] = [];
            for (const { value } of part.with) this.#declared(value, inner);
            this.#declared(part.expr.term, inner);
            const clauses = part.with.flatMap((clause) => this.#override(clause, inner, statements));
            const operand = this.#operand(part.expr.term, inner, statements, clauses);
            const value = operand.kind === "const" ? operand : this.#temporary(operand, statements, clauses);
            return { value, body: { literals: statements, captured: [...inner.captured] } };
          }),
        };
    }
  }

  /** Refuses names that only this term would bind: what is printed binds nothing. */
  #declared(term: Term, scope: Scope): void {
    namesOf(term, ({ name, loc }) => {
      if (name !== "_" && (scope.has(name, true) || this.#symbols.resolve(name) !== undefined)) return;
      this.#report("rego_compile_error", `var ${name} is undeclared`, loc);
    });
  }

  #variable(term: VarTerm, scope: Scope, asHead?: "head"): Operand {
    const { loc } = term;
    if (term.name === "_") return { kind: "var", variable: this.#frame.variable("_", true, loc), loc };
    const variable = scope.find(term.name);
    if (variable !== undefined) {
      this.#usage?.used(variable);
      if (scope.variables.has(term.name) && !scope.status.has(term.name)) scope.status.set(term.name, "seen");
      return { kind: "var", variable, loc };
    }
    const global = this.#symbols.resolve(term.name);
    if (global !== undefined) {
      const ref = globalRef(global, loc);
      if (asHead !== "head" && global.root === "data") this.#depend(ref.path);
      return ref;
    }
    return { kind: "var", variable: this.#frame.variable(term.name, false, loc), loc };
  }

  #ref(term: RefTerm, scope: Scope, out: Statement[], overrides: readonly Override[]): Operand {
    const { head, loc } = term;
    const parts = (): Operand[] => term.path.map((part) => this.#operand(part, scope, out, overrides));
    if (head.kind === "var") {
      const operand = this.#variable(head, scope, "head");
      if (operand.kind === "ref") {
        const path = [...operand.path, ...parts()];
        if (operand.base === "data") this.#depend(path);
        return { ...operand, path };
      }
      if (operand.kind === "var") return { kind: "ref", base: operand.variable, path: parts(), loc };
    }
    const { variable } = this.#temporary(this.#operand(head, scope, out, overrides), out, overrides);
    return { kind: "ref", base: variable, path: parts(), loc };
  }

  /** Notes what of the rule tree a data ref reads; a part that is not constant may be any name. */
  #depend(path: readonly Operand[]): void {
    let level: RuleNode[] = [this.#root];
    for (const part of path) {
      const next: RuleNode[] = [];
      for (const node of level) {
        const children =
          part.kind !== "const" ? node.children.values() : typeof part.value === "string" ? [node.children.get(part.value)] : [];
        for (const child of children) {
          if (child === undefined) continue;
          if (child.mixed !== undefined) this.dependencies.add(child.mixed);
          else if (child.rules !== undefined) this.dependencies.add(child);
          else next.push(child);
        }
      }
      level = next;
    }
    for (const node of level) this.dependencies.add(node);
  }

  /** Below a negation, refs inside of an operand are evaluated before: if one is undefined, so is the whole literal. */
  #inner(operand: Operand, out: Statement[], overrides: readonly Override[]): Operand {
    const hoist = (part: Operand): Operand => {
      const settled = this.#inner(part, out, overrides);
      return settled.kind === "ref" ? this.#temporary(settled, out, overrides) : settled;
    };
    switch (operand.kind) {
      case "ref":
        return { ...operand, path: operand.path.map(hoist) };
      case "array":
      case "set":
        return { ...operand, items: operand.items.map(hoist) };
      case "object":
        return { ...operand, entries: operand.entries.map(([k, v]) => [hoist(k), hoist(v)] as const) };
      default:
        return operand;
    }
  }

  #negatedArgument(operand: Operand, out: Statement[], overrides: readonly Override[]): Operand {
    const settled = this.#inner(operand, out, overrides);
    return settled.kind === "ref" ? this.#temporary(settled, out, overrides) : settled;
  }

  // --- calls ---------------------------------------------------------------------------------------------------------

  #callee(operator: RefTerm | VarTerm, scope: Scope, infix: boolean): Callee | undefined {
    const names = dottedNames(operator);
    if (infix) {
      const name = names?.[0] ?? "";
      return this.#builtins.has(name) ? { kind: "builtin", name } : undefined;
    }
    if (names !== undefined) {
      const [first = "", ...rest] = names;
      if (!scope.has(first)) {
        const global = this.#symbols.resolve(first);
        if (global?.root === "data") {
          const set = this.#root.find([...global.path, ...rest])?.rules;
          if (set?.kind === "function") return { kind: "rules", set, name: set.name };
        }
        const name = names.join(".");
        if (this.#builtins.has(name)) return { kind: "builtin", name };
      }
    }
    return undefined;
  }

  /** `r()` where `r` is a rule without arguments reads the rule, as its head `r() := 1` declares it. */
  #uncalled(term: Term, scope: Scope): Term {
    if (term.kind !== "call" || term.infix || term.args.length > 0) return term;
    const [first = "", ...rest] = dottedNames(term.operator) ?? [];
    const global = scope.has(first) ? undefined : this.#symbols.resolve(first);
    if (global?.root !== "data") return term;
    const set = this.#root.find([...global.path, ...rest])?.rules;
    return set === undefined || set.kind === "function" ? term : { ...term.operator, loc: term.loc };
  }

  arity(callee: Callee): number {
    return callee.kind === "rules" ? callee.set.arity : (this.#builtins.get(callee.name)?.args.length ?? -1);
  }

  #call(
    term: Term & { kind: "call" },
    scope: Scope,
    out: Statement[],
    overrides: readonly Override[],
    asStatement: boolean,
  ): { callee: Callee; args: readonly Operand[]; out: Operand | undefined } | { value: Value } | undefined {
    const { operator, loc } = term;
    const names = dottedNames(operator)?.join(".") ?? "";
    if (
      (names === "rego.metadata.rule" || names === "rego.metadata.chain") &&
      term.args.length === 0 &&
      this.#rule !== undefined
    ) {
      const { own, chain } = this.#metadata(this.#rule);
      return { value: names === "rego.metadata.rule" ? own : chain };
    }
    const callee = this.#callee(operator, scope, term.infix);
    if (callee === undefined) {
      const operands = term.args.map((arg) => this.#operand(arg, scope, out, overrides));
      void operands;
      this.#report("rego_type_error", `undefined function ${names}`, loc);
      return undefined;
    }
    if (callee.kind === "rules") this.dependencies.add(callee.set.node);
    if (callee.kind === "builtin" && callee.name === "print") {
      const items = term.args.map((arg): Operand => {
        this.#declared(arg, scope);
        const { closure, heads } = this.#closure(scope, [], [arg]);
        return { kind: "comprehension", makes: "set", key: undefined, value: heads[0] as Operand, body: closure, loc: arg.loc };
      });
      return { callee, args: [{ kind: "array", items, loc }], out: undefined };
    }
    const args = term.args.map((arg) => this.#operand(arg, scope, out, overrides));
    const arity = this.arity(callee);
    if (args.length !== arity && !(asStatement && args.length === arity + 1)) {
      const what = args.length < arity ? "too few arguments" : "too many arguments";
      this.#report("rego_type_error", `${names || callee.name}: ${what}, have ${args.length}, want ${arity}`, loc);
      return undefined;
    }
    return { callee, args: args.slice(0, arity), out: args[arity] };
  }

  #override(clause: With, scope: Scope, out: Statement[]): Override[] {
    const { target, loc } = clause;
    const names = dottedNames(target);
    const unknown = (): Override[] => {
      this.#operand(clause.value, scope, [], []);
      this.#report("rego_type_error", `undefined with target ${names?.join(".") ?? "ref"}`, loc);
      return [];
    };
    if (names === undefined) {
      this.#report("rego_type_error", "with keyword target must be ground", loc);
      return [];
    }
    const [first = "", ...rest] = names;
    const global = scope.has(first) ? undefined : this.#symbols.resolve(first);
    if (global === undefined) {
      const name = names.join(".");
      const builtin = this.#builtins.get(name);
      if (builtin === undefined || scope.has(first)) return unknown();
      if (UNMOCKABLE.has(name)) {
        this.#report("rego_compile_error", `with keyword replacing built-in function: target must not be ${name}`, loc);
        return [];
      }
      return this.#replacement(name, builtin.args.length, clause, scope, out);
    }
    const path = [...global.path, ...rest];
    if (global.root === "data") {
      const replaced = this.#root.find(path);
      if (replaced !== undefined) this.dependencies.add(replaced);
      const set = replaced?.rules;
      if (set?.kind === "function") return this.#replacement(set.name, set.arity, clause, scope, out);
    }
    return [{ target: { kind: global.root, path }, value: this.#settled(clause.value, scope, out) }];
  }

  #replacement(name: string, arity: number, clause: With, scope: Scope, out: Statement[]): Override[] {
    const { value } = clause;
    const target = { kind: "function", name } as const;
    if (value.kind === "var" || (value.kind === "ref" && value.head.kind === "var")) {
      const callee = this.#callee(value as RefTerm | VarTerm, scope, false);
      if (callee !== undefined) {
        if (callee.kind === "rules") this.dependencies.add(callee.set.node);
        if (this.arity(callee) !== arity) {
          this.#report(
            "rego_type_error",
            `${callee.name}: arity mismatch, have ${this.arity(callee)}, want ${arity}`,
            clause.loc,
          );
        }
        return [{ target, value: callee }];
      }
    }
    const document = this.#document(value, scope);
    if (document !== undefined) {
      this.dependencies.add(document);
      return [{ target, value: this.#operand(value, scope, out, []), late: true }];
    }
    return [{ target, value: this.#settled(value, scope, out) }];
  }

  /** The node of the rules that a term names, whole. */
  #document(term: Term, scope: Scope) {
    const [first = "", ...rest] = (term.kind === "var" || term.kind === "ref" ? dottedNames(term) : undefined) ?? [];
    const global = scope.has(first) ? undefined : this.#symbols.resolve(first);
    return global?.root === "data" ? this.#root.find([...global.path, ...rest]) : undefined;
  }
}

/** Builtins that `with` cannot replace. */
const UNMOCKABLE = new Set(["eq", "internal.print", "print", "rego.metadata.chain", "rego.metadata.rule"]);

function statement(action: Statement["action"], loc: Location): Statement {
  return { action, negated: false, overrides: [], loc };
}

function globalRef(global: Global, loc: Location): Operand & { kind: "ref" } {
  return { kind: "ref", base: global.root, path: global.path.map((value): Operand => ({ kind: "const", value, loc })), loc };
}

function dottedNames(term: RefTerm | VarTerm): readonly string[] | undefined {
  if (term.kind === "var") return [term.name];
  if (term.head.kind !== "var") return undefined;
  const names = [term.head.name];
  for (const part of term.path) {
    if (part.kind !== "scalar" || typeof part.value !== "string") return undefined;
    names.push(part.value);
  }
  return names;
}

function constantObject(entries: readonly (readonly [Operand, Operand])[], loc: Location): Operand | undefined {
  const plain: Record<string, Value> = {};
  const pairs: [Value, Value][] = [];
  let named = true;
  for (const [key, value] of entries) {
    if (key.kind !== "const" || value.kind !== "const") return undefined;
    named &&= typeof key.value === "string";
    pairs.push([key.value, value.value]);
  }
  if (!named) return { kind: "const", value: RegoObject.of(pairs), loc };
  for (const [key, value] of pairs) {
    Object.defineProperty(plain, key as string, { value, enumerable: true, configurable: true, writable: true });
  }
  return { kind: "const", value: plain, loc };
}

function isAssignable(term: Term): boolean {
  return term.kind === "var" || term.kind === "array" || term.kind === "object";
}

/** Variables that a declaration makes. */
function declaredNames(expr: Expr): readonly VarTerm[] {
  switch (expr.kind) {
    case "assign":
      return patternNames(expr.left);
    case "some":
      return expr.names;
    case "some-in": {
      // what the collection is made of is not declared by taking from it
      const above = new Set<string>();
      namesOf(expr.domain, ({ name }) => above.add(name), true);
      const names = [...(expr.key === undefined ? [] : patternNames(expr.key)), ...patternNames(expr.value)];
      return names.filter(({ name }) => !above.has(name));
    }
    default:
      return [];
  }
}

function patternNames(term: Term): VarTerm[] {
  switch (term.kind) {
    case "var":
      return [term];
    case "array":
      return term.items.flatMap(patternNames);
    case "object":
      return term.entries.flatMap(([, value]) => patternNames(value));
    default:
      return [];
  }
}

/** Names in a term outside of closures (`deep`: inside too). Heads of refs count, operators do not. */
function namesOf(term: Term, found: (name: VarTerm) => void, deep = false): void {
  visit(term, {
    term: (t) => {
      if (t.kind === "var") found(t);
      if (deep) return true;
      return !isClosure(t) && !(t.kind === "call" && t.operator.kind === "var" && t.operator.name === "print");
    },
  });
}

function isClosure({ kind }: Term): boolean {
  return kind === "template" || kind.endsWith("comprehension");
}

function directNames(literal: Literal, found: (name: VarTerm) => void): void {
  for (const term of operandsOf(literal.expr)) if (term !== undefined) namesOf(term, found);
}

/** Every name of a literal, closures included. */
function namesInLiteral(literal: Literal, found: (name: VarTerm) => void): void {
  visit(literal, { term: (t) => (t.kind === "var" ? void found(t) : undefined) });
}
