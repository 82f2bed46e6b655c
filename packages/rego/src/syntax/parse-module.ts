import { checkArgument } from "../argument.ts";
import type { Problem } from "../errors.ts";
import type { Body, ElseBranch, Head, Import, Location, Module, RegoVersion, Rule, Source, Term, VarTerm } from "./ast.ts";
import type { Extents } from "./extents.ts";
import { TermParser } from "./parse-term.ts";
import { KEYWORDS, SyntaxProblem, scan, type Token } from "./scan.ts";
import { visit } from "./visit.ts";

/** Bytes of one source that the parser accepts. */
const MAX_SOURCE_LENGTH = 1_000_000;
/** Rules of one source. */
const MAX_RULES = 10_000;
/** Syntax errors of one source that are reported. */
const MAX_PROBLEMS = 10;

/** What of the language a source may use; everything where it is not given. */
interface Language {
  readonly features: ReadonlySet<string>;
  readonly futureKeywords: ReadonlySet<string>;
}

/**
 * Parses one module. Never throws: the module is undefined if there was any problem.
 *
 * @example
 * ```ts
 * import { parseModule } from "@seneschal/rego";
 * const { module } = parseModule({ name: "p.rego", source: "package p\n\nallow if input.admin\n" });
 * console.log(module?.packagePath); // [ 'p' ]
 * ```
 */
export function parseModule(
  source: Source,
  language?: Language,
): { readonly module: Module | undefined; readonly problems: readonly Problem[] } {
  checkArgument("source", source, "object");
  return parseModuleWith(source, undefined, language);
}

/** {@link parseModule} that notes where the nodes stand. */
export function parseModuleWith(
  source: Source,
  extents: Extents | undefined,
  language?: Language,
): { readonly module: Module | undefined; readonly problems: readonly Problem[] } {
  const { parsed, problems } = guarded(source.name, () => {
    const { tokens, comments } = scanSource(source);
    const parser = new ModuleParser(tokens, source.version ?? "v1", extents, language);
    const module = parser.module(source, comments);
    return { module: parser.problems.length === 0 ? module : undefined, problems: parser.problems };
  });
  if (parsed === undefined) return { module: undefined, problems };
  return { module: parsed.module, problems: parsed.problems.map((problem) => problemOf(problem, source.name)) };
}

/** Parses a query, a body outside of any package. Never throws. */
export function parseQuery(query: string): { readonly body: Body | undefined; readonly problems: readonly Problem[] } {
  checkArgument("query", query, "string");
  const { parsed, problems } = guarded("query", () =>
    new ModuleParser(scanSource({ name: "query", source: query }).tokens, "v1").query(),
  );
  return { body: parsed, problems };
}

function scanSource(source: Source) {
  if (source.source.length > MAX_SOURCE_LENGTH) {
    throw new SyntaxProblem(`source is longer than ${MAX_SOURCE_LENGTH} bytes`, { row: 1, col: 1, offset: 0 }, true);
  }
  return scan(source.source.startsWith("\ufeff") ? source.source.slice(1) : source.source);
}

function guarded<T>(file: string, parse: () => T): { parsed: T | undefined; problems: readonly Problem[] } {
  try {
    return { parsed: parse(), problems: [] };
  } catch (error) {
    if (error instanceof SyntaxProblem) return { parsed: undefined, problems: [problemOf(error, file)] };
    if (error instanceof RangeError) {
      return {
        parsed: undefined,
        problems: [{ code: "rego_limit_error", message: "source is nested too deeply", file, row: 1, col: 1 }],
      };
    }
    throw error;
  }
}

function problemOf({ limit, message, loc: { row, col } }: SyntaxProblem, file: string): Problem {
  return { code: limit ? "rego_limit_error" : "rego_parse_error", message, file, row, col };
}

class ModuleParser extends TermParser {
  /** Of statements; what is wrong before the first one, or is too much, is thrown. */
  readonly problems: SyntaxProblem[] = [];
  #version: RegoVersion;
  readonly #language: Language | undefined;

  constructor(tokens: readonly Token[], version: RegoVersion, extents?: Extents, language?: Language) {
    super(
      version === "v1" ? tokens : tokens.map((token) => (IMPORTED.has(token.kind) ? { ...token, kind: "ident" } : token)),
      extents,
    );
    this.#version = version;
    this.#language = language;
    const features = language?.features;
    if (version === "v0") this.templates = "v0";
    else if (features?.has("template_strings") === false) this.templates = "current capabilities";
    this.keywordNames = features?.has("keywords_in_refs") ?? true;
  }

