import { EvaluationError } from "../../errors.ts";
import { tick } from "../../value/meter.ts";
import { functionNames } from "./functions.ts";
import { lex, refuse, type Token, type TokenKind } from "./lex.ts";
import { characterOf, type GoValue, numberOf, unquote } from "./literals.ts";

export type Operand =
  | { readonly kind: "constant"; readonly value: GoValue }
  | { readonly kind: "nil" | "dot" }
  | { readonly kind: "variable" | "call"; readonly name: string }
  | { readonly kind: "pipeline"; readonly pipeline: Pipeline }
  | { readonly kind: "fields"; readonly of: Operand; readonly names: readonly string[] };

export interface Pipeline {
  readonly declares: readonly string[];
  /** Sets variables that exist instead of declaring them. */
  readonly assigns: boolean;
  readonly commands: readonly (readonly Operand[])[];
  readonly line: number;
}

export type Node =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "action"; readonly pipeline: Pipeline }
  | { readonly kind: "break" | "continue" }
  | {
      readonly kind: "if" | "with" | "range";
      readonly pipeline: Pipeline;
      readonly body: readonly Node[];
      readonly otherwise: readonly Node[] | undefined;
    }
  | { readonly kind: "template"; readonly name: string; readonly pipeline: Pipeline | undefined; readonly line: number };

/** The templates of a text by name; the text itself is `template`. */
export type Templates = ReadonlyMap<string, readonly Node[]>;

const MAX_NESTING = 200;

/** Parses a Go template with the grammar of text/template; complex numbers are not supported. */
export function parseTemplate(text: string): Templates {
  return new Parser(lex(text)).all();
}

type Ending = "end" | "else";

