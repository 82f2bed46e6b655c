import { parseNumber } from "../value/number.ts";
import type { Body, CallTerm, Expr, Literal, Location, RefTerm, Term, VarTerm, With } from "./ast.ts";
import type { Extents } from "./extents.ts";
import { KEYWORDS, SyntaxProblem, type Token } from "./scan.ts";

const MAX_DEPTH = 256;
/** Longest chain of infix operators or of ref parts. */
const MAX_CHAIN = 1_000;
const MAX_NODES = 200_000;

/** Binary operators by precedence, loosest first, with the builtin each calls. */
const LEVELS: readonly ReadonlyMap<string, string>[] = [
  new Map([
    ["==", "equal"],
    ["!=", "neq"],
    ["<", "lt"],
    [">", "gt"],
    ["<=", "lte"],
    [">=", "gte"],
  ]),
  new Map([["|", "or"]]),
  new Map([["&", "and"]]),
  new Map([
    ["+", "plus"],
    ["-", "minus"],
  ]),
  new Map([
    ["*", "mul"],
    ["/", "div"],
    ["%", "rem"],
  ]),
];

/** Recursive descent over a token list; backtracks by index. Throws {@link SyntaxProblem}. */
export class TermParser {
  protected tokens: readonly Token[];
  protected at = 0;
  /** Where nodes begin and end, for who writes them again. */
  protected readonly extents: Extents | undefined;
  protected depth = 0;
  #nodes = 0;
  #steps = 0;
  /** Why there are no template strings; undefined where there are. */
  protected templates: string | undefined;
  /** Keywords may be names in refs. */
  protected keywordNames = true;
  /** Offsets after which no comprehension body parses: keeps backtracking from repeating itself. */
  readonly #noComprehension = new Set<number>();

  constructor(tokens: readonly Token[], extents?: Extents) {
    this.tokens = tokens;
    this.extents = extents;
  }

  /** Offset of the end of what was read last. */
  protected get lastEnd(): number {
    return this.tokens[this.at - 1]?.end ?? 0;
  }

  protected get token(): Token {
    return this.tokens[this.at] as Token;
  }

  protected peek(offset = 1): Token {
    return this.tokens[Math.min(this.at + offset, this.tokens.length - 1)] as Token;
  }

