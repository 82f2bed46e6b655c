/** What a dialect takes for a comment, a text or a name in quotes, where the standard takes it for something else. */
export interface Lexis {
  /** `--` begins a comment only before a blank (MySQL 8.0, 1.7.2.4). */
  readonly blankAfterDashes?: true;
  /** `#` begins a comment. */
  readonly hash?: true;
  /** `//` begins a comment. */
  readonly slashes?: true;
  /** Comments stand in one another. */
  readonly nested?: true;
  /** What stands in `/*! ... *\/` is no comment: MySQL runs it, MariaDB `/*M! ... *\/` too. */
  readonly conditional?: true;
  /** A comment may go on to the end of the text. */
  readonly open?: true;
  /** A carriage return ends a comment of a line. */
  readonly carriageReturn?: true;
  /** A backslash takes the meaning from what follows it in a text, in double quotes as well. */
  readonly backslash?: true;
  /** It does so behind `E'`. */
  readonly escapes?: true;
  /** It does not behind `r'`. */
  readonly raw?: true;
  /** `$$text$$`, `$tag$text$tag$`. */
  readonly dollar?: true;
  /** `q'[text]'` (Oracle). */
  readonly q?: true;
  /** `'''text'''` (BigQuery). */
  readonly triple?: true;
  /** `[name]`. */
  readonly brackets?: true;
}

/** By the names of dialects. Source: the chapters on lexical structure of their manuals. */
export const LEXES: Readonly<Record<string, Lexis>> = {
  ansi: {},
  generic: {},
  postgres: { nested: true, dollar: true, escapes: true, carriageReturn: true },
  redshift: { nested: true, dollar: true, backslash: true, carriageReturn: true },
  mysql: { blankAfterDashes: true, hash: true, conditional: true, backslash: true },
  bigquery: { hash: true, backslash: true, triple: true, raw: true, carriageReturn: true },
  snowflake: { slashes: true, backslash: true, dollar: true },
  clickhouse: { hash: true, nested: true, backslash: true, dollar: true },
  mssql: { nested: true, brackets: true },
  oracle: { q: true },
  sqlite: { brackets: true, open: true },
  duckdb: { nested: true, dollar: true, escapes: true, carriageReturn: true },
  hive: { backslash: true, carriageReturn: true },
  spark: { nested: true, backslash: true, raw: true, carriageReturn: true },
  databricks: { nested: true, backslash: true, raw: true, carriageReturn: true },
};

