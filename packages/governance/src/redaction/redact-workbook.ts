import { checkArgument } from "@seneschal/kernel";
import { Surroundings, termOf } from "../classification/lexicon.ts";
import { wordsOf } from "../classification/names/words-of.ts";
import type { TierPolicy } from "../classification/tiers.ts";
import { governanceError } from "../errors.ts";
import { partitionPoint } from "../partition-point.ts";
import { JudgedColumns, type NamedValues, otherwiseColumns } from "./column-entities.ts";
import { everywhere, FileReading, textOf } from "./file-reading.ts";
import { plainNumber } from "./known-values.ts";
import {
  BARE,
  checkRedaction,
  type Piece,
  type RedactionOptions,
  type Restored,
  redactedPieces,
  restore,
  type SearchOptions,
} from "./redact.ts";
import type { RedactionKeys } from "./redaction-keys.ts";
import { redactionRuleFor } from "./rules.ts";
import { type Cell, cellAround, cellsOf, headsOf } from "./workbook-cells.ts";
import {
  COPIES,
  copyAround,
  formInstead,
  groupsOf,
  isAgreedName,
  isForeign,
  isFormula,
  isHeaderOrFooter,
  isNameInFormulas,
  isRangeName,
  isSheetName,
  mostOf,
  placeOf,
  readWith,
  rootOf,
} from "./workbook-places.ts";
import { assembled, joinedPieces, nameLeft, type Written } from "./written-values.ts";
import { type XmlElement, type XmlText, xmlTexts } from "./xml-texts.ts";

/** The parts of an Office Open XML package (ECMA-376) that are XML, by their names. */
export type WorkbookParts = ReadonlyMap<string, string>;

/** A redacted workbook, and how often something was hidden of each entity. */
export interface RedactedWorkbook {
  readonly parts: WorkbookParts;
  readonly counts: ReadonlyMap<string, number>;
}

/** A part as it was read. */
interface Part {
  readonly name: string;
  readonly xml: string;
  readonly root: string;
  readonly texts: readonly XmlText[];
  readonly cells: readonly Cell[];
  readonly read: readonly Place[];
  /** Copies of cells. */
  readonly copies: readonly XmlElement[];
}

/** Texts that are read as one, and how they may be treated. */
interface Place {
  readonly group: readonly XmlText[];
  readonly kind: Exclude<ReturnType<typeof placeOf>, "form">;
  /** The cell that they stand in, where that shows something. */
  readonly around: XmlElement | undefined;
  readonly cell: Cell | undefined;
  /** They are the number that the cell shows. */
  readonly isNumber: boolean;
}

/**
 * Redacts the parts of a workbook (`.xlsx`): cells with what the heads of their column say of them, texts that cells share, formulas, comments, headers and footers, names of sheets and ranges, properties, and every other text and attribute of every part. Texts that are cut into runs
 * are read as one. What is hidden in a cell is hidden wherever else it stands in the workbook. A number or date that is redacted becomes a text, and a formula whose cell or text is redacted is taken out. So are copies of cells in charts, filters, scenarios and links to other workbooks, comments of
 * XML itself and processing instructions.
 *
 * `mostTexts`: texts and attributes that a workbook may have; each takes some 2 KiB while it is read. Throws `validation_failed`, naming the part, for one with more, for what is no XML that every reader takes for the same, for copies of data that cannot be redacted (pivot tables, logs of revisions, rich data), and for a value in a name that other parts go by.
 */