class Parser {
  readonly #tokens: readonly Token[];
  readonly #templates = new Map<string, readonly Node[]>();
  #at = 0;
  #variables: string[] = ["$"];
  #ranges = 0;
  #nesting = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  all(): Templates {
    const nodes: Node[] = [];
    while (this.#peek().kind !== "end") {
      if (this.#peek().kind === "open" && this.#ahead(1).text === "define" && this.#ahead(1).kind === "keyword") {
        this.#at++;
        this.#next();
        const name = unquote(this.#expect("string", "define clause"));
        this.#expect("close", "define clause");
        this.#define(name);
        continue;
      }
      const node = this.#node();
      if (typeof node === "string") refuse(this.#peek().line, `unexpected {{${node}}}`);
      nodes.push(node);
    }
    this.#add("template", nodes);
    return this.#templates;
  }

  #add(name: string, nodes: readonly Node[]): void {
    const known = this.#templates.get(name);
    if (known === undefined || isEmpty(known)) this.#templates.set(name, nodes);
    else if (!isEmpty(nodes)) refuse(this.#peek().line, `template: multiple definition of template "${name}"`);
  }

  /** The body of a template of its own, up to its end. */
  #define(name: string): void {
    const variables = this.#variables;
    const ranges = this.#ranges;
    this.#variables = ["$"];
    this.#ranges = 0;
    const [nodes, ending] = this.#list();
    if (ending === "else") refuse(this.#peek().line, "unexpected {{else}} in define clause");
    this.#add(name, nodes);
    this.#variables = variables;
    this.#ranges = ranges;
  }

  #list(): readonly [readonly Node[], Ending] {
    tick();
    if (++this.#nesting > MAX_NESTING) throw new EvaluationError("eval_limit_error", "template is nested too deeply");
    const nodes: Node[] = [];
    for (;;) {
      if (this.#peek().kind === "end") refuse(this.#peek().line, "unexpected EOF");
      const node = this.#node();
      if (typeof node === "string") {
        this.#nesting--;
        return [nodes, node];
      }
      nodes.push(node);
    }
  }

  #node(): Node | Ending {
    tick();
    const token = this.#next();
    if (token.kind === "text") return { kind: "text", text: token.text };
    if (token.kind !== "open") return refuse(token.line, `unexpected ${token.text} in input`);
    const word = this.#peek();
    if (word.kind !== "keyword" || word.text === "nil") {
      return { kind: "action", pipeline: this.#pipeline("command", "close") };
    }
    this.#next();
    switch (word.text) {
      case "if":
      case "with":
      case "range":
        return this.#control(word.text);
      case "break":
      case "continue":
        this.#expect("close", `{{${word.text}}}`);
        if (this.#ranges === 0) refuse(word.line, `{{${word.text}}} outside {{range}}`);
        return { kind: word.text };
      case "end":
        this.#expect("close", "end");
        return "end";
      case "else":
        if (!this.#chains("if") && !this.#chains("with")) this.#expect("close", "else");
        return "else";
      case "template": {
        const name = unquote(this.#expect("string", "template clause"));
        if (this.#peek().kind !== "close") {
          return { kind: "template", name, pipeline: this.#pipeline("template clause", "close"), line: word.line };
        }
        this.#next();
        return { kind: "template", name, pipeline: undefined, line: word.line };
      }
      case "block": {
        const name = unquote(this.#expect("string", "block clause"));
        const pipeline = this.#pipeline("block clause", "close");
        this.#define(name);
        return { kind: "template", name, pipeline, line: word.line };
      }
      default:
        return refuse(word.line, `unexpected {{${word.text}}}`);
    }
  }

  /** `{{else if ...}}`: the keyword is next. */
  #chains(word: string): boolean {
    return this.#peek().kind === "keyword" && this.#peek().text === word;
  }

  #control(kind: "if" | "with" | "range"): Node {
    const known = this.#variables.length;
    const pipeline = this.#pipeline(kind, "close");
    if (kind === "range") this.#ranges++;
    const [body, ending] = this.#list();
    if (kind === "range") this.#ranges--;
    let otherwise: readonly Node[] | undefined;
    if (ending === "else") {
      if (kind !== "range" && this.#chains(kind)) {
        this.#next();
        otherwise = [this.#control(kind)];
      } else {
        const [nodes, last] = this.#list();
        if (last !== "end") refuse(this.#peek().line, "expected end; found {{else}}");
        otherwise = nodes;
      }
    }
    this.#variables.length = known;
    return { kind, pipeline, body, otherwise };
  }

  #pipeline(context: string, until: TokenKind): Pipeline {
    if (++this.#nesting > MAX_NESTING) throw new EvaluationError("eval_limit_error", "template is nested too deeply");
    const { line } = this.#peek();
    const declares: string[] = [];
    let assigns = false;
    while (this.#peek().kind === "variable") {
      const start = this.#at;
      const variable = this.#next().text;
      const sign = this.#peek();
      if (sign.kind === ":=" || sign.kind === "=") {
        this.#next();
        assigns = sign.kind === "=";
        declares.push(variable);
        this.#variables.push(variable);
        break;
      }
      if (sign.kind !== "char" || sign.text !== ",") {
        this.#at = start;
        break;
      }
      this.#next();
      declares.push(variable);
      this.#variables.push(variable);
      if (context !== "range" || declares.length > 1) refuse(sign.line, `too many declarations in ${context}`);
      if (this.#peek().kind !== "variable") refuse(sign.line, "range can only initialize variables");
    }
    const commands: (readonly Operand[])[] = [];
    while (this.#peek().kind !== until) commands.push(this.#command(context));
    this.#next();
    if (commands.length === 0) refuse(line, `missing value for ${context}`);
    for (const [i, [first]] of commands.entries()) {
      if (i > 0 && (first?.kind === "constant" || first?.kind === "nil" || first?.kind === "dot")) {
        refuse(line, `non executable command in pipeline stage ${i + 1}`);
      }
    }
    this.#nesting--;
    return { declares, assigns, commands, line };
  }

  #command(context: string): readonly Operand[] {
    const operands: Operand[] = [];
    for (;;) {
      const operand = this.#operand();
      if (operand !== undefined) operands.push(operand);
      const token = this.#tokens[this.#at] as Token;
      if (token.kind === "space") {
        this.#at++;
        continue;
      }
      if (token.kind === "|") this.#at++;
      else if (token.kind !== "close" && token.kind !== ")")
        refuse(token.line, `unexpected ${token.text} in ${operands.length > 0 ? "operand" : context}`);
      break;
    }
    if (operands.length === 0) refuse(this.#peek().line, "empty command");
    return operands;
  }

  #operand(): Operand | undefined {
    const term = this.#term();
    if (term === undefined) return undefined;
    const names: string[] = [];
    for (let token = this.#tokens[this.#at]; token?.kind === "field"; token = this.#tokens[this.#at]) {
      names.push(token.text.slice(1));
      this.#at++;
    }
    if (names.length === 0) return term;
    if (term.kind === "constant" || term.kind === "nil" || term.kind === "dot") {
      refuse(this.#peek().line, "unexpected . after term");
    }
    return term.kind === "fields" ? { ...term, names: [...term.names, ...names] } : { kind: "fields", of: term, names };
  }

  #term(): Operand | undefined {
    const token = this.#peek();
    switch (token.kind) {
      case "name":
        this.#next();
        if (!functionNames.has(token.text)) refuse(token.line, `function "${token.text}" not defined`);
        return { kind: "call", name: token.text };
      case "dot":
        this.#next();
        return { kind: "dot" };
      case "keyword":
        if (token.text !== "nil") return undefined;
        this.#next();
        return { kind: "nil" };
      case "variable":
        this.#next();
        if (!this.#variables.includes(token.text)) refuse(token.line, `undefined variable "${token.text}"`);
        return { kind: "variable", name: token.text };
      case "field":
        this.#next();
        return { kind: "fields", of: { kind: "dot" }, names: [token.text.slice(1)] };
      case "boolean":
        this.#next();
        return { kind: "constant", value: token.text === "true" };
      case "number":
        this.#next();
        return { kind: "constant", value: numberOf(token) };
      case "character":
        this.#next();
        return { kind: "constant", value: characterOf(token) };
      case "string":
        this.#next();
        return { kind: "constant", value: unquote(token) };
      case "(":
        this.#next();
        return { kind: "pipeline", pipeline: this.#pipeline("parenthesized pipeline", ")") };
      default:
        return undefined;
    }
  }

  #skipSpace(): void {
    while (this.#tokens[this.#at]?.kind === "space") this.#at++;
  }

  #peek(): Token {
    this.#skipSpace();
    return this.#tokens[this.#at] as Token;
  }

  #ahead(count: number): Token {
    let at = this.#at + count;
    while (this.#tokens[at]?.kind === "space") at++;
    return this.#tokens[at] as Token;
  }

  #next(): Token {
    const token = this.#peek();
    if (token.kind !== "end") this.#at++;
    return token;
  }

  #expect(kind: TokenKind, context: string): Token {
    const token = this.#next();
    if (token.kind !== kind) refuse(token.line, `unexpected ${token.text} in ${context}`);
    return token;
  }
}

function isEmpty(nodes: readonly Node[]): boolean {
  return nodes.every((node) => node.kind === "text" && node.text.trim() === "");
}
