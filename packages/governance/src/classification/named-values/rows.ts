import { Surroundings } from "../lexicon.ts";
import type { NamedColumn, Stretch } from "./named-column.ts";

const TABLE = /(?:"[^"]{1,128}"|`[^`]{1,128}`|\[[^\]]{1,128}\]|[^\s()'"`[\];,.]{1,128})/.source;
const QUALIFIED = `(${TABLE}(?:\\.${TABLE}){0,3})`;
const COLUMNS = "\\(([^()';]{1,8000})\\)";
/** The head of an INSERT up to its rows. */
const INSERT = new RegExp(
  `(?<![\\w.])(?:insert|replace)\\s{1,9}(?:(?:ignore|or\\s{1,9}\\w{1,9}|low_priority|delayed|high_priority)\\s{1,9}){0,2}into\\s{1,9}${QUALIFIED}\\s{0,9}(?:${COLUMNS}\\s{0,9})?(?:overriding\\s{1,9}\\w{1,9}\\s{1,9}value\\s{1,9})?values?\\s{0,9}(?=\\()`,
  "giu",
);
/** Of a COPY of PostgreSQL, whose rows stand behind it. */
const COPY = new RegExp(
  `(?<![\\w.])copy\\s{1,9}${QUALIFIED}\\s{0,9}(?:${COLUMNS}\\s{0,9})?from\\s{1,9}stdin\\b[^;\\n]{0,200};?[^\\S\\n]{0,9}\\r?\\n`,
  "giu",
);
/** Of a CREATE TABLE, up to its columns. */
const CREATE = new RegExp(
  `(?<![\\w.])create\\s{1,9}(?:(?:or\\s{1,9}replace|global|local|temp|temporary|unlogged|transient|external|foreign|volatile)\\s{1,9}){0,3}table\\s{1,9}(?:if\\s{1,9}not\\s{1,9}exists\\s{1,9})?${QUALIFIED}\\s{0,9}\\(`,
  "giu",
);
/** What stands among columns and is none. Of `key` and `index` those with names of columns in brackets, not with a length. */
const NO_COLUMN =
  /^(?:constraint|exclude|like|period\s+for|check\s*\(|primary\s+key|foreign\s+key|unique\s*(?:\(|key|index)|(?:fulltext|spatial|key|index)\b[^(,]{0,200}\(\s*[^\d\s])/i;
/** Up to the first assignment of an UPDATE, of a MERGE, or of an INSERT whose row is there already. */
const UPDATE = new RegExp(
  `(?<![\\w.])(?:update\\s{1,9}(?:(?:only|ignore|low_priority|or\\s{1,9}\\w{1,9})\\s{1,9}){0,2}(?:${QUALIFIED}\\s{1,9}(?:(?:as\\s{1,9})?${TABLE}\\s{1,9})?)?set|duplicate\\s{1,9}key\\s{1,9}update)\\s{1,9}`,
  "giu",
);
const ASSIGNED = new RegExp(`\\s{0,9}(?:${TABLE}\\.){0,3}(${TABLE})\\s{0,9}:?=`, "iuy");
const ROW_ASSIGNED = new RegExp(`\\s{0,9}${COLUMNS}\\s{0,9}=\\s{0,9}(?:row\\s{0,9})?(?=\\()`, "iuy");
/** Ends what an UPDATE assigns. */
const BEHIND = /^(?:where|from|returning|output|order|limit|when|on|into)$/i;
/** In a row: blanks, a number, a text in dollars, a word, or what begins, parts or ends. */
const ITEM =
  /\s+|([-+]?\d[\d.]{0,60}(?:e[-+]?\d{1,4})?)(?![\w])|\$\w{0,30}\$([^$]{0,4000})\$\w{0,30}\$|[^\s'"(),;]{1,400}|[(),]/iy;

/**
 * The values that SQL writes into columns: rows of INSERT and of COPY, into the columns that they name or that a CREATE TABLE of the same text gives the table, and what UPDATE assigns. Takes time linear in the text: no row is read
 * twice.
 */
export function* rowsColumns(text: string): Generator<NamedColumn> {
  if (/\b(?:into|stdin)\b/i.test(text)) {
    const tables = new CreatedTables(text);
    yield* headed(text, INSERT, tables, readRows);
    yield* headed(text, COPY, tables, readLines);
  }
  if (/\bupdate\b/i.test(text)) yield* assignedColumns(text);
}

type ReadRows = (text: string, from: number, columns: Columns) => number;

/** What stands behind each head, in the columns of its table. */
function* headed(text: string, head: RegExp, tables: CreatedTables, read: ReadRows): Generator<NamedColumn> {
  for (let from = 0; ; ) {
    head.lastIndex = from;
    const found = head.exec(text);
    if (found === null) return;
    const [all, table = "", named] = found;
    const columns = new Columns(
      table,
      named === undefined ? tables.columnsOf(table) : named.split(",").map((name) => [unquoted(name)]),
    );
    from = read(text, found.index + all.length, columns);
    yield* columns.all();
  }
}

/** The columns of a table, with the values that stand in each. Each may have several names, where it is not told which. */
class Columns {
  readonly #names: (readonly string[])[];
  readonly #values: Stretch[][];
  readonly #table: string;

  constructor(table: string, names: readonly (readonly string[])[]) {
    this.#table = unquoted(table);
    this.#names = [...names];
    this.#values = names.map(() => []);
  }

  /** One more; its place. */
  push(name: string): number {
    this.#values.push([]);
    return this.#names.push([name]) - 1;
  }

  add(column: number, start: number, end: number): void {
    if (start < end) this.#values[column]?.push([start, end]);
  }

  *all(): Generator<NamedColumn> {
    const beside = new Surroundings(this.#table, this.#names.flat());
    for (const [i, values] of this.#values.entries())
      if (values.length > 0) for (const name of this.#names[i] ?? []) yield { name, beside, values };
  }
}

function unquoted(name: string): string {
  return name.replace(/["`[\]]/g, "").trim();
}

