import { isRecordOfSomebody } from "../classification/columns/structured-evidence.ts";
import type { Around } from "../classification/named-values/named-column.ts";
import { Pairs } from "../classification/named-values/pairs.ts";
import { isHealthName } from "../classification/prose/health-mentions.ts";
import { governanceError } from "../errors.ts";
import { jsonCells } from "../json-cells.ts";
import { jsonTokens } from "../json-tokens.ts";
import { JudgedColumns, settled } from "./column-entities.ts";
import { everywhere, FileReading } from "./file-reading.ts";
import { plainNumber } from "./known-values.ts";
import {
  BARE,
  checkRedaction,
  type Piece,
  type Redacted,
  type RedactionOptions,
  redactedPieces,
  type SearchOptions,
} from "./redact.ts";
import { redactionRuleFor } from "./rules.ts";
import { assembled, columnContext, namedWithin, nameLeft, type Written } from "./written-values.ts";

/** A text, a number or a truth of JSON, as it is written there, under the names around it. */
export interface JsonLeaf {
  readonly token: string;
  readonly index: number;
  /** Of the member that it is the value of. */
  readonly name: string;
  /** Names of the members around that; of a list's own first. */
  readonly around: Around | undefined;
  /** How many objects and lists it stands in. */
  readonly depth: number;
  /** Where the innermost of them begins. */
  readonly inside: number;
  /** Members and places in lists from the outermost on. */
  path(): readonly string[];
  /** The members alone, dotted, as classification calls the column. */
  column(): string;
}

type NameOf = (token: string, index: number) => string;

/** Walks JSON that is known to be some. `name` says what is left of the name of a member. */
export function walkJson(text: string, name: NameOf, leaf: (leaf: JsonLeaf) => void): void {
  const pairs = pairsIn(text);
  walk(text, name, leaf, (key, inside) => pairs.get(inside)?.nameOf(key));
}

/** What the members of each object say of one another, by where it begins. */
function pairsIn(text: string): ReadonlyMap<number, Pairs> {
  const found = new Map<number, Pairs>();
  /** The objects and lists that are open, and the member of each object that is read. */
  const open: { readonly pairs: Pairs | undefined; member: string }[] = [];
  for (const { kind, token, index } of jsonTokens(text)) {
    const inside = open.at(-1);
    if (kind === "open") {
      const pairs = token === "{" ? new Pairs() : undefined;
      open.push({ pairs, member: "" });
      if (pairs !== undefined) found.set(index, pairs);
    } else if (kind === "close") {
      open.pop();
      // What stands in a list is of the member whose list it is.
      const holder = open.at(-1)?.pairs === undefined ? open.at(-2) : open.at(-1);
      if (inside?.pairs !== undefined) holder?.pairs?.addConcept(holder.member, inside.pairs);
    } else if (kind === "name" && inside !== undefined) inside.member = JSON.parse(token) as string;
    else if (kind === "text" && token.length <= LONGEST_TOKEN) inside?.pairs?.add(inside.member, JSON.parse(token) as string);
  }
  return found;
}

/** Names so long go no deeper. */
const LONGEST_COLUMN = 1024;
/** Of a name, as JSON writes it. */
const LONGEST_TOKEN = 256;

function walk(
  text: string,
  name: NameOf,
  leaf: (leaf: JsonLeaf) => void,
  calledIn: (key: string, inside: number) => string | undefined,
): void {
  /** The member that each open object or list is the value of, the names around what stands in it, and where in it we are. */
  const open: {
    readonly name: string;
    readonly around: Around | undefined;
    readonly object: boolean;
    readonly start: number;
    /** The members that lead to it. */
    readonly column: string;
    key: string;
    place: number;
  }[] = [];
  let current = "";
  const columnIn = (inside: (typeof open)[number] | undefined): string => {
    if (inside?.object !== true || inside.column.length > LONGEST_COLUMN) return inside?.column ?? "";
    return inside.column === "" ? inside.key : `${inside.column}.${inside.key}`;
  };
  for (const { kind, token, index } of jsonTokens(text)) {
    const inside = open[open.length - 1];
    if (kind === "open") {
      // A list in a list, and an object in one, has the list's name, which is around already.
      const around = inside?.object === false || current === "" ? inside?.around : { name: current, outer: inside?.around };
      const column = columnIn(inside);
      open.push({ name: current, around, object: token === "{", start: index, column, key: "0", place: 0 });
    } else if (kind === "close") current = open.pop()?.name ?? "";
    else if (kind === "next") {
      if (inside?.object !== false) continue;
      current = inside.name;
      inside.key = String(++inside.place);
    } else if (kind === "name") {
      current = name(token, index);
      current = calledIn(current, inside?.start ?? 0) ?? current;
      if (inside !== undefined) inside.key = JSON.parse(token) as string;
    } else if (token !== "null")
      leaf({
        token,
        index,
        name: current,
        around: inside?.around,
        depth: open.length,
        inside: inside?.start ?? 0,
        path: () => open.map(({ key }) => key),
        column: () => columnIn(inside),
      });
  }
}