  query(): Body {
    const literals = [];
    while (!this.is("end")) {
      literals.push(this.literal());
      if (this.is(";")) while (this.is(";")) this.advance();
      else if (!this.is("end") && !this.token.fresh) this.unexpected("\\n or ;");
    }
    if (literals.length === 0) this.fail("empty query");
    return literals;
  }

  module(source: Source, comments: Module["comments"]): Module {
    if (this.#version === "v1" && !this.#has("rego_v1")) {
      this.fail("illegal capabilities: rego_v1 feature required for parsing v1 Rego");
    }
    if (!this.is("package")) this.fail(this.is("end") ? "empty module" : "package expected");
    const packageLoc = this.loc();
    this.advance();
    const packagePath = this.#packagePath();
    this.#endOfStatement();
    const imports: Import[] = [];
    const rules: Rule[] = [];
    while (!this.is("end") && this.problems.length < MAX_PROBLEMS) {
      const start = this.at;
      try {
        if (this.is("import") && !this.keywordIsName()) imports.push(this.#import());
        else if (this.is("package") && !this.keywordIsName()) this.fail("unexpected package");
        else rules.push(...this.#rule());
        this.#endOfStatement();
      } catch (error) {
        if (!(error instanceof SyntaxProblem) || error.limit) throw error;
        this.problems.push(error);
        this.#nextStatement(start);
      }
      if (rules.length > MAX_RULES) throw new SyntaxProblem(`source has more than ${MAX_RULES} rules`, this.loc(), true);
    }
    const version = this.#version;
    return { name: source.name, source: source.source, version, packagePath, packageLoc, imports, rules, comments };
  }

  /** Goes on after a problem at the next line that begins with a name or a keyword in its first column. */
  #nextStatement(start: number): void {
    this.depth = 0;
    if (this.at === start) this.advance();
    while (
      !this.is("end") &&
      !(this.token.fresh && this.token.col === 1 && (this.is("ident") || KEYWORDS.has(this.token.kind)))
    ) {
      this.advance();
    }
  }

  #endOfStatement(): void {
    while (this.is(";")) this.advance();
    if (!this.is("end") && !this.token.fresh && this.tokens[this.at - 1]?.kind !== ";") this.unexpected("a line end");
  }

