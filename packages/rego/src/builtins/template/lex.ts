import { BuiltinError } from "../../errors.ts";

export type TokenKind =
  | "text"
  | "open"
  | "close"
  | "space"
  | "dot"
  | "field"
  | "variable"
  | "name"
  | "keyword"
  | "boolean"
  | "number"
  | "character"
  | "string"
  | "="
  | ":="
  | "|"
  | "("
  | ")"
  | "char"
  | "end";

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly line: number;
}

const KEYWORDS: ReadonlySet<string> = new Set("block break continue define else end if nil range template with".split(" "));

/** Fails with the place in a template, in the words of Go's text/template. */
export function refuse(line: number, message: string): never {
  throw new BuiltinError(`template: template:${line}: ${message}`);
}

const WORD = /[\p{L}\p{Nd}_]+/uy;
const NUMBER =
  /[+-]?(?:0[xX][\da-fA-F_]*(?:\.[\da-fA-F_]*)?(?:[pP][+-]?[\d_]*)?|0[oO][0-7_]*|0[bB][01_]*|[\d_]*(?:\.[\d_]*)?(?:[eE][+-]?[\d_]*)?)i?/y;
const QUOTED = /"(?:[^"\\\n]|\\[^\n])*"/y;
const RAW = /`[^`]*`/y;
const CHARACTER = /'(?:[^'\\\n]|\\[^\n])*'/y;
const COMMENT = /\{\{(?:-[ \t\r\n])?\/\*/y;

/** The tokens of a Go template; comments are gone and trim markers are applied. */
export function lex(template: string): readonly Token[] {
  const tokens: Token[] = [];
  let line = 1;
  let at = 0;
  const put = (kind: TokenKind, text: string): void => {
    tokens.push({ kind, text, line });
    for (const c of text) if (c === "\n") line++;
  };
  let trimNext = false;
  while (at < template.length) {
    const open = template.indexOf("{{", at);
    let text = template.slice(at, open < 0 ? template.length : open);
    if (trimNext) text = text.replace(/^[ \t\r\n]+/, "");
    trimNext = false;
    const trims = open >= 0 && /^-[ \t\r\n]/.test(template.slice(open + 2, open + 4));
    if (trims) text = trimRight(text);
    if (text !== "") put("text", text);
    if (open < 0) break;
    const comment = match(COMMENT, template, open);
    if (comment !== undefined) {
      const end = template.indexOf("*/", open + comment.length);
      if (end < 0) refuse(line, "unclosed comment");
      const close = /^(?:[ \t\r\n]-)?\}\}/.exec(template.slice(end + 2, end + 6))?.[0];
      if (close === undefined) return refuse(line, "comment ends before closing delimiter");
      at = end + 2 + close.length;
      trimNext = close.length > 2;
      continue;
    }
    put("open", "{{");
    at = action(template, open + (trims ? 3 : 2), put, () => line);
    trimNext = template[at - 3] === "-" && /[ \t\r\n]/.test(template[at - 4] ?? "");
  }
  put("end", "");
  return tokens;
}

function trimRight(text: string): string {
  let end = text.length;
  while (end > 0 && " \t\r\n".includes(text[end - 1] as string)) end--;
  return text.slice(0, end);
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

/** Reads one action up to its closing delimiter; returns the place behind it. */
function action(text: string, from: number, put: (kind: TokenKind, text: string) => void, line: () => number): number {
  let at = from;
  let parens = 0;
  const take = (kind: TokenKind, part: string): void => {
    put(kind, part);
    at += part.length;
  };
  /** A name must end where a token may. */
  const ends = (): void => {
    const c = text[at];
    if (c !== undefined && !" \t\r\n.,|:)(".includes(c) && !text.startsWith("}}", at)) refuse(line(), `bad character ${c}`);
  };
  for (;;) {
    const trimmed = /[ \t\r\n]/.test(text[at] ?? "") && text.startsWith("-}}", at + 1);
    if (trimmed || text.startsWith("}}", at)) {
      if (parens > 0) refuse(line(), "unclosed left paren");
      put("close", "}}");
      return at + (trimmed ? 4 : 2);
    }
    const c = text[at];
    if (c === undefined) return refuse(line(), "unclosed action");
    if (/[ \t\r\n]/.test(c)) {
      const start = at;
      let end = at;
      while (/[ \t\r\n]/.test(text[end] ?? "")) end++;
      if (text.startsWith("-}}", end)) end--;
      take("space", text.slice(start, Math.max(end, start + 1)));
    } else if (c === '"' || c === "`" || c === "'") {
      const pattern = c === '"' ? QUOTED : c === "`" ? RAW : CHARACTER;
      const quoted = match(pattern, text, at);
      if (quoted === undefined)
        return refuse(line(), c === "'" ? "unterminated character constant" : "unterminated quoted string");
      take(c === "'" ? "character" : "string", quoted);
    } else if (c === "$" || (c === "." && !/\d/.test(text[at + 1] ?? ""))) {
      const name = match(WORD, text, at + 1) ?? "";
      take(c === "$" ? "variable" : name === "" ? "dot" : "field", c + name);
      ends();
    } else if (/[+\-.\d]/.test(c)) {
      const number = match(NUMBER, text, at) ?? "";
      if (number === "" || match(WORD, text, at + number.length) !== undefined) refuse(line(), `bad number syntax: "${number}"`);
      take("number", number);
    } else if (c === ":") {
      if (text[at + 1] !== "=") refuse(line(), "expected :=");
      take(":=", ":=");
    } else if (c === "=" || c === "|") take(c, c);
    else if (c === "(") {
      parens++;
      take("(", c);
    } else if (c === ")") {
      if (--parens < 0) refuse(line(), "unexpected right paren");
      take(")", c);
    } else {
      const word = match(WORD, text, at);
      if (word !== undefined) {
        take(KEYWORDS.has(word) ? "keyword" : word === "true" || word === "false" ? "boolean" : "name", word);
        ends();
      } else if (/[!-~]/.test(c)) take("char", c);
      else refuse(line(), `unrecognized character in action: ${c}`);
    }
  }
}