/**
 * Redacts JSON: texts and numbers, with the names that they stand under and with what all values under the same names hold as a whole, as classification tells it, and names that hold values themselves. What is hidden in one is hidden in all. All else stays byte for byte. A
 * number that is redacted becomes a text. Throws `validation_failed` for what is no JSON.
 */
export function redactJson(text: string, options: RedactionOptions): Redacted {
  checkRedaction(text, options);
  if (jsonOf(text) === undefined) throw governanceError("validation_failed", "text: no JSON", { field: "text" });
  return redactDocuments(text, options, (given) => [[0, given]]);
}

/** The same for JSON Lines: values under the same names in all lines are judged together. Throws `validation_failed` for a line that is no JSON. */
export function redactJsonLines(text: string, options: RedactionOptions): Redacted {
  checkRedaction(text, options);
  return redactDocuments(text, options, linesOf);
}

/** Lines that say something, and where they begin. */
function linesOf(text: string): readonly (readonly [start: number, line: string])[] {
  const lines: (readonly [number, string])[] = [];
  for (const { 0: line, index } of text.matchAll(/[^\n]+/g)) {
    if (line.replace("\ufeff", "").trim() === "") continue;
    if (jsonOf(line) === undefined) throw governanceError("validation_failed", "text: a line is no JSON", { field: "text" });
    lines.push([index, line]);
  }
  return lines;
}

type Documents = (text: string) => readonly (readonly [start: number, document: string])[];

function redactDocuments(text: string, options: RedactionOptions, documentsOf: Documents): Redacted {
  const documents = documentsOf(text);
  const under = namedWithin(options);
  const inColumn = columnContext();
  const reading = new FileReading();
  return settled(
    text,
    (given) => entitiesOf(documentsOf(given), options),
    (entities) =>
      everywhere(reading, () => {
        const changed: (readonly Piece[])[] = [];
        let leaf = 0;
        for (const [start, document] of documents) {
          const lists = new Map<number, ReadLeaf[]>();
          walkJson(
            document,
            (token, index) => {
              const name = jsonString(token, start + index);
              changed.push(reading.written(text, [{ written: name, alone: true }], options));
              return nameLeft(reading.alone(name.value, options), options);
            },
            ({ token, index, name, around, depth, inside, column }) => {
              const read = leafAt(token, start + index);
              const named = under(name, around, read.written?.value ?? token);
              const held = reading.heldBy(named, entities.get(leaf++));
              const given = around === undefined ? held : inColumn(held, column());
              const list = depth > 1 && document[inside] === "[" ? (lists.get(inside) ?? []) : [];
              list.push(Object.assign(read, { given }));
              if (depth > 1 && document[inside] === "[") lists.set(inside, list);
              else changed.push(...list.map((each) => leafPieces(text, each, reading)));
            },
          );
          for (const list of lists.values()) changed.push(listPieces(text, list, reading));
        }
        const pieces = changed.flat().filter(({ entity }) => entity !== undefined);
        return assembled(text, [pieces.sort((a, b) => a.start - b.start)], options);
      }),
  );
}

/** A leaf where it stands in the file. */
interface ReadLeaf {
  readonly token: string;
  readonly start: number;
  readonly end: number;
  /** Of a text. */
  readonly written: Written | undefined;
  /** How it is searched. */
  readonly given: SearchOptions;
}

function leafAt(token: string, start: number): Omit<ReadLeaf, "given"> {
  const written = token.startsWith('"') ? jsonString(token, start) : undefined;
  return { token, start, end: start + token.length, written };
}

function leafPieces(file: string, { token, start, end, written, given }: ReadLeaf, reading: FileReading): readonly Piece[] {
  if (written !== undefined) return reading.written(file, [{ written, alone: true }], given);
  return jsonNumber(token, start, end, given, (digits) => reading.pieces(digits, given));
}

/** So many characters of a list classification reads as one text. */
const LONGEST_LIST = 4096;

