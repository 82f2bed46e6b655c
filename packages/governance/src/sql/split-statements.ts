import { checkArgument } from "@seneschal/kernel";

/** A token of the kind that splitting needs: word, string, symbol. Comments and blanks are dropped. */
export interface SqlToken {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Parentheses that are open at this token. */
  readonly depth: number;
  readonly quoted: boolean;
}

/** Cuts a text into tokens, in linear time, without knowing a dialect: quotes, comments, dollar quoting, words, single symbols. */
export function sqlTokens(sql: string): SqlToken[] {
  const tokens: SqlToken[] = [];
  let depth = 0;
  for (let i = 0; i < sql.length; ) {
    const c = sql[i] ?? "";
    const start = i;
    if (/\s/.test(c)) {
      i++;
      continue;
    }
    if (c === "-" && sql[i + 1] === "-") {
      const end = sql.indexOf("\n", i);
      i = end < 0 ? sql.length : end;
      continue;
    }
    if (c === "/" && sql[i + 1] === "*") {
      const end = sql.indexOf("*/", i + 2);
      i = end < 0 ? sql.length : end + 2;
      continue;
    }
    let quoted = false;
    if (c === "'" || c === '"' || c === "`") {
      i++;
      while (i < sql.length && (sql[i] !== c || sql[i + 1] === c)) i += sql[i] === c || sql[i] === "\\" ? 2 : 1;
      i++;
      quoted = true;
    } else if (/[A-Za-z0-9_\u0080-\uffff]/.test(c)) {
      while (i < sql.length && /[A-Za-z0-9_$\u0080-\uffff]/.test(sql[i] ?? "")) i++;
    } else i++;
    if (c === ")") depth--;
    tokens.push({ text: sql.slice(start, i), start, end: Math.min(i, sql.length), depth, quoted });
    if (c === "(") depth++;
  }
  return tokens;
}

/** The statements of a text, split at semicolons outside quotes, comments and parentheses. */
export function splitStatements(sql: string): string[] {
  checkArgument("sql", sql, "string");
  const parts: string[] = [];
  let from = 0;
  for (const token of sqlTokens(sql)) {
    if (token.text !== ";" || token.depth > 0) continue;
    parts.push(sql.slice(from, token.start));
    from = token.end;
  }
  parts.push(sql.slice(from));
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}