export function redactWorkbook(
  parts: WorkbookParts,
  options: RedactionOptions,
  mostTexts: number = Number.POSITIVE_INFINITY,
): RedactedWorkbook {
  checkRedaction("", options);
  checkArgument("mostTexts", mostTexts, "number");
  checkArgument("parts", parts, "object");
  const reading = new FileReading();
  const places = new Places(options);
  const read = partsOf(parts, mostTexts);
  const says = saying(read);
  /** Where a cell stands, or the cells that show a shared text. */
  const under = new Map<XmlElement, Under>();
  const held = new Map<XmlElement, string>();
  const sheets = read.map(({ texts, cells }) => {
    const saysLeft = (cell: Cell): string => nameLeft(reading.alone(says.of(cell), options), options);
    const heads = headsOf(cells, texts, saysLeft, options.about);
    return { cells, namesOf: meantNames(cells, heads, says.of, options.about ?? "") };
  });
  /** Judges columns by what they say, or by what redaction leaves of them. False where that tells nothing new. */
  const judge = (left?: (cell: Cell) => string): boolean => {
    const known = held.size;
    for (const { cells, namesOf } of sheets) {
      for (const [cell, entity] of heldBelow(cells, namesOf, options, left ?? says.asNumber))
        if (!held.has(cell)) held.set(cell, entity);
      for (const cell of cells) {
        const place = places.of(namesOf(cell), held.get(cell.element));
        under.set(cell.element, place);
        const string = says.stringOf(cell)?.element;
        if (string !== undefined) under.set(string, places.both(under.get(string), place));
        reading.alone(says.of(cell), place.options);
        if (cell.kind === "number") reading.alone(says.asNumber(cell), place.options);
      }
    }
    return held.size > known;
  };
  judge();
  for (;;) {
    reading.learn();
    const done = everywhere(reading, () => redactedParts(read, { options, reading, places, under, says: says.of }));
    const left = (cell: Cell): string => textOf(reading.pieces(says.asNumber(cell), under.get(cell.element)?.options ?? options));
    if (!judge(left)) return done;
  }
}

/** Reads the parts. Throws `validation_failed`, naming the part. */
function partsOf(parts: WorkbookParts, mostTexts: number): readonly Part[] {
  let left = mostTexts;
  return [...parts].map(([name, xml]): Part => {
    if (COPIES.test(name)) refuse(name, "is a copy of data that is not redacted: take out what it belongs to");
    const texts: XmlText[] = [];
    for (const text of xmlTexts(name, xml)) {
      if (--left < 0) refuse(name, `has more texts and attributes than may be read: a workbook may have ${mostTexts}`);
      texts.push(text);
    }
    const root = rootOf(texts)?.name ?? "";
    const cells = root === "worksheet" ? cellsOf(texts) : [];
    return { name, xml, root, texts, cells, ...placesIn(name, root, texts, cells) };
  });
}

/** What is to be read of a part, and what is taken out of it whatever it says. */
function placesIn(name: string, root: string, texts: readonly XmlText[], cells: readonly Cell[]): Pick<Part, "read" | "copies"> {
  const copies = texts.flatMap((text) => copyAround(root, text) ?? []);
  const cellOf = new Map(cells.map((cell) => [cell.element, cell]));
  const read: Place[] = [];
  const isForm = (text: XmlText): boolean => placeOf(name, root, text) === "form";
  for (const group of groupsOf(texts.filter((text) => !text.unshown && (text.attribute === undefined || !isForm(text))))) {
    const text = group[0] as XmlText;
    const kind = placeOf(name, root, text);
    if (kind === "form") continue;
    const around = cells.length === 0 ? undefined : cellAround(text);
    const cell = around === undefined ? undefined : cellOf.get(around);
    const isValue = cell !== undefined && text.attribute === undefined && cell.texts.includes(text);
    if (kind !== "fixed" && isValue && cell.kind === "shared") continue;
    read.push({ group, kind, around, cell, isNumber: isValue && cell.kind === "number" });
  }
  return { read, copies };
}

/** What cells say. Throws `validation_failed` for one that shows a shared text that is not there. */
function saying(read: readonly Part[]) {
  const shared = read.find(({ root }) => root === "sst");
  const strings = stringsOf(shared?.texts ?? []);
  const most = shared?.xml.match(/<(?:[^\s<>/!?:]+:)?si[\s/>]/g)?.length ?? 0;
  const said = new Map<Cell, { readonly text: string; readonly string?: SharedString | undefined }>();
  for (const { name, cells } of read)
    for (const cell of cells) {
      const text = joinedValue(cell.texts);
      const index = text.trim();
      if (cell.kind !== "shared") said.set(cell, { text });
      else if (index === "" && cell.texts.length === 0) said.set(cell, { text: "" });
      else {
        if (!/^\d{1,9}$/.test(index) || Number(index) >= most) refuse(name, "a cell shows a shared text that is not there");
        const string = strings.get(Number(index));
        said.set(cell, { text: string?.text ?? "", string });
      }
    }
  const of = (cell: Cell): string => said.get(cell)?.text ?? "";
  return {
    of,
    /** Of a number the digits that it means. */
    asNumber: (cell: Cell): string => (cell.kind === "number" ? (plainNumber(of(cell)) ?? of(cell)) : of(cell)),
    stringOf: (cell: Cell): SharedString | undefined => said.get(cell)?.string,
  };
}