  protected advance(): Token {
    const token = this.token;
    if (++this.#steps > 40 * this.tokens.length + 10_000) throw new SyntaxProblem("source is too ambiguous", this.loc(), true);
    if (this.at < this.tokens.length - 1) this.at++;
    return token;
  }

  protected is(kind: string): boolean {
    return this.token.kind === kind;
  }

  protected loc(): Location {
    return { row: this.token.row, col: this.token.col, offset: this.token.start };
  }

  protected fail(message: string, loc = this.loc()): never {
    throw new SyntaxProblem(message, loc);
  }

  protected unexpected(expected: string): never {
    const token = this.token;
    const found = token.kind === "end" ? "end of file" : token.kind === "ident" ? token.text : token.kind;
    return this.fail(`unexpected ${found} token: expected ${expected}`);
  }

  protected expect(kind: string): Token {
    if (!this.is(kind)) this.unexpected(kind);
    return this.advance();
  }

  protected node<T extends Term | Literal>(value: T): T {
    if (++this.#nodes > MAX_NODES) throw new SyntaxProblem("source has too many terms", this.loc(), true);
    this.extents?.note(value, this.lastEnd);
    return value;
  }

  protected deeper<T>(parse: () => T): T {
    if (++this.depth > MAX_DEPTH) throw new SyntaxProblem("source is nested too deeply", this.loc(), true);
    try {
      return parse();
    } finally {
      this.depth--;
    }
  }

  protected attempt<T>(parse: () => T): T | undefined {
    const mark = this.at;
    try {
      return parse();
    } catch (error) {
      if (!(error instanceof SyntaxProblem) || error.limit) throw error;
      this.at = mark;
      return undefined;
    }
  }

  // --- bodies ------------------------------------------------------------------------------------------------------

  /** Literals up to the closing token, which is consumed. */
  protected body(close: string): Body {
    return this.deeper(() => {
      if (this.is(close)) this.fail("found empty body");
      const literals: Literal[] = [];
      while (true) {
        literals.push(this.literal());
        if (this.is(";")) {
          this.advance();
          continue;
        }
        if (this.is(close)) break;
        if (!this.token.fresh) this.unexpected(`\\n or ; or ${close}`);
      }
      this.advance();
      return literals;
    });
  }

  /** A keyword directly followed by `.` or `[` is a name. */
  protected keywordIsName(): boolean {
    const next = this.peek();
    return this.keywordNames && KEYWORDS.has(this.token.kind) && !next.spaced && (next.kind === "." || next.kind === "[");
  }

  /** What may stand behind a dot. */
  protected isName(): boolean {
    return this.is("ident") || (this.keywordNames && KEYWORDS.has(this.token.kind));
  }

  protected literal(): Literal {
    const loc = this.loc();
    if (this.keywordIsName()) return { expr: this.#expression(), negated: false, with: this.#withs(), loc };
    const negated = this.is("not");
    if (negated) this.advance();
    let expr: Expr;
    if (this.is("some") && !this.keywordIsName()) {
      if (negated) this.fail("illegal negation of 'some'");
      expr = this.#some();
      if (expr.kind === "some" && this.is("with")) this.unexpected("\\n or ;");
    } else if (this.is("every") && !this.keywordIsName()) {
      if (negated) this.fail("illegal negation of 'every'");
      expr = this.#every();
    } else {
      if (negated && this.is("not") && !this.keywordIsName()) this.unexpected("a term");
      expr = this.#expression();
      if (negated && expr.kind === "assign") this.fail("cannot assign vars inside negated expression", loc);
    }
    return this.node({ expr, negated, with: this.#withs(), loc });
  }

  #expression(): Expr {
    const left = this.infix(true);
    if (this.is(":=")) {
      this.advance();
      return { kind: "assign", left, right: this.infix(true) };
    }
    if (this.is("=")) {
      this.advance();
      return { kind: "unify", left, right: this.infix(true) };
    }
    return { kind: "term", term: left };
  }

  #withs(): readonly With[] {
    const withs: With[] = [];
    while (this.is("with") && !this.keywordIsName()) {
      const loc = this.loc();
      this.advance();
      if (!this.is("ident")) this.unexpected("a with target");
      const target = this.term();
      if (target.kind !== "ref" && target.kind !== "var") this.fail("expected with target path", loc);
      else {
        this.expect("as");
        withs.push({ target, value: this.infix(true), loc });
      }
    }
    return withs;
  }

  #some(): Expr {
    const loc = this.loc();
    this.advance();
    const mark = this.at;
    const term = this.attempt(() => this.infix(true));
    if (term?.kind === "call") {
      const parts = membership(term);
      if (parts === undefined) this.fail("expected `x in xs` or `x, y in xs` expression", loc);
      else return { kind: "some-in", ...parts };
    }
    this.at = mark;
    const names: VarTerm[] = [];
    do {
      if (names.length > 0) this.advance();
      if (!this.is("ident")) this.unexpected("a variable");
      const token = this.advance();
      names.push({ kind: "var", name: token.text, loc: locationOf(token) });
    } while (this.is(","));
    return { kind: "some", names };
  }

  #every(): Expr {
    const loc = this.loc();
    this.advance();
    const term = this.infix(true);
    const parts = term.kind === "call" ? membership(term) : undefined;
    if (parts === undefined) return this.fail("expected `x[, y] in xs { ... }` expression", loc);
    const { key, value, domain } = parts;
    if (key !== undefined && key.kind !== "var") return this.fail("expected key to be a variable", key.loc);
    if (value.kind !== "var") return this.fail("expected value to be a variable", value.loc);
    if (!this.is("{")) return this.fail("missing body");
    this.advance();
    return { kind: "every", key, value, domain, body: this.body("}") };
  }

  // --- terms -------------------------------------------------------------------------------------------------------

  /** A term with infix operators; `pairs` allows `k, v in xs`. */
  protected infix(pairs: boolean): Term {
    return this.deeper(() => {
      let left = this.#binary(0);
      if (pairs && this.is(",")) {
        const mark = this.at;
        const right = this.attempt(() => {
          this.advance();
          const second = this.#binary(0);
          if (!this.#infixIn()) this.unexpected("in");
          const loc = this.loc();
          this.advance();
          return this.#call("internal.member_3", [left, second, this.#binary(0)], loc, left.loc);
        });
        if (right === undefined) {
          this.at = mark;
          return left;
        }
        left = right;
      }
      for (let chain = 0; this.#infixIn(); chain++) {
        if (chain > MAX_CHAIN) throw new SyntaxProblem("expression is too long", this.loc(), true);
        const loc = this.loc();
        this.advance();
        left = this.#call("internal.member_2", [left, this.#binary(0)], loc, left.loc);
      }
      return left;
    });
  }

  #infixIn(): boolean {
    return this.is("in") && !this.keywordIsName();
  }

  #binary(level: number): Term {
    return this.#continueBinary(level, undefined);
  }

