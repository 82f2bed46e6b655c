import type { Comment, Location } from "./ast.ts";

/** `kind` is the text itself for keywords and punctuation. */
export interface Token {
  readonly kind: string;
  /** As written; the decoded text of strings and template parts. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** White space or a comment stands before the token. */
  readonly spaced: boolean;
  /** A line end stands before the token. */
  readonly fresh: boolean;
  readonly row: number;
  readonly col: number;
}

/** A problem at a place, found while scanning or parsing. */
export class SyntaxProblem extends Error {
  readonly loc: Location;
  readonly limit: boolean;

  constructor(message: string, loc: Location, limit = false) {
    super(message);
    this.loc = loc;
    this.limit = limit;
  }
}

/** Rego v1's reserved words. */
export const KEYWORDS: ReadonlySet<string> = new Set(
  "as contains data default else every false if in import input package not null some true with"
    .split(" ")
    .filter((word) => word !== "data" && word !== "input"),
);

const MAX_TOKENS = 400_000;
const IDENT_START = /[A-Za-z_]/;
const IDENT = /[A-Za-z0-9_]*/y;
const NUMBER = /\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const SPACE = /[ \t\r]+/y;
const TWO = new Set([":=", "==", "!=", "<=", ">="]);
const ONE = new Set("{}[]().,:;=<>+-*/%&|".split(""));

/** Splits a Rego source into tokens, the last of kind `end`. Throws {@link SyntaxProblem}. */
export function scan(source: string): { readonly tokens: readonly Token[]; readonly comments: readonly Comment[] } {
  const tokens: Token[] = [];
  const comments: Comment[] = [];
  /** Open template strings: the brace depth at which each expression closes. */
  const templates: { readonly raw: boolean; readonly depth: number }[] = [];
  let depth = 0;
  let pos = 0;
  let row = 1;
  let lineStart = 0;
  let spaced = false;
  let fresh = true;

  const fail = (message: string, at: number): never => {
    throw new SyntaxProblem(message, { row, col: at - lineStart + 1, offset: at });
  };
  const push = (kind: string, text: string, start: number, end: number, atRow: number, atLine: number): void => {
    if (tokens.length >= MAX_TOKENS) {
      throw new SyntaxProblem("source has too many tokens", { row, col: start - lineStart + 1, offset: start }, true);
    }
    tokens.push({ kind, text, start, end, spaced, fresh, row: atRow, col: start - atLine + 1 });
    spaced = false;
    fresh = false;
    pos = end;
  };
  const stick = (pattern: RegExp, at: number): string => {
    pattern.lastIndex = at;
    return pattern.exec(source)?.[0] ?? "";
  };

  /** Reads a template's text from `from` up to `{` or its closing quote. */
  const template = (from: number, start: number, raw: boolean): void => {
    const quote = raw ? "`" : '"';
    const atRow = row;
    const atLine = lineStart;
    let text = "";
    for (let i = from; ; i++) {
      const c = source[i];
      if (c === undefined || (c === "\n" && !raw)) fail("non-terminated string", start);
      else if (c === quote || c === "{") {
        const value = raw ? text : decode(text, start);
        if (c === "{") {
          templates.push({ raw, depth });
          depth++;
        }
        push(c === "{" ? "template-part" : "template-end", value, start, i + 1, atRow, atLine);
        return;
      } else if (c === "\\" && source[i + 1] === "{") {
        text += "{";
        i++;
      } else if (c === "\\" && !raw) {
        text += c + (source[i + 1] ?? "");
        i++;
      } else {
        if (c === "\n") {
          row++;
          lineStart = i + 1;
        }
        text += c;
      }
    }
  };

  const decode = (inner: string, at: number): string => {
    if (!inner.includes("\\") && !hasControl(inner)) return inner;
    try {
      return wellFormed(JSON.parse(`"${inner}"`) as string);
    } catch {
      return fail("illegal string escape sequence", at);
    }
  };

  while (true) {
    const space = stick(SPACE, pos);
    if (space !== "") {
      pos += space.length;
      spaced = true;
    }
    const c = source[pos];
    if (c === undefined) {
      push("end", "", pos, pos, row, lineStart);
      return { tokens, comments };
    }
    if (c === "\n") {
      pos++;
      row++;
      lineStart = pos;
      spaced = true;
      fresh = true;
    } else if (c === "#") {
      let end = source.indexOf("\n", pos);
      if (end < 0) end = source.length;
      comments.push({
        text: source.slice(pos + 1, end).replace(/\r$/, ""),
        loc: { row, col: pos - lineStart + 1, offset: pos },
      });
      pos = end;
      spaced = true;
    } else if (IDENT_START.test(c)) {
      const word = stick(IDENT, pos);
      push(KEYWORDS.has(word) ? word : "ident", word, pos, pos + word.length, row, lineStart);
    } else if (c >= "0" && c <= "9") {
      const text = stick(NUMBER, pos);
      const after = source[pos + text.length];
      if (
        after !== undefined &&
        (IDENT_START.test(after) || (after === "." && !/[A-Za-z_]/.test(source[pos + text.length + 1] ?? "")))
      )
        fail("illegal number format", pos);
      push("number", text, pos, pos + text.length, row, lineStart);
    } else if (c === '"') {
      const start = pos;
      let i = pos + 1;
      for (; source[i] !== '"'; i++) {
        const d = source[i];
        if (d === undefined || d === "\n") fail("non-terminated string", start);
        if (d === "\\") i++;
      }
      push("string", decode(source.slice(start + 1, i), start), start, i + 1, row, lineStart);
    } else if (c === "`") {
      const end = source.indexOf("`", pos + 1);
      if (end < 0) fail("non-terminated string", pos);
      const text = source.slice(pos + 1, end);
      const [atRow, atLine] = [row, lineStart];
      for (let i = text.indexOf("\n"); i >= 0; i = text.indexOf("\n", i + 1)) {
        row++;
        lineStart = pos + 1 + i + 1;
      }
      push("string", text, pos, end + 1, atRow, atLine);
    } else if (c === "$" && (source[pos + 1] === '"' || source[pos + 1] === "`")) {
      template(pos + 2, pos, source[pos + 1] === "`");
    } else if (TWO.has(source.slice(pos, pos + 2))) {
      push(source.slice(pos, pos + 2), source.slice(pos, pos + 2), pos, pos + 2, row, lineStart);
    } else if (c === "}" && templates.length > 0 && templates.at(-1)?.depth === depth - 1) {
      const open = templates.pop();
      depth--;
      push("}", "}", pos, pos, row, lineStart);
      template(pos + 1, pos, open?.raw === true);
    } else if (ONE.has(c)) {
      if (c === "{") depth++;
      else if (c === "}") depth--;
      push(c, c, pos, pos + 1, row, lineStart);
    } else fail(`illegal ${JSON.stringify(c)} character`, pos);
  }
}

function hasControl(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) < 0x20) return true;
  return false;
}

/** Lone surrogates become U+FFFD, as in Go. */
function wellFormed(text: string): string {
  return text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd");
}