/** What is known of a workbook while its parts are redacted. */
interface Known {
  readonly options: RedactionOptions;
  readonly reading: FileReading;
  readonly places: Places;
  readonly under: ReadonlyMap<XmlElement, Under>;
  readonly says: (cell: Cell) => string;
}

function redactedParts(read: readonly Part[], { options, reading, places, under, says }: Known): RedactedWorkbook {
  const nowhere = places.of(NO_NAMES);
  /** What is hidden elsewhere, and nothing else. */
  const elsewhere: Under = { names: NO_NAMES, options: places.unsearched };
  const isHidden = (value: string, { options }: Under, isNumber = false): boolean =>
    hidesIn(value, reading.pieces(value, options)) ||
    (isNumber && hidesIn(plainNumber(value) ?? value, reading.pieces(plainNumber(value) ?? value, options)));
  const holdsValue = (name: string): boolean =>
    [name, name.replaceAll(/\.(?:xml|rels|vml)$/gi, "")].some(
      (read) => hidesIn(read, reading.alone(read, places.onlyKept)) || (!isAgreedName(read) && isHidden(read, nowhere)),
    );
  const renamed = renamedIn(read, reading, options);

  const counts = new Map<string, number>();
  const done = new Map<string, string>();
  let withoutFormula = false;
  for (const part of read) {
    const { name, xml, root, texts, cells } = part;
    if (holdsValue(name)) refuse(name, "its name holds a value");
    const pieces: Piece[] = [];
    const gone = new Map<number, number>();
    const takeOut = ({ start, end }: XmlElement): void => {
      gone.set(start, Math.max(end, gone.get(start) ?? 0));
    };
    const formulas = formulasToHide(cells, (cell) => {
      const place = under.get(cell.element) ?? nowhere;
      const formula = renamed.in(joinedValue(cell.formulaTexts));
      return (
        isHidden(says(cell), place, cell.kind === "number") ||
        [formula, literalsOf(formula)].some((text) => isHidden(text, place))
      );
    });
    if (formulas.length > 0) withoutFormula = true;
    for (const formula of formulas) takeOut(formula);
    for (const copy of part.copies) takeOut(copy);
    for (const { unshown, start, end } of texts) if (unshown) pieces.push({ start, end, text: "" });
    for (const { group, kind, around, cell, isNumber } of part.read) {
      const text = group[0] as XmlText;
      if (kind === "fixed") {
        if (holdsValue(text.value)) refuse(name, `${text.attribute} holds a value, and other parts go by it`);
        continue;
      }
      if (cell?.formulaTexts.includes(text)) {
        const formula = joinedValue(group);
        if (renamed.in(formula) !== formula) pieces.push(...insteadOf(group, renamed.in(formula)));
        continue;
      }
      const called = renamed.names.get(text);
      if (called !== undefined) {
        pieces.push(called);
        continue;
      }
      const place =
        around === undefined
          ? namesAt(part, text, under, options, places)
          : text.attribute === undefined
            ? (under.get(around) ?? nowhere)
            : nowhere;
      const value = joinedValue(group);
      const redacted = (at: Under) => reading.written(xml, asParts(group), at.options);
      if (kind === "font") {
        if (isHidden(value, elsewhere)) pieces.push(...redacted(elsewhere));
        continue;
      }
      if (kind === "word") {
        const found = reading.alone(value, place.options);
        if (hidesIn(value, found)) pieces.push(...joinedPieces(xml, asParts(group), place.options));
        continue;
      }
      if (!isHidden(value, place, isNumber) && !isFormula(text) && !isHeaderOrFooter(text)) continue;
      if (cell !== undefined && isNumber) pieces.push(...numberPieces(cell, group, reading, place.options));
      else if (isFormula(text)) pieces.push(...formulaPieces(xml, group, reading, nowhere.options, renamed));
      else if (isHeaderOrFooter(text))
        pieces.push(...withinMost(xml, group, headerPieces(xml, group, reading.knowing(nowhere.options))));
      else {
        const form = text.attribute === undefined ? formInstead(text.element?.name ?? "", root) : undefined;
        if (form === undefined) pieces.push(...withinLimit(name, group, withinMost(xml, group, redacted(place)), around));
        else {
          const entity = hiddenIn(value, reading.pieces(value, place.options)) ?? "";
          pieces.push(...insteadOf(group, form, { entity, operator: "replace" }));
        }
      }
    }
    const removed: Piece[] = [];
    for (const [start, end] of [...gone].sort(([a], [b]) => a - b))
      if (start >= (removed.at(-1)?.end ?? 0)) removed.push({ start, end, text: "" });
    const changed = [...outside(pieces, removed), ...removed]
      .filter(({ start, end, text }) => xml.slice(start, end) !== text)
      .sort((a, b) => a.start - b.start);
    for (const { entity } of changed) if (entity !== undefined) counts.set(entity, (counts.get(entity) ?? 0) + 1);
    done.set(name, assembled(xml, [changed], options).text);
    if (root === "table") checkColumns(name, done.get(name) ?? "");
  }
  return { parts: withoutFormula ? withoutCalculationChain(done, options) : done, counts };
}

