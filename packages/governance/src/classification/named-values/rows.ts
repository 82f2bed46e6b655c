import { Surroundings } from "../lexicon.ts";
import type { NamedColumn, Stretch } from "./named-column.ts";

const TABLE = /(?:"[^"]{1,128}"|`[^`]{1,128}`|\[[^\]]{1,128}\]|[^\s()'"`[\];,.]{1,128})/.source;
const QUALIFIED = `(${TABLE}(?:\\.${TABLE}){0,3})`;
const COLUMNS = "\\(([^()';]{1,8000})\\)";
/** The head of an INSERT with its columns, up to its rows. */
const INSERT = new RegExp(
  `(?<![\\w.])(?:insert|replace)\\s{1,9}(?:(?:ignore|or\\s{1,9}\\w{1,9}|low_priority|delayed|high_priority)\\s{1,9}){0,2}into\\s{1,9}${QUALIFIED}\\s{0,9}${COLUMNS}\\s{0,9}(?:overriding\\s{1,9}\\w{1,9}\\s{1,9}value\\s{1,9})?values?\\s{0,9}(?=\\()`,
  "giu",
);
/** Of a COPY of PostgreSQL, whose rows stand behind it. */
const COPY = new RegExp(
  `(?<![\\w.])copy\\s{1,9}${QUALIFIED}\\s{0,9}${COLUMNS}\\s{0,9}from\\s{1,9}stdin\\b[^;\\n]{0,200};?[^\\S\\n]{0,9}\\r?\\n`,
  "giu",
);
/** In a row: blanks, a number, a text in dollars, a word, or what begins, parts or ends. */
const ITEM =
  /\s+|([-+]?\d[\d.]{0,60}(?:e[-+]?\d{1,4})?)(?![\w])|\$\w{0,30}\$([^$]{0,4000})\$\w{0,30}\$|[^\s'"(),;]{1,400}|[(),]/iy;

/** The values that SQL writes into the columns that it names: rows of INSERT, and of COPY. Takes time linear in the text: no row is read twice. */
export function* rowsColumns(text: string): Generator<NamedColumn> {
  if (!text.includes("(") || !/\b(?:into|stdin)\b/i.test(text)) return;
  for (const [head, read] of [[INSERT, readRows] as const, [COPY, readLines] as const]) {
    for (let from = 0; ; ) {
      head.lastIndex = from;
      const found = head.exec(text);
      if (found === null) break;
      const columns = new Columns(found);
      from = read(text, found.index + found[0].length, columns);
      yield* columns.all();
    }
  }
}

/** The columns that a head names, with the values that stand in each. */
class Columns {
  readonly #names: readonly string[];
  readonly #values: Stretch[][];
  readonly #beside: Surroundings;

  constructor([, table = "", columns = ""]: RegExpExecArray) {
    this.#names = columns.split(",").map(unquoted);
    this.#values = this.#names.map(() => []);
    this.#beside = new Surroundings(unquoted(table), this.#names);
  }

  add(column: number, start: number, end: number): void {
    if (start < end) this.#values[column]?.push([start, end]);
  }

  *all(): Generator<NamedColumn> {
    for (const [i, values] of this.#values.entries())
      if (values.length > 0) yield { name: this.#names[i] ?? "", beside: this.#beside, values };
  }
}

function unquoted(name: string): string {
  return name.replace(/["`[\]]/g, "").trim();
}

/** Rows in brackets from `from` on: a text or a number, also within a call, is of the column in whose place it stands. Returns where they end. */
function readRows(text: string, from: number, columns: Columns): number {
  let depth = 0;
  let column = 0;
  let at = from;
  while (at < text.length) {
    const sign = text[at];
    if (sign === "'" || sign === '"') {
      const end = quoteEnd(text, at, sign);
      if (end < 0 || depth === 0) break;
      columns.add(column, at + 1, end);
      at = end + 1;
      continue;
    }
    ITEM.lastIndex = at;
    const item = ITEM.exec(text);
    if (item === null) break;
    const [all, number, dollars] = item;
    if (all === "(") column = ++depth === 1 ? 0 : column;
    else if (all === ")") depth--;
    else if (all === ",") column += depth === 1 ? 1 : 0;
    // Behind a row stands a comma, or the statement is over.
    else if (depth === 0 && all.trim() !== "") break;
    at = ITEM.lastIndex;
    if (depth < 0) break;
    if (number !== undefined) columns.add(column, at - number.length, at);
    else if (dollars !== undefined) {
      const start = at - all.length + all.indexOf("$", 1) + 1;
      columns.add(column, start, start + dollars.length);
    }
  }
  return at;
}

/** Where a text in quotes ends: two of them in it are one, and one behind a backslash is none unless nothing but that ends the text. */
function quoteEnd(text: string, from: number, quote: string): number {
  for (let at = text.indexOf(quote, from + 1); at >= 0; at = text.indexOf(quote, at + 1)) {
    if (text[at + 1] === quote) at++;
    else if (text[at - 1] !== "\\" || /^\s*[,)]/.test(text.slice(at + 1, at + 9))) return at;
  }
  return -1;
}

/** Lines of fields apart by tabs, up to the line that ends them. Returns where that is. */
function readLines(text: string, from: number, columns: Columns): number {
  let at = from;
  while (at < text.length) {
    const end = text.indexOf("\n", at);
    const line = text.slice(at, end < 0 ? text.length : end).replace(/\r$/, "");
    if (line === "\\.") break;
    let start = at;
    for (const [column, field] of line.split("\t").entries()) {
      if (field !== "\\N") columns.add(column, start, start + field.length);
      start += field.length + 1;
    }
    at = end < 0 ? text.length : end + 1;
  }
  return at;
}
