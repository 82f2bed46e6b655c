import { termOf } from "../classification/lexicon.ts";
import type { XmlElement, XmlText } from "./xml-texts.ts";

/** A cell of a sheet that shows something or holds a formula. */
export interface Cell {
  readonly element: XmlElement;
  /** What it shows. */
  readonly texts: readonly XmlText[];
  readonly kind: "text" | "number" | "shared";
  readonly row: number;
  readonly column: number;
  /** The element of its formula. */
  readonly formula?: XmlElement;
  readonly formulaTexts: readonly XmlText[];
}

/** How far below an empty cell, and rows of a single cell, a cell can still be the head of its column. */
const MOST_HEADS = 3;
const MOST_TITLES = 12;

/** The cell that a text stands in. */
export function cellAround({ element }: XmlText): XmlElement | undefined {
  let around = element;
  while (around !== undefined && (around.name !== "c" || around.parent?.name !== "row")) around = around.parent;
  return around;
}

/** The cells of a sheet in their order. A row or cell that does not say where it is follows the one before it (ECMA-376, 18.3.1.4 and 18.3.1.73). */
export function cellsOf(texts: readonly XmlText[]): readonly Cell[] {
  const byCell = new Map<XmlElement, XmlText[]>();
  for (const text of texts) {
    const around = text.unshown ? undefined : cellAround(text);
    if (around === undefined) continue;
    const known = byCell.get(around);
    if (known === undefined) byCell.set(around, [text]);
    else known.push(text);
  }
  const rows = placesOf((element) => Number(/^\d{1,7}$/.exec(element.attributes.get("r")?.value ?? "")?.[0] ?? 0));
  const columnOf = placesOf((element) =>
    columnNumber(/^([A-Z]{1,3})\d{1,7}$/.exec(element.attributes.get("r")?.value ?? "")?.[1] ?? ""),
  );
  const cells: Cell[] = [];
  for (const [element, of] of byCell) {
    const [row, column] = [rows(element.parent as XmlElement), columnOf(element)];
    const type = element.attributes.get("t")?.value ?? "n";
    const kind = type === "s" ? "shared" : type === "str" || type === "inlineStr" ? "text" : "number";
    const formula = of.find((text) => isFormula(text))?.element;
    const shown = of.filter((text) => text.attribute === undefined && isShown(text, type));
    const formulaTexts = of.filter((text) => isFormula(text) && text.attribute === undefined);
    cells.push({ element, texts: shown, kind, row, column, formulaTexts, ...(formula !== undefined && { formula }) });
  }
  return cells;
}

function isFormula({ element }: XmlText): boolean {
  return element?.name === "f" && element.parent?.name === "c";
}

/** True for a text in the value of its cell, or in the text that stands in it where its type says so. */
function isShown({ element }: XmlText, type: string): boolean {
  if (element?.name === "v") return element.parent?.name === "c";
  if (type !== "inlineStr") return false;
  for (let around = element; around !== undefined && around.name !== "c"; around = around.parent) {
    if (around.name === "rPh") return false;
    if (around.name === "is") return true;
  }
  return false;
}

/** Numbers of elements that say theirs, or stand so many places behind the last one of their parent that was asked for. */
function placesOf(said: (element: XmlElement) => number): (element: XmlElement) => number {
  const last = new Map<XmlElement | undefined, { readonly element: XmlElement; readonly number: number }>();
  return (element) => {
    const before = last.get(element.parent);
    if (before?.element === element) return before.number;
    const number =
      said(element) || (before === undefined ? element.place + 1 : before.number + element.place - before.element.place);
    last.set(element.parent, { element, number });
    return number;
  };
}

function columnNumber(letters: string): number {
  return [...letters].reduce((number, letter) => number * 26 + letter.charCodeAt(0) - 64, 0);
}

/**
 * What the cells above say of each cell, the nearest first. Heads of a column are the first texts below an empty cell, wherever that is in the sheet; rows of a single cell are titles, and cells that are merged are heads of all columns that they reach over. A head that
 * names something for sure counts for all of the column below it, since whether a table ends at an empty row cannot be known.
 */
export function headsOf(
  cells: readonly Cell[],
  texts: readonly XmlText[],
  says: (cell: Cell) => string,
  about = "",
): ReadonlyMap<XmlElement, readonly string[]> {
  const reaches = new Map<string, number>();
  for (const { attribute, element, value } of texts) {
    if (attribute !== "ref" || element?.name !== "mergeCell") continue;
    const [, from = "", row = "", to = ""] = /^([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})\d{1,7}$/.exec(value) ?? [];
    reaches.set(`${row} ${columnNumber(from)}`, columnNumber(to));
  }
  const byRow = new Map<number, Cell[]>();
  for (const cell of cells) {
    const inRow = byRow.get(cell.row);
    if (inRow === undefined) byRow.set(cell.row, [cell]);
    else inRow.push(cell);
  }
  const known = [...new Set(cells.map(({ column }) => column))];
  const columns = new Map<
    number,
    { terms: readonly string[]; latest: readonly string[]; names: readonly string[]; last: number; heads: number; titles: number }
  >();
  const heads = new Map<XmlElement, readonly string[]>();
  const columnAt = (number: number) => {
    const column = columns.get(number) ?? { terms: [], latest: [], names: [], last: -1, heads: 0, titles: 0 };
    columns.set(number, column);
    return column;
  };
  for (const [row, inRow] of [...byRow].sort(([a], [b]) => a - b)) {
    const isTitle = inRow.length === 1;
    const found: (readonly [column: number, name: string])[] = [];
    for (const cell of inRow) {
      const column = columnAt(cell.column);
      heads.set(cell.element, column.names);
      if (column.last !== row - 1) Object.assign(column, { latest: [], names: column.terms, heads: 0, titles: 0 });
      column.last = row;
      if (column.heads >= MOST_HEADS || column.titles >= MOST_TITLES) continue;
      if (isTitle) column.titles++;
      else column.heads++;
      const name = cell.kind === "number" ? "" : says(cell);
      if (name.trim() === "") continue;
      found.push([cell.column, name]);
      const to = reaches.get(`${row} ${cell.column}`) ?? cell.column;
      for (const other of known) if (other > cell.column && other <= to) found.push([other, name]);
    }
    for (const [number, name] of found) {
      const column = columnAt(number);
      column.latest = [name, ...column.latest];
      if (termOf(name, about) !== undefined) column.terms = [...new Set([name, ...column.terms])];
      column.names = [...column.latest, ...column.terms];
    }
  }
  return heads;
}