/** What a text has to hold for a peculiarity of a dialect to change how it is read. Each takes one look through the text. */
const SIGNS: readonly (readonly [keyof Lexis, (sql: string) => boolean])[] = [
  ["blankAfterDashes", (sql) => /--\S/.test(sql)],
  ["hash", (sql) => sql.includes("#")],
  ["slashes", (sql) => sql.includes("//")],
  ["nested", (sql) => sql.indexOf("/*") !== sql.lastIndexOf("/*")],
  ["conditional", (sql) => /\/\*M?!/.test(sql)],
  ["open", (sql) => sql.includes("/*")],
  ["carriageReturn", (sql) => /\r(?!\n)/.test(sql)],
  ["backslash", (sql) => sql.includes("\\")],
  ["escapes", (sql) => sql.includes("\\") && /\be'/i.test(sql)],
  ["raw", (sql) => sql.includes("\\") && /\br['"]/i.test(sql)],
  ["dollar", (sql) => sql.indexOf("$") !== sql.lastIndexOf("$")],
  ["q", (sql) => /q'/i.test(sql)],
  ["triple", (sql) => /'''|"""/.test(sql)],
  ["brackets", (sql) => /\[[^\]]{0,200}['"`#/-]/.test(sql)],
];

/** The peculiarities that matter to a text; none for most texts. */
export function peculiarities(sql: string): readonly (keyof Lexis)[] {
  return SIGNS.filter(([, sign]) => sign(sql)).map(([kind]) => kind);
}

const SPECIAL = /[-#/*'"`[$]/g;
const WORD = /[\p{L}\p{N}_$]/u;
const TAG = /\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]{0,62})?\$/y;
const CONDITION = /\/\*M?!(?:\d{5,6})?/y;
const CLOSERS: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}", "<": ">" };

/**
 * The text as a dialect reads it, in words that all dialects read alike: without comments, with texts as `'...'`. `undefined` where a quote or a comment does not end: then no database of the
 * dialect runs it.
 */
export function writtenPlainly(sql: string, lexis: Lexis): string | undefined {
  const out: string[] = [];
  let conditional = 0;
  let i = 0;
  const special = new RegExp(SPECIAL);
  while (i < sql.length) {
    special.lastIndex = i;
    const at = special.exec(sql)?.index ?? sql.length;
    if (at > i) out.push(sql.slice(i, at));
    i = at;
    const c = sql[i];
    if (c === undefined) break;
    const next = sql[i + 1] ?? "";
    if (
      (c === "-" && next === "-") ||
      (c === "#" && lexis.hash === true) ||
      (c === "/" && next === "/" && lexis.slashes === true)
    ) {
      if (c === "-" && lexis.blankAfterDashes === true && /\S/.test(sql[i + 2] ?? " ")) {
        out.push("- -");
        i += 2;
        continue;
      }
      while (i < sql.length && sql[i] !== "\n" && !(lexis.carriageReturn === true && sql[i] === "\r")) i++;
      out.push(" ");
    } else if (c === "/" && next === "*") {
      CONDITION.lastIndex = i;
      const condition = lexis.conditional === true ? CONDITION.exec(sql)?.[0] : undefined;
      const end = condition === undefined ? commentEnd(sql, i, lexis) : i + condition.length;
      if (condition !== undefined) conditional++;
      if (end === undefined) return undefined;
      out.push(" ");
      i = end;
    } else if (c === "*" && next === "/" && conditional > 0) {
      conditional--;
      out.push(" ");
      i += 2;
    } else if (c === "'" || c === '"' || c === "`" || (c === "[" && lexis.brackets === true)) {
      const quoted = quotedAt(sql, i, lexis, out);
      if (quoted === undefined) return undefined;
      out.push(quoted.text);
      i = quoted.end;
    } else if (c === "$" && lexis.dollar === true && !WORD.test(sql[i - 1] ?? "")) {
      TAG.lastIndex = i;
      const tag = TAG.exec(sql)?.[0];
      if (tag === undefined) {
        out.push(c);
        i++;
        continue;
      }
      const end = sql.indexOf(tag, i + tag.length);
      if (end < 0) return undefined;
      out.push(literal(sql.slice(i + tag.length, end)));
      i = end + tag.length;
    } else {
      out.push(c);
      i++;
    }
  }
  return out.join("");
}

function commentEnd(sql: string, from: number, { nested, open }: Lexis): number | undefined {
  let depth = 0;
  const mark = /\/\*|\*\//g;
  mark.lastIndex = from;
  for (let found = mark.exec(sql); found !== null; found = mark.exec(sql)) {
    if (found[0] === "*/") depth--;
    else if (depth === 0 || nested === true) depth++;
    else mark.lastIndex = found.index + 1;
    if (depth === 0) return mark.lastIndex;
  }
  return open === true ? sql.length : undefined;
}

/** What is in quotes from here on; a letter before it that says how it is to be read leaves `out`. */
function quotedAt(
  sql: string,
  from: number,
  lexis: Lexis,
  out: string[],
): { readonly text: string; readonly end: number } | undefined {
  const quote = sql[from] ?? "";
  const prefix = /(?<![\p{L}\p{N}_$])(?:e|r|n?q)$/iu.exec(sql.slice(Math.max(0, from - 4), from))?.[0].toLowerCase() ?? "";
  const drop = () => {
    out.push((out.pop() ?? "").slice(0, -prefix.length));
  };
  if (lexis.q === true && prefix.endsWith("q") && quote === "'") {
    const open = sql[from + 1] ?? "";
    const end = sql.indexOf(`${CLOSERS[open] ?? open}'`, from + 2);
    if (open === "" || end < 0) return undefined;
    drop();
    return { text: literal(sql.slice(from + 2, end)), end: end + 2 };
  }
  const raw = lexis.raw === true && prefix === "r" && quote !== "`";
  const escaped = lexis.escapes === true && prefix === "e" && quote === "'";
  if (raw || escaped) drop();
  const backslash = (lexis.backslash === true || escaped) && quote !== "[";
  const triple = lexis.triple === true && (quote === "'" || quote === '"') && sql.startsWith(quote.repeat(3), from);
  const close = quote === "[" ? "]" : triple ? quote.repeat(3) : quote;
  let text = "";
  let i = from + (triple ? 3 : 1);
  for (;;) {
    const c = sql[i];
    if (c === undefined) return undefined;
    if (backslash && c === "\\") {
      // Of a raw text the backslash stays, and the quote behind it ends nothing.
      const { character, length } = raw ? { character: sql.slice(i, i + 2), length: 2 } : escapedAt(sql, i);
      text += character;
      i += length;
    } else if (!sql.startsWith(close, i)) {
      text += c;
      i++;
    } else if (!triple && sql[i + 1] === close) {
      text += close;
      i += 2;
    } else break;
  }
  const end = i + close.length;
  if (quote === "'" || (triple && quote === '"')) return { text: literal(text), end };
  if (quote === "[" && /^[^"'`]*$/.test(text)) return { text: sql.slice(from, end), end };
  const as = quote === "[" ? '"' : quote;
  return { text: as + text.replaceAll(as, as + as) + as, end };
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: " ", f: " ", v: " ", a: " ", "0": " " };

/** The character that a backslash and what follows it stand for. */
function escapedAt(sql: string, at: number): { readonly character: string; readonly length: number } {
  const code = /^\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|([0-3][0-7]{2}))/.exec(
    sql.slice(at, at + 10).replace(/[A-F]/g, (d) => d.toLowerCase()),
  );
  const digits = code?.[1] ?? code?.[2] ?? code?.[3];
  const value = digits === undefined ? Number.parseInt(code?.[4] ?? "", 8) : Number.parseInt(digits, 16);
  if (code !== null && value > 0 && value <= 0x10ffff) return { character: String.fromCodePoint(value), length: code[0].length };
  const next = sql[at + 1] ?? "";
  return { character: ESCAPES[next] ?? next, length: 2 };
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''").replaceAll("\\", "\\\\")}'`;
}