  /** Precedence climbing, iterative along each chain; `first` is an operand already read. */
  #continueBinary(level: number, first: Term | undefined): Term {
    const operators = LEVELS[level];
    if (operators === undefined) return first ?? this.term();
    let left = this.#continueBinary(level + 1, first);
    for (let chain = 0; ; chain++) {
      const name = operators.get(this.token.kind);
      if (name === undefined) return left;
      if (chain > MAX_CHAIN) throw new SyntaxProblem("expression is too long", this.loc(), true);
      const loc = this.loc();
      this.advance();
      left = this.#call(name, [left, this.#binary(level + 1)], loc, left.loc);
    }
  }

  #call(name: string, args: readonly Term[], operatorLoc: Location, loc: Location): CallTerm {
    return this.node({ kind: "call", operator: { kind: "var", name, loc: operatorLoc }, args, infix: true, loc });
  }

  /** One term without infix operators. */
  protected term(): Term {
    return this.deeper(() => this.#finish(this.#primary()));
  }

  #primary(): Term {
    const token = this.token;
    const loc = this.loc();
    if (this.keywordIsName()) return this.#variable();
    switch (token.kind) {
      case "null":
        this.advance();
        return this.node({ kind: "scalar", value: null, loc });
      case "true":
      case "false":
        this.advance();
        return this.node({ kind: "scalar", value: token.kind === "true", loc });
      case "number":
      case ".":
      case "-":
        return this.#number();
      case "string":
        this.advance();
        return this.node({ kind: "scalar", value: token.text, loc });
      case "template-part":
      case "template-end":
        return this.#template();
      case "ident":
      case "contains":
        return this.#variable();
      case "[":
        return this.#array();
      case "{":
        return this.#braces();
      case "(": {
        this.advance();
        const inner = this.infix(true);
        if (!this.is(")")) this.fail("non-terminated expression");
        this.advance();
        this.extents?.enclose(inner, loc.offset, this.lastEnd);
        return inner;
      }
      default:
        return this.unexpected("a term");
    }
  }

  #variable(): VarTerm {
    const token = this.advance();
    return this.node({ kind: "var", name: token.text, loc: locationOf(token) });
  }

  #number(): Term {
    const loc = this.loc();
    let text = "";
    if (this.is("-")) {
      text = "-";
      this.advance();
      if ((!this.is("number") && !this.is(".")) || this.token.spaced) this.unexpected("number");
    }
    if (this.is(".")) {
      text += ".";
      this.advance();
      if (this.token.spaced) this.unexpected("number");
    }
    if (!this.is("number")) this.unexpected("number");
    const digits = this.advance().text;
    if (!text.endsWith(".") && /^0\d/.test(digits)) this.fail("expected number without leading zero", loc);
    const value = parseNumber(text + digits);
    if (value === undefined) return this.fail("number too big", loc);
    return this.node({ kind: "scalar", value, loc });
  }

  /** Ref parts and calls that follow a term without white space. */
  #finish(head: Term): Term {
    let term = head;
    let path: Term[] = [];
    let chain = 0;
    const flush = (): Term => {
      if (path.length > 0) {
        term = this.node({ kind: "ref", head: term, path, loc: head.loc });
        path = [];
      }
      return term;
    };
    while (!this.token.spaced) {
      if (++chain > MAX_CHAIN) throw new SyntaxProblem("ref is too long", this.loc(), true);
      if (this.is(".") || this.is("[")) {
        if (term.kind === "scalar" || term.kind === "template") this.fail(`illegal ref (head cannot be ${describe(term)})`);
        if (this.is(".")) {
          this.advance();
          if (this.token.spaced || !this.isName()) this.unexpected("ident");
          const token = this.advance();
          path.push(this.node({ kind: "scalar", value: token.text, loc: locationOf(token) }));
        } else {
          this.advance();
          path.push(this.infix(true));
          this.expect("]");
        }
      } else if (this.is("(")) {
        const operator = flush();
        if (!isDotted(operator)) return this.fail("expected a function name", operator.loc);
        this.advance();
        const args = this.#list(")");
        if (operator.kind === "var" && operator.name === "set" && args.length === 0) {
          term = this.node({ kind: "set", items: [], loc: head.loc });
        } else term = this.node({ kind: "call", operator, args, infix: false, loc: head.loc });
      } else break;
    }
    return flush();
  }

  /** Comma-separated terms up to `close`, which is consumed; a trailing comma is allowed. */
  #list(close: string, first?: Term): Term[] {
    const items = first === undefined ? [] : [first];
    while (!this.is(close)) {
      items.push(this.infix(false));
      if (this.is(",")) this.advance();
      else if (!this.is(close)) this.unexpected(`"," or "${close}"`);
    }
    this.advance();
    return items;
  }

  /** After `head` and with `|` next: the comprehension's body, or undefined when this is a union. */
  #comprehensionBody(close: string): Body | undefined {
    const start = this.token.start;
    if (this.#noComprehension.has(start)) return undefined;
    const mark = this.at;
    const body = this.attempt(() => {
      this.advance();
      return this.body(close);
    });
    if (body === undefined) {
      this.at = mark;
      this.#noComprehension.add(start);
    }
    return body;
  }

  #array(): Term {
    const loc = this.loc();
    this.advance();
    const leading = this.is(",");
    if (leading) this.advance();
    if (this.is("]")) {
      this.advance();
      return this.node({ kind: "array", items: [], loc });
    }
    const head = this.term();
    if (this.is("|") && !leading) {
      const body = this.#comprehensionBody("]");
      if (body !== undefined) return this.node({ kind: "array-comprehension", head, body, loc });
    }
    const first = this.#resume(head);
    if (this.is(",")) this.advance();
    else if (!this.is("]")) this.unexpected('"," or "]"');
    return this.node({ kind: "array", items: this.#list("]", first), loc });
  }

  /** Goes on with a list element whose first operand was read already. */
  #resume(head: Term): Term {
    let left = this.#continueBinary(0, head);
    while (this.#infixIn()) {
      const loc = this.loc();
      this.advance();
      left = this.#call("internal.member_2", [left, this.#binary(0)], loc, left.loc);
    }
    return left;
  }

  #braces(): Term {
    const loc = this.loc();
    this.advance();
    const leading = this.is(",");
    if (leading) this.advance();
    if (this.is("}")) {
      this.advance();
      return this.node({ kind: "object", entries: [], loc });
    }
    const head = this.term();
    if (this.is("|") && !leading) {
      const body = this.#comprehensionBody("}");
      if (body !== undefined) return this.node({ kind: "set-comprehension", head, body, loc });
    }
    const first = this.#resume(head);
    if (this.is(":")) return this.#objectFrom(first, leading, loc);
    if (this.is(",")) this.advance();
    else if (!this.is("}")) this.unexpected('"," or "}"');
    return this.node({ kind: "set", items: this.#list("}", first), loc });
  }

  #objectFrom(key: Term, leading: boolean, loc: Location): Term {
    this.expect(":");
    const value = this.term();
    if (this.is("|") && !leading) {
      const body = this.#comprehensionBody("}");
      if (body !== undefined) return this.node({ kind: "object-comprehension", key, value, body, loc });
    }
    const entries: [Term, Term][] = [[key, this.#resume(value)]];
    while (this.is(",")) {
      this.advance();
      if (this.is("}")) break;
      const k = this.infix(false);
      this.expect(":");
      entries.push([k, this.infix(false)]);
    }
    if (!this.is("}")) this.unexpected('"," or "}"');
    this.advance();
    return this.node({ kind: "object", entries, loc });
  }

  #template(): Term {
    const loc = this.loc();
    if (this.templates !== undefined) this.fail(`template strings are not supported by ${this.templates}`);
    const parts: (string | Literal)[] = [];
    while (true) {
      const part = this.advance();
      if (part.text !== "") parts.push(part.text);
      if (part.kind === "template-end") return this.node({ kind: "template", parts, loc });
      const literal = this.deeper(() => this.literal());
      const { kind } = literal.expr;
      if (literal.negated) this.fail("unexpected negation ('not') in template-string expression", literal.loc);
      if (kind === "unify") this.fail("unexpected unification ('=') in template-string expression", literal.loc);
      if (kind === "assign") this.fail("unexpected assignment (':=') in template-string expression", literal.loc);
      if (kind !== "term")
        this.fail(`unexpected '${kind === "every" ? "every" : "some"}' in template-string expression`, literal.loc);
      parts.push(literal);
      if (!this.is("}")) this.fail("expected } to end template string expression");
      this.advance();
      if (!this.is("template-part") && !this.is("template-end")) this.unexpected("the rest of the template string");
    }
  }
}

/** The parts of `x in xs` or `k, v in xs`. */
function membership(call: CallTerm): { key: Term | undefined; value: Term; domain: Term } | undefined {
  if (!call.infix || call.operator.kind !== "var") return undefined;
  const [a, b, c] = call.args;
  if (call.operator.name === "internal.member_2" && a !== undefined && b !== undefined) {
    return { key: undefined, value: a, domain: b };
  }
  if (call.operator.name === "internal.member_3" && a !== undefined && b !== undefined && c !== undefined) {
    return { key: a, value: b, domain: c };
  }
  return undefined;
}

function isDotted(term: Term): term is RefTerm | VarTerm {
  return term.kind === "var" || (term.kind === "ref" && term.head.kind === "var");
}

function describe(term: Term): string {
  if (term.kind !== "scalar") return "template-string";
  return term.value === null
    ? "null"
    : typeof term.value === "object" || typeof term.value === "bigint"
      ? "number"
      : typeof term.value;
}

function locationOf(token: Token): Location {
  return { row: token.row, col: token.col, offset: token.start };
}