/** The leaves of a list: each alone, and one behind the other as the one text that classification reads them as. */
function listPieces(file: string, leaves: readonly ReadLeaf[], reading: FileReading): readonly Piece[] {
  const unnamed = leaves.filter(({ given }) => given.whole === undefined);
  const [first] = unnamed;
  const joined: ReadLeaf[] = [];
  const said: string[] = [];
  for (let at = 0, length = 0; unnamed.length > 1 && at < unnamed.length && length < LONGEST_LIST; at++) {
    const leaf = unnamed[at] as ReadLeaf;
    const value = leaf.written?.value ?? plainNumber(leaf.token) ?? leaf.token;
    joined.push(leaf);
    said.push(value);
    length += value.length + 1;
  }
  const isFound = first !== undefined && reading.pieces(said.join(" "), first.given).some(({ entity }) => entity !== undefined);
  if (!isFound) return leaves.flatMap((leaf) => leafPieces(file, leaf, reading));
  const parts = joined.flatMap(({ start, end, written }, i) => {
    const value = said[i] ?? "";
    const text = written ?? { value, at: (i: number) => (i === 0 ? start : end), write: (text: string) => text };
    const apart = { value: " ", at: () => end, write: (text: string) => text };
    return [...(i === 0 ? [] : [{ written: apart, alone: false }]), { written: text, alone: true }];
  });
  const pieces = reading.written(file, parts, first.given).filter(({ entity }) => entity !== undefined);
  return leaves.flatMap((leaf) => {
    const within = pieces.filter(({ start, end }) => leaf.start <= start && end <= leaf.end);
    const whole = within[0]?.entity;
    if (!joined.includes(leaf) || whole === undefined) return leafPieces(file, leaf, reading);
    // A part of a number would be another number.
    return leaf.written !== undefined
      ? within
      : jsonNumber(leaf.token, leaf.start, leaf.end, Object.assign({}, leaf.given, { whole }));
  });
}

/** What texts and numbers hold by what all values under the same names hold, by their place among them. */
function* entitiesOf(
  documents: ReturnType<Documents>,
  options: RedactionOptions,
): Generator<readonly [leaf: number, entity: string]> {
  const columns = new JudgedColumns();
  const leaves = new Map<string, number[]>();
  const illnesses: number[] = [];
  let before = 0;
  for (const [, document] of documents) {
    let last = -1;
    const ill: number[] = [];
    for (const cell of jsonCells(document)) {
      if (cell === undefined) continue;
      columns.add(cell.id, cell.name, cell.value, cell.path);
      const known = leaves.get(cell.id) ?? [];
      leaves.set(cell.id, known);
      for (const leaf of cell.leaves) {
        known.push(before + leaf);
        last = Math.max(last, leaf);
      }
      if (isHealthName(cell.value)) ill.push(...cell.leaves.map((leaf) => before + leaf));
    }
    before += last + 1;
    // An illness is of whom another member of the same document names, as classification has it.
    if (ill.length > 0 && isRecordOfSomebody(jsonOf(document)?.value, options.policy, options.recognisers))
      illnesses.push(...ill);
  }
  for (const [id, entity] of columns.entities(options)) for (const leaf of leaves.get(id) ?? []) yield [leaf, entity];
  if (illnesses.length > 0 && redactionRuleFor(options.policy, options.rules, HEALTH).operator !== "keep")
    for (const leaf of illnesses) yield [leaf, HEALTH];
}

const HEALTH = "HEALTH_DATA";

/** What JSON says, behind a byte order mark or not; `undefined` for what is none. */
export function jsonOf(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text.replace(/^\ufeff/, "")) };
  } catch {
    return undefined;
  }
}

/** A text of JSON that stands at `index`. */
export function jsonString(token: string, index: number): Written {
  const write = (text: string) => JSON.stringify(text).slice(1, -1);
  if (!token.includes("\\")) return { value: token.slice(1, -1), at: (i) => index + 1 + i, write };
  const starts: number[] = [];
  let value = "";
  for (const { 0: unit, index: from } of token.slice(1, -1).matchAll(/\\u[0-9a-fA-F]{4}|\\.|[^\\]/gs)) {
    starts.push(index + 1 + from);
    value += unit.startsWith("\\") ? (JSON.parse(`"${unit}"`) as string) : unit;
  }
  return { value, at: (i) => starts[i] ?? index + token.length - 1, write };
}

/** A number or a truth is redacted as a whole: a part of it would be another number. It is read as it stands and as the digits that it means. */
export function jsonNumber(
  token: string,
  start: number,
  end: number,
  options: RedactionOptions,
  search: (digits: string) => readonly Piece[] = (digits) => redactedPieces(digits, options),
): readonly Piece[] {
  const foundIn = (digits: string) => search(digits).find((piece) => piece.entity !== undefined);
  const found = foundIn(token) ?? foundIn(plainNumber(token) ?? "");
  if (found?.entity === undefined) return [];
  const pieces = redactedPieces(token, Object.assign({}, options, { whole: found.entity }), () => BARE + token);
  const text = JSON.stringify(pieces.map((piece) => piece.text).join(""));
  return [{ start, end, text, entity: found.entity, operator: found.operator ?? "replace" }];
}
