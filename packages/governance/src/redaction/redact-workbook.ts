import { checkArgument } from "@seneschal/kernel";
import type { TierPolicy } from "../classification/tiers.ts";
import { governanceError } from "../errors.ts";
import { checkRedaction, type Piece, type RedactionOptions, redactedPieces, restore } from "./redact.ts";
import type { RedactionKeys } from "./redaction-keys.ts";
import { assembled, joinedPieces, named, nameLeft } from "./written-values.ts";
import { type XmlElement, type XmlText, xmlTexts } from "./xml-texts.ts";

/** The parts of an Office Open XML package (ECMA-376) that are XML, by their names. */
export type WorkbookParts = ReadonlyMap<string, string>;

/** A redacted workbook, and how often something was hidden of each entity. */
export interface RedactedWorkbook {
  readonly parts: WorkbookParts;
  readonly counts: ReadonlyMap<string, number>;
}

/** Attributes that name things by agreement, and show nothing. */
const AGREED =
  /^(?:xmlns(?::.*)?|.*:uid|uid|uri|Id|Type|ContentType|PartName|Extension|Requires|(?:mc:)?Ignorable|typeface|r:(?:id|embed|link))$/;
/** Short numbers and places of cells, which most attributes are. */
const SHORT = /^(?:-?\d{1,6}(?:\.\d{1,6})?|\$?[A-Z]{1,3}\$?\d{1,7}(?::\$?[A-Z]{1,3}\$?\d{1,7})?)$/;
const GUID = /^\{[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\}$/;
/** What runs of one text stand in. */
const RUNS_IN: ReadonlySet<string> = new Set(["si", "is", "text", "p"]);

/** A cell that shows something. */
interface Cell {
  readonly element: XmlElement;
  readonly texts: readonly XmlText[];
  readonly kind: "text" | "number" | "shared";
  readonly column: string;
  readonly row: number;
}

/**
 * Redacts the parts of a workbook (`.xlsx`): cells with what their column's first one says of them, texts that cells share, formulas, what formulas gave, comments, headers and footers, names of sheets and ranges, properties, and
 * every other text and attribute of every part. Texts that are cut into runs are read as one. A number or date that is redacted becomes a text. Comments of XML itself and processing instructions, which nobody is shown, are taken out.
 *
 * Throws `validation_failed`, naming the part, for what is no XML that every reader takes for the same, and for caches of pivot tables, whose numbers cannot become texts.
 */
export function redactWorkbook(parts: WorkbookParts, options: RedactionOptions): RedactedWorkbook {
  checkRedaction("", options);
  checkArgument("parts", parts, "object");
  const counts = new Map<string, number>();
  const read = new Map<string, readonly XmlText[]>();
  for (const [part, xml] of parts) {
    if (/pivotCache/i.test(part))
      throw governanceError("validation_failed", `${part}: is a copy of data that is not redacted: take the pivot table out`, {
        field: part,
      });
    read.set(part, [...xmlTexts(part, xml)]);
  }
  const shared = [...read].find(([, texts]) => rootOf(texts) === "sst")?.[1] ?? [];
  const strings = stringsOf(shared);
  /** What the columns of the cells say that show a shared text. */
  const shownUnder = new Map<XmlElement, Set<string>>();
  const headers = new Map<XmlText, string>();
  const cellOf = new Map<XmlText, Cell>();
  for (const texts of read.values()) {
    if (rootOf(texts) !== "worksheet") continue;
    const own = cellsOf(texts);
    const first = Math.min(...own.map(({ row }) => row));
    const names = new Map<string, string>();
    const saysOf = ({ kind, texts: of }: Cell): string =>
      kind === "shared" ? (strings.get(Number(of[0]?.value))?.text ?? "") : of.map(({ value }) => value).join("");
    for (const cell of own) if (cell.row === first) names.set(cell.column, nameLeft(redactedPieces(saysOf(cell), options)));
    for (const cell of own) {
      const name = cell.row === first ? "" : (names.get(cell.column) ?? "");
      for (const text of cell.texts) {
        headers.set(text, name);
        cellOf.set(text, cell);
      }
      const string = cell.kind === "shared" ? strings.get(Number(cell.texts[0]?.value)) : undefined;
      if (string !== undefined) shownUnder.set(string.element, (shownUnder.get(string.element) ?? new Set()).add(name));
    }
  }
  const done = new Map<string, string>();
  for (const [part, texts] of read) {
    const xml = parts.get(part) ?? "";
    const pieces: Piece[] = [];
    for (const { start, end, unshown } of texts) if (unshown) pieces.push({ start, end, text: "" });
    for (const group of groupsOf(texts.filter(({ unshown }) => !unshown))) {
      const cell = cellOf.get(group[0] as XmlText);
      if (cell?.kind === "shared" || (group[0]?.attribute !== undefined && isAgreed(group[0]))) continue;
      const within = runsOf(group[0] as XmlText);
      const under = [...(shownUnder.get(within as XmlElement) ?? [headers.get(group[0] as XmlText) ?? ""])];
      const told = under.map((name) => named(options, name, "")).reduce((a, b) => (a.whole === undefined ? b : a));
      if (cell?.kind === "number") pieces.push(...numberPieces(cell, group, told));
      else
        pieces.push(
          ...joinedPieces(
            xml,
            group.map((written) => ({ written, alone: !written.goesOn })),
            told,
          ),
        );
    }
    const changed = pieces.filter(({ start, end, text }) => xml.slice(start, end) !== text).sort((a, b) => a.start - b.start);
    for (const { entity } of changed) if (entity !== undefined) counts.set(entity, (counts.get(entity) ?? 0) + 1);
    done.set(part, assembled(xml, [changed], options).text);
  }
  return { parts: done, counts };
}

/** A workbook with the values back that `tokenise` and `encrypt` of this key took, as texts. */
export function restoreWorkbook(
  parts: WorkbookParts,
  policy: TierPolicy,
  keys: RedactionKeys,
): { readonly parts: WorkbookParts; readonly count: number } {
  checkArgument("parts", parts, "object");
  checkArgument("policy", policy, "object");
  checkArgument("keys", keys, "object");
  let restored = 0;
  const done = new Map<string, string>();
  for (const [part, xml] of parts) {
    const pieces: Piece[] = [];
    for (const { value, write, start, end } of xmlTexts(part, xml)) {
      const { text, count } = restore(value, policy, keys);
      restored += count;
      if (count > 0) pieces.push({ start, end, text: write(text, 0) });
    }
    done.set(part, assembled(xml, [pieces], { policy, recognisers: [], rules: [] }).text);
  }
  return { parts: done, count: restored };
}

function rootOf(texts: readonly XmlText[]): string {
  let element = texts.find(({ element }) => element !== undefined)?.element;
  while (element?.parent !== undefined) element = element.parent;
  return element?.name ?? "";
}

function isAgreed({ attribute = "", value }: XmlText): boolean {
  return AGREED.test(attribute) || SHORT.test(value) || GUID.test(value) || !/[\p{L}\p{N}]{2}/u.test(value);
}

/** The text of which a run is a part. */
function runsOf({ element, attribute }: XmlText): XmlElement | undefined {
  if (attribute !== undefined || element?.name !== "t") return undefined;
  for (let around = element.parent; around !== undefined; around = around.parent) if (RUNS_IN.has(around.name)) return around;
  return undefined;
}

/** Texts that are read as one: runs of the same text, and what goes on; the others are read alone. */
function groupsOf(texts: readonly XmlText[]): readonly (readonly XmlText[])[] {
  const groups: XmlText[][] = [];
  const byText = new Map<XmlElement, XmlText[]>();
  for (const text of texts) {
    const within = runsOf(text);
    const known = text.goesOn ? groups.at(-1) : within === undefined ? undefined : byText.get(within);
    if (known !== undefined) known.push(text);
    else {
      const group = [text];
      groups.push(group);
      if (within !== undefined) byText.set(within, group);
    }
  }
  return groups;
}

/** The texts that cells share, by their places. */
function stringsOf(shared: readonly XmlText[]): ReadonlyMap<number, { readonly element: XmlElement; readonly text: string }> {
  const strings = new Map<number, { element: XmlElement; text: string }>();
  for (const text of shared) {
    const within = runsOf(text);
    if (within?.name !== "si") continue;
    strings.set(within.place, { element: within, text: (strings.get(within.place)?.text ?? "") + text.value });
  }
  return strings;
}

/** The cells of a sheet that show something, in their order. */
function cellsOf(texts: readonly XmlText[]): readonly Cell[] {
  const byCell = new Map<XmlElement, XmlText[]>();
  for (const text of texts) {
    if (text.attribute !== undefined || text.unshown) continue;
    let around = text.element;
    while (around !== undefined && around.name !== "c") around = around.parent;
    if (around === undefined || text.element?.name === "f") continue;
    const known = byCell.get(around);
    if (known === undefined) byCell.set(around, [text]);
    else known.push(text);
  }
  return [...byCell].map(([element, of]) => {
    const type = element.attributes.get("t")?.value ?? "n";
    const [, column = "", row = "0"] = /^([A-Z]*)(\d*)$/.exec(element.attributes.get("r")?.value ?? "") ?? [];
    const kind = type === "s" ? "shared" : type === "str" || type === "inlineStr" ? "text" : "number";
    return { element, texts: of, kind, column, row: Number(row) };
  });
}

/** A number, a date or a truth is redacted as a whole, and its cell says that it is a text then. */
function numberPieces({ element }: Cell, texts: readonly XmlText[], options: RedactionOptions): readonly Piece[] {
  return texts.flatMap(({ value, start, end, write }) => {
    const found = redactedPieces(value, options).find(({ entity }) => entity !== undefined);
    if (found?.entity === undefined || found.operator === undefined) return [];
    const pieces = redactedPieces(value, Object.assign({}, options, { whole: found.entity }));
    const type = element.attributes.get("t");
    const typed: Piece =
      type === undefined
        ? { start: element.tagEnd, end: element.tagEnd, text: ' t="str"' }
        : { start: type.start, end: type.end, text: "str" };
    const text = write(pieces.map((piece) => piece.text).join(""), 0);
    return [typed, { start, end, text, entity: found.entity, operator: found.operator }];
  });
}