/** Tables of one name whose columns count. */
const OF_ONE_NAME = 8;
const MOST_COLUMNS = 2000;

/** Tables by the last part of their names. */
type Tables = Map<string, { readonly name: string; readonly columns: readonly string[] }[]>;

/** The tables that a text creates, looked for when one is asked for. */
class CreatedTables {
  readonly #text: string;
  #tables: Tables | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** Names of the columns in their order, several of each where several tables may be meant; none where none is. */
  columnsOf(table: string): readonly (readonly string[])[] {
    this.#tables ??= this.#read();
    const asked = unquoted(table).toLowerCase();
    const meant = (this.#tables.get(lastPart(asked)) ?? []).filter(
      ({ name }) =>
        name === asked || !name.includes(".") || !asked.includes(".") || name.endsWith(`.${asked}`) || asked.endsWith(`.${name}`),
    );
    const most = Math.max(0, ...meant.map(({ columns }) => columns.length));
    return Array.from({ length: most }, (_, i) => [...new Set(meant.flatMap(({ columns }) => columns[i] ?? []))]);
  }

  #read(): Tables {
    const tables: Tables = new Map();
    for (let from = 0; ; ) {
      CREATE.lastIndex = from;
      const found = CREATE.exec(this.#text);
      if (found === null) return tables;
      const name = unquoted(found[1] ?? "").toLowerCase();
      const { columns, end } = declaredColumns(this.#text, found.index + found[0].length);
      const known = tables.get(lastPart(name)) ?? [];
      tables.set(lastPart(name), known);
      if (known.length < OF_ONE_NAME) known.push({ name, columns });
      from = end;
    }
  }
}

const lastPart = (name: string): string => name.slice(name.lastIndexOf(".") + 1);

/** In a declaration: blanks, comments, texts, names, and what parts or ends. */
const DECLARED = new RegExp(`\\s+|--[^\\n]*|#[^\\n]*|/\\*[^*]{0,2000}\\*/|'[^']{0,2000}'|${TABLE}|[(),]`, "iuy");

/** The names of the columns behind the bracket that begins them. */
function declaredColumns(text: string, from: number): { readonly columns: readonly string[]; readonly end: number } {
  const columns: string[] = [];
  let depth = 1;
  let isFirst = true;
  let at = from;
  while (depth > 0 && columns.length < MOST_COLUMNS) {
    DECLARED.lastIndex = at;
    const item = DECLARED.exec(text);
    if (item === null) break;
    const [all] = item;
    const start = at;
    at = DECLARED.lastIndex;
    if (/^(?:\s|--|#|\/\*)/.test(all)) continue;
    if (all === "(") depth++;
    else if (all === ")") depth--;
    else if (all === "," && depth === 1) {
      isFirst = true;
      continue;
    }
    if (isFirst && depth === 1 && !NO_COLUMN.test(text.slice(start, start + 300))) columns.push(unquoted(all));
    isFirst = false;
  }
  return { columns, end: at };
}

/** What UPDATE assigns to each column. */
function* assignedColumns(text: string): Generator<NamedColumn> {
  for (let from = 0; ; ) {
    UPDATE.lastIndex = from;
    const found = UPDATE.exec(text);
    if (found === null) return;
    const [all, table = ""] = found;
    const columns = new Columns(table, []);
    const rows: Columns[] = [];
    from = found.index + all.length;
    for (;;) {
      ROW_ASSIGNED.lastIndex = from;
      const row = ROW_ASSIGNED.exec(text);
      if (row !== null) {
        const of = new Columns(
          table,
          (row[1] ?? "").split(",").map((name) => [unquoted(name)]),
        );
        from = readRows(text, ROW_ASSIGNED.lastIndex, of);
        rows.push(of);
        continue;
      }
      ASSIGNED.lastIndex = from;
      const assigned = ASSIGNED.exec(text);
      if (assigned === null) break;
      const column = columns.push(unquoted(assigned[1] ?? ""));
      let more = false;
      for (const { kind, start, end, depth } of itemsOf(text, ASSIGNED.lastIndex)) {
        if (depth < 0 || (depth === 0 && kind === "word" && BEHIND.test(text.slice(start, end)))) break;
        from = end;
        if (kind === "value") columns.add(column, start, end);
        more = depth === 0 && kind === "comma";
        if (more) break;
      }
      from = Math.max(from, ASSIGNED.lastIndex);
      if (!more) break;
    }
    for (const of of [columns, ...rows]) yield* of.all();
  }
}

interface Item {
  readonly kind: "value" | "word" | "open" | "close" | "comma";
  /** Of a value in quotation marks what stands between them. */
  readonly start: number;
  /** Behind it all. */
  readonly end: number;
  /** Of brackets around it; of one that begins and of one that ends what it is behind it. */
  readonly depth: number;
}

/** What stands from `from` on, up to what is none of it. */
function* itemsOf(text: string, from: number): Generator<Item> {
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const start = at;
    const sign = text[at];
    if (sign === "'" || sign === '"') {
      const end = quoteEnd(text, at, sign);
      if (end < 0) return;
      at = end + 1;
      yield { kind: "value", start: start + 1, end, depth };
      continue;
    }
    ITEM.lastIndex = at;
    const item = ITEM.exec(text);
    if (item === null) return;
    const [all, number, dollars] = item;
    at = ITEM.lastIndex;
    if (all === "(") yield { kind: "open", start, end: at, depth: ++depth };
    else if (all === ")") yield { kind: "close", start, end: at, depth: --depth };
    else if (all === ",") yield { kind: "comma", start, end: at, depth };
    else if (number !== undefined) yield { kind: "value", start: at - number.length, end: at, depth };
    else if (dollars !== undefined) {
      const inside = start + all.indexOf("$", 1) + 1;
      yield { kind: "value", start: inside, end: inside + dollars.length, depth };
    } else if (all.trim() !== "") yield { kind: "word", start, end: at, depth };
  }
}

/** Rows in brackets from `from` on: a text or a number, also within a call, is of the column in whose place it stands. Returns where they end. */
function readRows(text: string, from: number, columns: Columns): number {
  let column = 0;
  let at = from;
  for (const { kind, start, end, depth } of itemsOf(text, from)) {
    // Behind a row stands a comma, or the statement is over.
    if (depth < 0 || (depth === 0 && (kind === "word" || kind === "value"))) break;
    at = end;
    if (kind === "open" && depth === 1) column = 0;
    else if (kind === "comma" && depth === 1) column += 1;
    else if (kind === "value") columns.add(column, start, end);
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