/** A workbook with the values back that `tokenise` and `encrypt` of this key took, as texts. */
export function restoreWorkbook(
  parts: WorkbookParts,
  policy: TierPolicy,
  keys: RedactionKeys,
): { readonly parts: WorkbookParts } & Pick<Restored, "count" | "left"> {
  checkArgument("parts", parts, "object");
  checkArgument("policy", policy, "object");
  checkArgument("keys", keys, "object");
  let [restored, left] = [0, 0];
  const done = new Map<string, string>();
  for (const [part, xml] of parts) {
    const pieces: Piece[] = [];
    for (const written of xmlTexts(part, xml)) {
      const { text, count, left: other } = restore(written.value, policy, keys);
      restored += count;
      left += other;
      if (count > 0) pieces.push({ start: written.start, end: written.end, text: written.write(text, 0) });
    }
    done.set(part, assembled(xml, [pieces], { policy, recognisers: [], rules: [] }).text);
  }
  return { parts: done, count: restored, left };
}

function refuse(part: string, why: string): never {
  throw governanceError("validation_failed", `${part}: ${why}`, { field: part, reason: why });
}

/** What is above a cell, the nearest first, with what its column holds as a whole: how its text is searched. Equal ones are one. */
interface Under {
  readonly names: readonly string[];
  readonly entity?: string;
  readonly options: SearchOptions;
}

const NO_NAMES: readonly string[] = [];

class Places {
  readonly #options: RedactionOptions;
  readonly #byNames = new WeakMap<readonly string[], Map<string | undefined, Under>>();
  readonly #known = new Map<string, Under>();
  /** For what is searched for nothing of its own. */
  readonly unsearched: SearchOptions;
  /** For what no rule but those that keep is asked about. */
  readonly onlyKept: SearchOptions;

  constructor(options: RedactionOptions) {
    this.#options = options;
    this.unsearched = { ...options, recognisers: [] };
    this.onlyKept = { ...options, rules: options.rules.filter(({ operator }) => operator === "keep") };
  }

  of(names: readonly string[], entity?: string): Under {
    const byEntity = this.#byNames.get(names) ?? new Map<string | undefined, Under>();
    this.#byNames.set(names, byEntity);
    const before = byEntity.get(entity);
    if (before !== undefined) return before;
    const key = JSON.stringify([entity, ...names]);
    const place = this.#known.get(key) ?? this.#made(names, entity);
    this.#known.set(key, place);
    byEntity.set(entity, place);
    return place;
  }

  /** Where a text stands that is shown in two places. */
  both(one: Under | undefined, other: Under): Under {
    if (one === undefined || one === other) return other;
    return this.of([...new Set([...one.names, ...other.names])], one.entity ?? other.entity);
  }

