import { Surroundings, termOf } from "../lexicon.ts";
import type { NamedColumn, Stretch } from "./named-column.ts";

/** What stands between the columns of a table that is drawn. */
const BARS = /[|│┃║]/;
/** Dashes below each name, apart by blanks: they say where the columns stand. */
const DASHES = /^\s*[-=]{2,}(?:[ \t]+[-=]{2,})+\s*$/;
const HAS_GAP = /\S(?:\t| {2,}\t?)\S/;
/** A name in a table whose columns are apart by blanks alone. */
const NAME = /^[\p{L}_*`#"][\p{L}\p{M}\p{N}_*`#" ./()&'’-]{0,63}$/u;
const MOST_COLUMNS = 200;

interface Line {
  readonly start: number;
  readonly text: string;
}

/** The values of tables in a text by the names above their columns: of Markdown, drawn with lines (psql, mysql, reStructuredText), and with columns apart by blanks. Takes time linear in the text. */
export function* tableColumns(text: string): Generator<NamedColumn> {
  const hasBars = BARS.test(text);
  if (!hasBars && !HAS_GAP.test(text) && !/-- -|== =/.test(text)) return;
  const lines = linesOf(text);
  const known = new Map<string, boolean>();
  const isTelling = (name: string): boolean => {
    const told = known.get(name) ?? termOf(name) !== undefined;
    known.set(name, told);
    return told;
  };
  for (let i = 0; i + 1 < lines.length; ) {
    const [head, next] = [lines[i] as Line, lines[i + 1] as Line];
    const table =
      hasBars && BARS.test(head.text) && isRule(next.text)
        ? drawn(head)
        : DASHES.test(next.text)
          ? dashed(head, next)
          : HAS_GAP.test(head.text) && HAS_GAP.test(next.text)
            ? apart(head)
            : undefined;
    i++;
    // Rows are read once, and only where a name says something.
    if (table === undefined || table.names.length > MOST_COLUMNS || !table.names.some(isTelling)) continue;
    const columns = table.names.map((): Stretch[] => []);
    /** Of each column, what its cells say over the lines of their rows. */
    const wrapped = new WrappedRows(table.names.length);
    for (; i < lines.length; i++) {
      const line = lines[i] as Line;
      if (isRule(line.text)) {
        wrapped.rule();
        continue;
      }
      if (!table.isRow(line.text)) break;
      const cells = [...table.cells(line)];
      for (const [column, cell] of cells) add(columns[column], cell);
      wrapped.line(cells);
    }
    const beside = new Surroundings("", table.names);
    for (const [column, values] of columns.entries()) {
      const joined = wrapped.joined(column);
      if (values.length > 0)
        yield { name: table.names[column] ?? "", beside, values, ...(joined === undefined ? {} : { joined }) };
    }
  }
}

/**
 * Rows whose cells go over several lines: between two rules, where a rule parts rows (grids of reStructuredText and Pandoc), else below a line as long as the first cell is empty.
 */
class WrappedRows {
  readonly #byRule: string[][][] = [[]];
  readonly #byCell: string[][][] = [];
  readonly #width: number;

  constructor(width: number) {
    this.#width = width;
  }

  rule(): void {
    if ((this.#byRule.at(-1)?.length ?? 0) > 0) this.#byRule.push([]);
  }

  line(cells: readonly (readonly [column: number, cell: Line])[]): void {
    const texts = Array.from({ length: this.#width }, () => "");
    for (const [column, { text }] of cells)
      texts[column] = text
        .trim()
        .replace(/[ \t][+.↵]$/, "")
        .trimEnd();
    this.#byRule.at(-1)?.push(texts);
    const last = this.#byCell.at(-1);
    if (last === undefined || texts[0] !== "") this.#byCell.push([texts]);
    else last.push(texts);
  }

  /** `undefined` where each row is one line. */
  joined(column: number): readonly (readonly string[])[] | undefined {
    const groups = this.#byRule.filter((rows) => rows.length > 0);
    const lines = groups.reduce((sum, rows) => sum + rows.length, 0);
    const cells =
      groups.length > 1 && groups.length < lines
        ? groups.map((rows) => rows.map((texts) => texts[column] ?? ""))
        : this.#byCell.length < lines
          ? this.#byCell.map((rows) => rows.map((texts) => texts[column] ?? ""))
          : undefined;
    return cells && [" ", ""].map((cut) => cells.map((pieces) => pieces.filter((piece) => piece !== "").join(cut)));
  }
}

function linesOf(text: string): readonly Line[] {
  const lines: Line[] = [];
  for (let start = 0; start <= text.length; ) {
    const end = text.indexOf("\n", start);
    const to = end < 0 ? text.length : end;
    lines.push({ start, text: text.slice(start, text[to - 1] === "\r" ? to - 1 : to) });
    start = to + 1;
  }
  return lines;
}

/** How the rows below a line with names are read. */
interface Table {
  readonly names: readonly string[];
  isRow(line: string): boolean;
  /** The cells of a row, by their columns. */
  cells(line: Line): Iterable<readonly [column: number, cell: Line]>;
}

/** A line that is drawn below the names or between rows: nothing else, and at least two strokes. */
function isRule(line: string): boolean {
  let strokes = 0;
  for (let i = 0; i < line.length; i++) {
    const code = line.charCodeAt(i);
    if (code === 0x2d || code === 0x3d || code === 0x2500 || code === 0x2501 || code === 0x2550) strokes++;
    else if (!" \t>|+:".includes(line[i] as string) && (code < 0x2500 || code > 0x257f)) return false;
  }
  return strokes >= 2;
}

/** A table with bars between its columns, whose names stand above a rule. */
function drawn(head: Line): Table {
  return {
    names: barred(head).map(({ text }) => text.trim()),
    isRow: (line) => BARS.test(line),
    cells: (line) => barred(line).entries(),
  };
}

/** The cells of a line with bars; a bar at either end, and one that is escaped, parts nothing. */
function barred({ start, text }: Line): readonly Line[] {
  const from = /^[\s>]*[|│┃║]?/.exec(text)?.[0].length ?? 0;
  const to = text.length - (/(?<!\\)[|│┃║]?\s*$/.exec(text.slice(from))?.[0].length ?? 0);
  const cells: Line[] = [];
  let at = from;
  for (const { index } of text.slice(from, to).matchAll(/(?<!\\)[|│┃║]/g)) {
    cells.push({ start: start + at, text: text.slice(at, from + index) });
    at = from + index + 1;
  }
  return to > from ? [...cells, { start: start + at, text: text.slice(at, to) }] : cells;
}

/** A table whose columns stand where dashes are below the names. */
function dashed(head: Line, rule: Line): Table {
  const runs = [...rule.text.matchAll(/[-=]+/g)].map(({ index }) => index);
  const cells = ({ start, text }: Line): readonly Line[] =>
    runs.map((from, i) => {
      const begin = i === 0 ? 0 : from;
      return { start: start + begin, text: text.slice(begin, runs[i + 1] ?? text.length) };
    });
  return {
    names: cells(head).map(({ text }) => text.trim()),
    isRow: (line) => line.trim() !== "",
    cells: (line) => cells(line).entries(),
  };
}

/** A table whose columns are apart by tabs or by two blanks or more. A value is of the name that it stands below. */
function apart(head: Line): Table | undefined {
  const names = cellsApart(head);
  if (!names.every(({ text }) => NAME.test(text))) return undefined;
  const byTab = head.text.includes("\t");
  return {
    names: names.map(({ text }) => text),
    isRow: (line) => HAS_GAP.test(line),
    cells: (line) =>
      byTab ? tabbed(line).entries() : cellsApart(line).map((cell) => [below(names, head, cell, line), cell] as const),
  };
}

function cellsApart({ start, text }: Line): readonly Line[] {
  if (text.includes("\t")) return tabbed({ start, text });
  const cells: Line[] = [];
  for (const { 0: cell, index } of text.matchAll(/[^ ]+(?: [^ ]+)*/g)) cells.push({ start: start + index, text: cell });
  return cells;
}

function tabbed({ start, text }: Line): readonly Line[] {
  let at = start;
  return text.split("\t").map((cell) => {
    const found = { start: at, text: cell };
    at += cell.length + 1;
    return found;
  });
}

/** The name that a cell stands below: the one with which it shares most places, else the nearest. */
function below(names: readonly Line[], head: Line, cell: Line, line: Line): number {
  const [from, to] = [cell.start - line.start, cell.start - line.start + cell.text.length];
  let best = 0;
  let most = Number.NEGATIVE_INFINITY;
  for (const [i, name] of names.entries()) {
    const start = name.start - head.start;
    const shared = Math.min(to, start + name.text.length) - Math.max(from, start);
    if (shared > most) [best, most] = [i, shared];
  }
  return best;
}

function add(column: Stretch[] | undefined, { start, text }: Line): void {
  const value = text.trim();
  if (value === "") return;
  const from = start + text.indexOf(value);
  column?.push([from, from + value.length]);
}