  #packagePath(): string[] {
    const path: string[] = [];
    do {
      if (path.length > 0) {
        if (this.is("[")) {
          this.advance();
          if (!this.is("string")) this.unexpected("a string");
          path.push(this.advance().text);
          this.expect("]");
          continue;
        }
        this.expect(".");
        if (this.token.spaced) this.unexpected("ident");
      }
      if (!this.isName()) this.unexpected("ident");
      path.push(this.advance().text);
    } while (!this.token.spaced && (this.is(".") || this.is("[")));
    if (path[0] === "data" && path.length > 1) path.shift();
    return path;
  }

  #import(): Import {
    const loc = this.loc();
    this.advance();
    if (!this.isName()) this.unexpected("ident");
    const path: string[] = [this.advance().text];
    while (!this.token.spaced && (this.is(".") || this.is("["))) {
      if (this.advance().kind === "[") {
        if (!this.is("string")) this.unexpected("a string");
        path.push(this.advance().text);
        this.expect("]");
      } else {
        if (!this.isName()) this.unexpected("ident");
        path.push(this.advance().text);
      }
    }
    let alias: string | undefined;
    if (this.is("as")) {
      this.advance();
      if (!this.is("ident")) this.unexpected("var");
      alias = this.advance().text;
    }
    const root = path[0] ?? "";
    if (!["data", "input", "future", "rego"].includes(root)) {
      this.fail(`unexpected import path, must begin with one of: {data, future, input, rego}, got: ${root}`, loc);
    }
    if (root === "future" || root === "rego") {
      const known =
        root === "rego" ? path.join(".") === "rego.v1" : path[1] === "keywords" && (path.length < 3 || FUTURE.has(path[2] ?? ""));
      if (!known || path.length > 3) this.fail(`invalid import \`${path.join(".")}\``, loc);
      if (!this.#importable(path)) {
        this.fail(`invalid import, \`${path.join(".")}\` is not supported by current capabilities`, loc);
      }
      if (alias !== undefined) this.fail(`\`${root}\` imports cannot be aliased`, loc);
      if (this.#version === "v0") this.#importKeywords(path);
    } else if (alias === undefined && path.length > 1 && this.#isReserved(path.at(-1) ?? "")) {
      this.fail("unexpected import path, must not end with a keyword", loc);
    }
    return { path, alias, loc };
  }

  #has(feature: string): boolean {
    return this.#language?.features.has(feature) ?? true;
  }

  #importable([root, , word]: readonly string[]): boolean {
    if (this.#has("rego_v1")) return true;
    if (root === "rego") return this.#has("rego_v1_import");
    return (word === undefined ? [...IMPORTED] : [word]).every((name) => this.#language?.futureKeywords.has(name));
  }

  #isReserved(word: string): boolean {
    return KEYWORDS.has(word) && (this.#version === "v1" || !IMPORTED.has(word));
  }

  /** From here on the words are keywords; `rego.v1` brings all of them, and the rules of v1. */
  #importKeywords([root, , word]: readonly string[]): void {
    if (root === "rego") this.#version = "v1";
    this.tokens = this.tokens.map((token, i) =>
      i >= this.at && token.kind === "ident" && IMPORTED.has(token.text) && (word === undefined || word === token.text)
        ? { ...token, kind: token.text }
        : token,
    );
  }

  #rule(): Rule[] {
    const loc = this.loc();
    let isDefault = false;
    if (this.is("default") && !this.keywordIsName()) {
      isDefault = true;
      this.advance();
    }
    if (!this.is("ident") && !this.keywordIsName()) this.unexpected("rule head name");
    const head = this.#head();
    if (isDefault) {
      const valued = head.args === undefined ? head : { ...head, value: head.value ?? truth(loc) };
      this.#checkDefault(valued, loc);
      return [this.#finished({ head: valued, isDefault, body: [], otherwise: [], loc, end: 0 })];
    }
    if (this.is("if") && !this.keywordIsName()) {
      this.advance();
      return this.#withBody({ ...head, value: head.key === undefined ? (head.value ?? truth(head.loc)) : undefined }, loc);
    }
    if (this.is("{")) {
      this.#expectNoIf();
      return this.#withBody(asPartialSet(head), loc);
    }
    if (head.key !== undefined || head.value !== undefined) {
      const otherwise = this.#elses(head);
      return [this.#finished({ head, isDefault: false, body: [], otherwise, loc, end: 0 })];
    }
    // `f(null)` alone: a function that is true for these arguments
    if (head.args !== undefined && !this.is("else")) {
      return [
        this.#finished({ head: { ...head, value: truth(head.loc) }, isDefault: false, body: [], otherwise: [], loc, end: 0 }),
      ];
    }
    // `p[x]` alone is an element of a set, `p.q.r` alone is true
    if (this.#version === "v0" && head.ref.length > 1 && !this.is("else")) {
      return [this.#finished({ head: asPartialSet(head), isDefault: false, body: [], otherwise: [], loc, end: 0 })];
    }
    return this.fail("must declare with a value assignment, `contains` or `if` before the rule body", head.loc);
  }

  #finished(rule: Rule): Rule {
    return { ...rule, end: this.tokens[this.at - 1]?.end ?? 0 };
  }

  /** A body without `if` before it is one of v0. */
  #expectNoIf(): void {
    if (this.#version === "v1") this.fail("`if` keyword is required before rule body");
  }

  /** The literals in braces. */
  #braced(): Body {
    this.expect("{");
    return this.body("}");
  }

  #withBody(head: Head, loc: Location): Rule[] {
    const braced = this.is("{");
    const body = this.tokens[this.at - 1]?.kind === "if" ? this.#ruleBody() : this.#braced();
    const otherwise = this.#elses(head);
    const rules = [this.#finished({ head, isDefault: false, body, otherwise, loc, end: 0 })];
    while (braced && this.is("{")) {
      if (otherwise.length > 0) this.fail("expected else keyword");
      const chained = this.loc();
      this.advance();
      rules.push(this.#finished({ head, isDefault: false, body: this.body("}"), otherwise: [], loc: chained, end: 0 }));
    }
    return rules;
  }

  /** After `if` (or `else if`): one literal, or literals in braces. */
  #ruleBody(): Body {
    if (!this.is("{")) return [this.literal()];
    const mark = this.at;
    let problem: unknown;
    if (this.peek().kind !== "}") {
      try {
        this.advance();
        const body = this.body("}");
        const first = body[0]?.expr;
        const union =
          first?.kind === "term" &&
          first.term.kind === "call" &&
          first.term.infix &&
          first.term.operator.kind === "var" &&
          first.term.operator.name === "or";
        const ended = this.token.fresh || this.is("end") || this.is("else") || this.is("{") || this.is(";");
        if (ended) return (union ? this.attempt(() => this.#bracedTerm(mark)) : undefined) ?? body;
      } catch (error) {
        if (!(error instanceof SyntaxProblem) || error.limit) throw error;
        problem = error;
      }
    }
    try {
      return this.#bracedTerm(mark);
    } catch (error) {
      if (problem === undefined || (error instanceof SyntaxProblem && error.limit)) throw error;
      throw problem;
    }
  }

  /** The literal at `mark`, whose braces are those of a comprehension; fails where they are those of a body. */
  #bracedTerm(mark: number): Body {
    this.at = mark;
    const literal = this.literal();
    if (literal.expr.kind === "term" && literal.expr.term.kind === "set") this.unexpected("\\n or ;");
    return [literal];
  }

  #elses(head: Head): ElseBranch[] {
    const branches: ElseBranch[] = [];
    while (this.is("else") && !this.keywordIsName()) {
      const loc = this.loc();
      if (head.key !== undefined) this.fail("else keyword cannot be used on multi-value rules");
      if (head.ref.slice(1).some((part) => part.kind !== "scalar")) {
        this.fail("else keyword cannot be used on rules with variables in head");
      }
      this.advance();
      let value: Term | undefined;
      let operator: Head["operator"];
      if (this.is(":=") || this.is("=")) {
        operator = this.advance().kind as Head["operator"];
        value = this.infix(true);
      } else if (this.is("{")) this.#expectNoIf();
      else if (!this.is("if")) this.fail("expected else value term or rule body");
      const headEnd = this.lastEnd;
      let body: Body = [];
      if (this.is("if") && !this.keywordIsName()) {
        this.advance();
        if (this.is("{")) {
          const mark = this.at;
          body = this.#ruleBody();
          if (this.at === mark) this.unexpected("rule body");
        } else body = [this.literal()];
      } else if (this.is("{")) {
        this.#expectNoIf();
        body = this.#braced();
      }
      branches.push({ value, operator, body, loc, headEnd });
    }
    return branches;
  }

  #head(): Head {
    const loc = this.loc();
    const named = this.term();
    let ref: [VarTerm, ...Term[]];
    let args: readonly Term[] | undefined;
    if (named.kind === "var") ref = [named];
    else if (named.kind === "ref" && named.head.kind === "var") ref = [named.head, ...named.path];
    else if (named.kind === "call") {
      args = named.args;
      ref = named.operator.kind === "var" ? [named.operator] : [named.operator.head as VarTerm, ...named.operator.path];
      if (args.length === 0) {
        // OPA drops an empty argument list: `f() := 1` is the rule `f`
        args = undefined;
      }
    } else return this.fail("expected rule head name", loc);
    let key: Term | undefined;
    let value: Term | undefined;
    let operator: Head["operator"];
    if (this.is("contains") && !this.keywordIsName()) {
      if (named.kind === "call") this.fail("the contains keyword can only be used with multi-value rule definitions");
      this.advance();
      key = this.infix(true);
    } else if (this.is(":=") || this.is("=")) {
      operator = this.advance().kind as Head["operator"];
      value = this.infix(true);
    } else if (!this.is("if") && !this.is("end") && !this.token.fresh && !this.is("{") && !this.is("else"))
      this.unexpected("a rule");
    return { ref, args, key, value, operator, loc, end: this.lastEnd };
  }

  #checkDefault(head: Head, loc: Location): void {
    if (head.value === undefined) this.fail("illegal default rule (must have a value)", loc);
    else checkGround(head.value, (what) => this.fail(`illegal default rule (value cannot contain ${what})`, loc));
    const names = new Set<string>();
    for (const arg of head.args ?? []) {
      if (arg.kind !== "var") this.fail("illegal default rule (arguments cannot contain anything but variables)", loc);
      else if (arg.name !== "_") {
        if (names.has(arg.name)) this.fail(`illegal default rule (arguments cannot be repeated ${arg.name})`, loc);
        names.add(arg.name);
      }
    }
    if (head.ref.slice(1).some((part) => part.kind === "var"))
      this.fail("illegal default rule (head cannot contain variables)", loc);
  }
}

/** Keywords of v1 that v0 imports. */
const IMPORTED: ReadonlySet<string> = new Set(["in", "if", "every", "contains"]);
const FUTURE = new Set(["in", "if", "every", "contains", "not"]);

/** What `p[x]` before a body without `if`, or alone, means: `p contains x`. */
function asPartialSet(head: Head): Head {
  const [name, key] = head.ref;
  if (head.key !== undefined) return { ...head, value: undefined };
  if (head.args !== undefined || head.value !== undefined || head.ref.length !== 2 || key === undefined) {
    return { ...head, value: head.value ?? truth(head.loc) };
  }
  return { ...head, ref: [name], key, value: undefined };
}

function truth(loc: Location): Term {
  return { kind: "scalar", value: true, loc };
}

function checkGround(value: Term, refuse: (what: string) => never): void {
  visit(value, {
    term: ({ kind }) => {
      if (kind === "var" || kind === "ref" || kind === "call") refuse(kind);
      return kind === "array" || kind === "set" || kind === "object";
    },
  });
}