  /** A name that is for sure of an entity decides, unless that is kept; then what the column holds. */
  #made(names: readonly string[], entity: string | undefined): Under {
    if (names.length === 0 && entity === undefined) return { names, options: this.#options };
    const { policy, rules, about = "" } = this.#options;
    const entities = [...names.map((name) => termOf(name, about)?.entity), entity].filter((each) => each !== undefined);
    const whole = entities.find((entity) => redactionRuleFor(policy, rules, entity).operator !== "keep") ?? entities[0];
    const hints = names.map((name) => wordsOf(name).join(" "));
    const options = Object.assign({}, this.#options, { hints }, whole === undefined ? {} : { whole });
    return { names, options, ...(entity === undefined ? {} : { entity }) };
  }
}

/** Whether something of a value is hidden. */
function hidesIn(value: string, pieces: readonly Piece[]): boolean {
  return hiddenIn(value, pieces) !== undefined;
}

/** The entity of the first stretch of a value that is hidden. */
function hiddenIn(value: string, pieces: readonly Piece[]): string | undefined {
  return pieces.find(({ start, end, entity, text }) => entity !== undefined && text !== value.slice(start, end))?.entity;
}

/**
 * What cells below one another hold as a whole by a name above them and most of their values, as classification tells it of a column.
 */
function heldBelow(
  cells: readonly Cell[],
  namesOf: (cell: Cell) => readonly string[],
  options: RedactionOptions,
  says: (cell: Cell) => string,
): ReadonlyMap<XmlElement, string> {
  const columns = new Map<number, Cell[]>();
  for (const cell of cells) {
    const column = columns.get(cell.column);
    if (column === undefined) columns.set(cell.column, [cell]);
    else column.push(cell);
  }
  const around = new Surroundings(options.about, [...new Set([...new Set(cells.map(namesOf))].flat())]);
  const columnEntity = (name: string, values: readonly string[]): string | undefined => {
    const judged = new JudgedColumns();
    for (const value of values) judged.add("", name, value);
    return judged.entities(options, around).get("");
  };
  const held = new Map<XmlElement, string>();
  for (const column of columns.values()) {
    const sorted = [...column].sort((a, b) => a.row - b.row);
    for (let from = 0, to = 0; from < sorted.length; from = to) {
      for (to = from + 1; to < sorted.length && (sorted[to]?.row ?? 0) <= (sorted[to - 1]?.row ?? 0) + 1; ) to++;
      const block = sorted.slice(from, to);
      const names = namesOf(block.at(-1) as Cell);
      for (const name of [...new Set([...names].reverse()), ""]) {
        const below = name === "" ? block : block.filter((cell) => namesOf(cell).includes(name));
        const entity = columnEntity(name, below.map(says));
        if (entity === undefined) continue;
        for (const { element } of below) held.set(element, entity);
        break;
      }
    }
  }
  return held;
}

/** The names above a cell but for those that all cells of the column below them say to mean something else, as {@link otherwiseColumns} tells it of a table. */
function meantNames(
  cells: readonly Cell[],
  heads: ReadonlyMap<XmlElement, readonly string[]>,
  says: (cell: Cell) => string,
  about: string,
): (cell: Cell) => readonly string[] {
  const above = (cell: Cell): readonly string[] => heads.get(cell.element) ?? NO_NAMES;
  const below = new Map<string, NamedValues & { readonly values: string[] }>();
  const keyOf = ({ column }: Cell, name: string): string => `${column} ${name}`;
  for (const cell of cells)
    for (const name of above(cell)) {
      const named = below.get(keyOf(cell, name)) ?? { name, values: [] };
      below.set(keyOf(cell, name), named);
      named.values.push(says(cell));
    }
  const otherwise = otherwiseColumns([...below.values()], about);
  const others = new Set([...below.keys()].filter((_, i) => otherwise.has(i)));
  const meant = new Map<readonly string[], readonly string[]>();
  return (cell) => {
    const names = above(cell);
    const left = meant.get(names) ?? names.filter((name) => !others.has(keyOf(cell, name)));
    meant.set(names, left);
    return left;
  };
}

/** What the elements around a text are called, and what they call themselves; in parts of Office Open XML only what is above the cells that show it. */
function namesAt(
  { name, root }: Part,
  text: XmlText,
  under: ReadonlyMap<XmlElement, Under>,
  options: RedactionOptions,
  places: Places,
): Under {
  const { attribute } = text;
  const nowhere = places.of(NO_NAMES);
  const isProperties = root === "Properties" && attribute === undefined;
  if (!isForeign(name) && !isProperties) {
    const { within } = attribute === undefined ? readWith(text) : { within: undefined };
    return within === undefined ? nowhere : (under.get(within) ?? nowhere);
  }
  const names = attribute === undefined ? [] : [attribute.slice(attribute.indexOf(":") + 1)];
  for (let around = text.element; around !== undefined; around = around.parent) {
    for (const label of ["name", "key", "label"]) {
      const said = around.attributes.get(label);
      if (said !== undefined && said !== text) names.push(nameLeft([{ start: 0, end: 0, text: said.value }], options));
    }
    if (!isProperties) names.push(around.name);
  }
  return places.of(names);
}

/** Characters that Excel takes in a cell. */
const MOST_OF_CELL = 32_767;

/** A cell whose redacted text is longer than Excel takes has the marker of its first value alone, unless that could not be restored. */
function withinLimit(
  part: string,
  group: readonly XmlText[],
  pieces: readonly Piece[],
  around: XmlElement | undefined,
): readonly Piece[] {
  const isShared = around === undefined && readWith(group[0] as XmlText).within?.name === "si";
  if (around === undefined && !isShared) return pieces;
  const length = pieces.reduce((sum, { text }) => sum + text.replaceAll(/&[^;]{1,8};/g, " ").length, 0);
  const given = group.reduce((sum, { value }) => sum + value.length, 0);
  const found = pieces.find(({ entity }) => entity !== undefined);
  if (length <= MOST_OF_CELL || given > MOST_OF_CELL || found?.entity === undefined) return pieces;
  if (pieces.some(({ operator }) => operator === "tokenise" || operator === "encrypt"))
    refuse(
      part,
      `a cell would be longer than Excel takes (${MOST_OF_CELL} characters): its values can be masked, not tokenised or encrypted`,
    );
  return insteadOf(group, `<${found.entity}>`, { entity: found.entity, operator: "replace" });
}

/** A text that is no cell's and would be longer than Excel takes has one marker, or nothing where that is too long as well: it is not restored. */
function withinMost(xml: string, group: readonly XmlText[], pieces: readonly Piece[]): readonly Piece[] {
  const most = mostOf(group[0] as XmlText) ?? Number.POSITIVE_INFINITY;
  const found = pieces.find(({ entity }) => entity !== undefined);
  if (found?.entity === undefined) return pieces;
  const lengthOf = (text: string): number => text.replaceAll(/&[^;]{1,8};/g, " ").length;
  const longer = pieces.reduce((sum, { start, end, text }) => sum + lengthOf(text) - lengthOf(xml.slice(start, end)), 0);
  if (joinedValue(group).length + longer <= most) return pieces;
  // A header without the code of its place is read by few.
  const marker = `${isHeaderOrFooter(group[0] as XmlText) ? "&C" : ""}<${found.entity}>`;
  return insteadOf(group, marker.length <= most ? marker : "", { entity: found.entity, operator: "replace" });
}

function asParts(group: readonly XmlText[]): readonly { readonly written: Written; readonly alone: boolean }[] {
  return group.map((written) => ({ written, alone: written.goesOn !== true }));
}

function joinedValue(group: readonly XmlText[]): string {
  if (group.length === 1) return (group[0] as XmlText).value;
  return group.map(({ value }) => value).join("");
}

/** Another text in the place of one that is read in parts. */
function insteadOf(group: readonly XmlText[], text: string, of: Pick<Piece, "entity" | "operator"> = {}): readonly Piece[] {
  return group.map((written, i) => {
    const { start, end } = written;
    return i === 0 ? { start, end, text: written.write(text, 0), ...of } : { start, end, text: "" };
  });
}

/** The names that formulas go by, of sheets, ranges and tables, which hold values, and what they are called then. */
interface Renamed {
  readonly names: ReadonlyMap<XmlText, Piece>;
  /** A formula with what it names by the new names. */
  in(formula: string): string;
}

/** A text of a formula, the name of a sheet, or another name that is no function's. */
const NAMED_IN_FORMULA =
  /"(?:[^"]|"")*"|'((?:[^']|'')+)'!|([\p{L}_][\p{L}\p{N}_.]*)!|(?<![\p{L}\p{N}_.\\?$])([\p{L}_\\][\p{L}\p{N}_.\\?]*)(?![\p{L}\p{N}_.\\?(])/gu;

/** A name keeps what its redaction says where Excel takes that and no other has it. Any other is called by a number. */
function renamedIn(parts: readonly Part[], reading: FileReading, options: RedactionOptions): Renamed {
  const names = new Map<XmlText, Piece>();
  const rename = (texts: readonly XmlText[], isTaken: (name: string) => boolean, numbered: (n: number) => string) => {
    const renamed = new Map<string, string>();
    const taken = new Set(texts.map(({ value }) => value.toLowerCase()));
    for (const text of texts) {
      const pieces = reading.pieces(text.value, options);
      const found = pieces.find(({ entity }) => entity !== undefined);
      if (found?.entity === undefined) continue;
      let name = renamed.get(text.value.toLowerCase()) ?? textOf(pieces);
      const isRefused = (name: string): boolean => taken.has(name.toLowerCase()) || !isTaken(name);
      if (!renamed.has(text.value.toLowerCase()))
        for (let number = (text.element?.place ?? 0) + 1; isRefused(name); number++) name = numbered(number);
      taken.add(name.toLowerCase());
      renamed.set(text.value.toLowerCase(), name);
      const { start, end } = text;
      names.set(text, { start, end, text: text.write(name, 0), entity: found.entity, operator: found.operator ?? "replace" });
    }
    return renamed;
  };
  const textsWhere = (is: (text: XmlText, root: string) => boolean): readonly XmlText[] =>
    parts.flatMap(({ root, texts }) => texts.filter((text) => is(text, root)));
  const sheets = rename(
    textsWhere(({ attribute, element }, root) => root === "workbook" && attribute === "name" && element?.name === "sheet"),
    isSheetName,
    (number) => `Sheet ${number}`,
  );
  const ranges = rename(textsWhere(isNameInFormulas), isRangeName, (number) => `Name_${number}`);
  return {
    names,
    in: (formula) =>
      sheets.size + ranges.size === 0
        ? formula
        : formula.replaceAll(NAMED_IN_FORMULA, (whole, quoted?: string, bare?: string, range?: string) => {
            if (range !== undefined) return ranges.get(range.toLowerCase()) ?? whole;
            const name = sheets.get((quoted?.replaceAll("''", "'") ?? bare ?? "").toLowerCase());
            return name === undefined ? whole : `'${name.replaceAll("'", "''")}'!`;
          }),
  };
}

/** Throws for a table of which two columns would have one name, or one none: no program takes that. */
function checkColumns(part: string, table: string): void {
  const names = [...xmlTexts(part, table)]
    .filter(({ attribute, element }) => attribute === "name" && element?.name === "tableColumn")
    .map(({ value }) => value.trim().toLowerCase());
  const columns = table.match(/<(?:[^\s<>/!?:]+:)?tableColumn[\s/>]/g)?.length ?? 0;
  if (new Set(names).size < columns || names.includes(""))
    refuse(part, "two columns of the table would have one name, or one none: their values can be hashed, tokenised or encrypted");
}

/** The formulas that are taken out, with those that are shared with one of them. */
function formulasToHide(cells: readonly Cell[], isHidden: (cell: Cell) => boolean): readonly XmlElement[] {
  const formulas = cells.filter(({ formula }) => formula !== undefined);
  const hidden = new Set(formulas.filter(isHidden));
  const sharedBy = ({ formula }: Cell): string | undefined => formula?.attributes.get("si")?.value;
  const shared = new Set([...hidden].map(sharedBy));
  return formulas
    .filter((cell) => hidden.has(cell) || (sharedBy(cell) !== undefined && shared.has(sharedBy(cell))))
    .map(({ formula }) => formula as XmlElement);
}

const LITERAL = /"((?:[^"]|"")*)"/g;

/** The texts and numbers of a formula one behind the other, as it may join them. */
function literalsOf(formula: string): string {
  return [...formula.matchAll(/"((?:[^"]|"")*)"|(?<![\p{L}\p{N}_$.])\d+(?:\.\d+)?/gu)]
    .map(([number, text]) => text ?? number)
    .join("");
}

/** What is found in a text of a formula is hidden there. Where it is found elsewhere in it or only in texts that it joins, all of the formula becomes a text. */
function formulaPieces(
  xml: string,
  group: readonly XmlText[],
  reading: FileReading,
  options: RedactionOptions,
  renamed: Renamed,
): readonly Piece[] {
  const written = joinedValue(group);
  const formula = renamed.in(written);
  const literals = [...formula.matchAll(LITERAL)].map(({ 0: whole, index }) => [index + 1, index + whole.length - 1] as const);
  const pieces = reading.pieces(formula, options);
  const isInLiterals = pieces.every(
    ({ start, end, entity }) => entity === undefined || literals.some(([from, to]) => from <= start && end <= to),
  );
  const joinedLiterals = literalsOf(textOf(pieces));
  const joined = hiddenIn(joinedLiterals, reading.pieces(joinedLiterals, options));
  if (isInLiterals && joined === undefined && formula === written) return reading.written(xml, asParts(group), options);
  const entity = joined ?? pieces.find((piece) => piece.entity !== undefined)?.entity;
  if (entity === undefined) return insteadOf(group, formula);
  const whole = redactedPieces(formula, Object.assign({}, options, { whole: entity }), () => BARE + formula);
  const text = `"${textOf(whole).replaceAll('"', '""')}"`;
  const operator = whole.find((piece) => piece.operator !== undefined)?.operator ?? "replace";
  return insteadOf(group, text, { entity, operator });
}

/** The codes of headers and footers (ECMA-376, 18.3.1.46): they are no part of what is printed. */
const CODE = /&(?:"([^"]*)"|K(?:[0-9A-Fa-f]{6}|\d\d[+-]\d{3})|\d{1,3}|[A-Za-z])/g;

/** What is printed is read without the codes, and a font's name in them alone. */
function headerPieces(xml: string, group: readonly XmlText[], told: SearchOptions): readonly Piece[] {
  return group.flatMap((text) => {
    const cut = (start: number, end: number): Written => ({
      value: text.value.slice(start, end),
      at: (i) => text.at(start + i),
      write: (said, i) => text.write(said, start + i),
      keepsValue: true,
    });
    const printed: Written[] = [];
    const codes: Written[] = [];
    let at = 0;
    for (const { 0: code, 1: font, index } of text.value.matchAll(CODE)) {
      if (index > at) printed.push(cut(at, index));
      if (font !== undefined) codes.push(cut(index, index + code.length));
      at = index + code.length;
    }
    if (at < text.value.length) printed.push(cut(at, text.value.length));
    return [
      ...joinedPieces(
        xml,
        printed.map((written) => ({ written, alone: true })),
        told,
      ),
      ...codes.flatMap((written) => joinedPieces(xml, [{ written, alone: true }], told)),
    ];
  });
}

/** Pieces that do not stand in one that is removed. Both are ascending. */
function outside(pieces: readonly Piece[], removed: readonly Piece[]): readonly Piece[] {
  if (removed.length === 0) return pieces;
  return pieces.filter(({ start }) => {
    const next = removed[partitionPoint(removed, ({ end }) => end <= start)];
    return next === undefined || next.start > start;
  });
}

/** The list of cells with formulas, which a program makes anew where it is missing, would name cells that have none any more. */
function withoutCalculationChain(parts: WorkbookParts, options: RedactionOptions): WorkbookParts {
  const left = new Map<string, string>();
  for (const [part, xml] of parts) {
    const texts = [...xmlTexts(part, xml)];
    const root = rootOf(texts)?.name;
    if (root === "calcChain") continue;
    const isOfIt = ({ attribute, value }: XmlText): boolean =>
      (root === "Relationships" && attribute === "Type" && value.endsWith("/calcChain")) ||
      (root === "Types" && attribute === "ContentType" && value.endsWith(".calcChain+xml"));
    const removed = texts.filter(isOfIt).map(({ element }) => ({ start: element?.start ?? 0, end: element?.end ?? 0, text: "" }));
    left.set(part, removed.length === 0 ? xml : assembled(xml, [removed], options).text);
  }
  return left;
}

/** A text that cells share. */
interface SharedString {
  readonly element: XmlElement;
  readonly text: string;
}

/** The texts that cells share, by their places. */
function stringsOf(shared: readonly XmlText[]): ReadonlyMap<number, SharedString> {
  const strings = new Map<number, SharedString>();
  for (const text of shared) {
    const { within, spoken } = readWith(text);
    if (within?.name !== "si" || spoken || text.attribute !== undefined || text.unshown) continue;
    strings.set(within.place, { element: within, text: (strings.get(within.place)?.text ?? "") + text.value });
  }
  return strings;
}

/** A number, a date or a truth is redacted as a whole, and its cell says that it is a text then. */
function numberPieces(
  { element }: Cell,
  texts: readonly XmlText[],
  reading: FileReading,
  options: SearchOptions,
): readonly Piece[] {
  const value = joinedValue(texts);
  const found = [value, plainNumber(value) ?? value]
    .flatMap((read) => reading.pieces(read, options))
    .find(({ entity }) => entity !== undefined);
  if (found?.entity === undefined || found.operator === undefined) return [];
  const { entity, operator } = found;
  const text = textOf(redactedPieces(value, Object.assign({}, options, { whole: entity })));
  const type = element.attributes.get("t");
  const typed: Piece =
    type === undefined
      ? { start: element.tagEnd, end: element.tagEnd, text: ' t="str"' }
      : { start: type.start, end: type.end, text: "str" };
  return [typed, ...insteadOf(texts, text, { entity, operator })];
}
