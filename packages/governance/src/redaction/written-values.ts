import { shownName } from "../classification/columns/shown-column.ts";
import { isOtherwise, type LexiconTerm, termOf } from "../classification/lexicon.ts";
import { type Around, outward } from "../classification/named-values/named-column.ts";
import { wordsOf } from "../classification/names/words-of.ts";
import { partitionPoint } from "../partition-point.ts";
import {
  joined,
  type Parts,
  type Piece,
  type Redacted,
  type RedactionOptions,
  redactedPieces,
  type SearchOptions,
} from "./redact.ts";

/** A value inside a file, and how each of its UTF-16 units is written there. */
export interface Written {
  readonly value: string;
  /** Offset in the file of the unit at `index`; `index` may be the length of the value. */
  at(index: number): number;
  /** As the file would write a text where the unit at `index` is. */
  write(text: string, index: number): string;
  /** What is kept to be restored is the value, and not how the file writes it. */
  readonly keepsValue?: boolean;
}

/** The pieces of a value in the offsets of the file. Where it stands in several places of it, each is a part that begins at one of the cuts. */
export function piecesOf(
  file: string,
  written: Written,
  options: RedactionOptions,
  parts?: Parts & { readonly endAt: (end: number) => number },
): readonly Piece[] {
  const { value, keepsValue = false } = written;
  const endAt = parts?.endAt ?? ((end) => written.at(end));
  const source = (start: number, end: number) =>
    keepsValue ? value.slice(start, end) : file.slice(written.at(start), endAt(end));
  return placedPieces(file, written, redactedPieces(value, options, source, parts), endAt);
}

/** Pieces of a value in the offsets of the file, as it would write them. */
export function placedPieces(
  file: string,
  written: Written,
  pieces: readonly Piece[],
  endAt: (end: number) => number = (end) => written.at(end),
): readonly Piece[] {
  return pieces.map((piece) => {
    const [start, end] = [written.at(piece.start), endAt(piece.end)];
    return Object.assign({}, piece, {
      start,
      end,
      text: piece.entity === undefined ? file.slice(start, end) : written.write(piece.text, piece.start),
    });
  });
}

/** The pieces of values that are read one behind the other as one text. One that is not `alone` stands behind the one before it as its rest. */
export function joinedPieces(
  file: string,
  parts: readonly { readonly written: Written; readonly alone: boolean }[],
  options: RedactionOptions,
): readonly Piece[] {
  const cuts: number[] = [];
  const alone: number[] = [];
  let value = "";
  for (const [i, part] of parts.entries()) {
    if (i > 0) cuts.push(value.length);
    if (i > 0 && part.alone) alone.push(value.length);
    value += part.written.value;
  }
  /** The part that holds the unit at `index`. */
  const partAt = (index: number): number => partitionPoint(cuts, (cut) => cut <= index);
  const placed = (part: number, index: number): number =>
    parts[part]?.written.at(index - (part === 0 ? 0 : (cuts[part - 1] ?? 0))) ?? 0;
  const at = (index: number): number => placed(partAt(index), index);
  const endAt = (index: number): number => placed(partAt(Math.max(0, index - 1)), index);
  const write: Written["write"] = (text, index) => parts[partAt(index)]?.written.write(text, index) ?? text;
  const { keepsValue = false } = parts[0]?.written ?? {};
  return piecesOf(file, { value, at, write, keepsValue }, options, { cuts, alone, endAt });
}

/** A stretch of the file, or all of it, from the pieces of its values, all else as it is. */
export function assembled(
  file: string,
  changed: readonly (readonly Piece[])[],
  { policy }: RedactionOptions,
  from = 0,
  to = file.length,
): Redacted {
  const pieces: Piece[] = [];
  let last = from;
  for (const piece of changed.flat()) {
    if (piece.start < from || piece.end > to) continue;
    if (piece.start > last) pieces.push({ start: last, end: piece.start, text: file.slice(last, piece.start) });
    pieces.push(piece);
    last = piece.end;
  }
  pieces.push({ start: last, end: to, text: file.slice(last, to) });
  return joined(pieces, policy);
}

/** What a name says of the values below it. */
export function named(options: RedactionOptions, name: string, about: string): RedactionOptions {
  if (name === "") return options;
  const term = termOf(name, about);
  return Object.assign({}, options, { hints: [wordsOf(name).join(" ")] }, term === undefined ? {} : { whole: term.entity });
}

/**
 * What names say of values that stand in objects and lists: their own name or, where it says nothing, the innermost around it that does and whose values look like this one; that one is
 * context too.
 */
export function namedWithin(
  options: RedactionOptions,
): (name: string, around: Around | undefined, value: string) => RedactionOptions {
  type Place = {
    readonly under: RedactionOptions;
    readonly own?: LexiconTerm | undefined;
    /** What holds of a value that looks like one of them. */
    readonly outer?: { readonly term: LexiconTerm; readonly under: RedactionOptions };
  };
  const places = new Map<Around | undefined, Map<string, Place>>();
  /** What each name around says, with its words: many values stand below it. */
  const said = new Map<Around, { readonly term: LexiconTerm | undefined; readonly words: string }>();
  const saidBy = (around: Around) => {
    const known = said.get(around) ?? {
      term: termOf(around.name, contextOf(around.outer)),
      words: wordsOf(around.name).join(" "),
    };
    said.set(around, known);
    return known;
  };
  const { about = "" } = options;
  /** What a name stands in: the member around it, and the file. */
  const contextOf = (around: Around | undefined): string => (around === undefined ? about : `${around.name} ${about}`);
  const placeOf = (name: string, around: Around | undefined): Place => {
    const under = named(options, name, contextOf(around));
    if (under.whole !== undefined) return { under, own: termOf(name, contextOf(around)) };
    for (const at of outward(around)) {
      const { term, words } = saidBy(at);
      if (term === undefined) continue;
      const within = Object.assign({}, under, { hints: [...(under.hints ?? []), words] });
      return { under: within, outer: { term, under: Object.assign({}, within, { whole: term.entity }) } };
    }
    return { under };
  };
  return (name, around, value) => {
    const names = places.get(around) ?? new Map<string, Place>();
    places.set(around, names);
    const place = names.get(name) ?? placeOf(name, around);
    names.set(name, place);
    const { under, own, outer } = place;
    if (own !== undefined && isOtherwise(own, name, contextOf(around), [value])) return options;
    return outer === undefined || outer.term.value?.test(value) === false ? under : outer.under;
  };
}

/** Options of a value below several names, with all of these as context once more: classification calls its column by them. */
export function columnContext(): (under: RedactionOptions, column: string) => SearchOptions {
  const known = new Map<RedactionOptions, Map<string, SearchOptions>>();
  return (under, column) => {
    const byColumn = known.get(under) ?? new Map<string, SearchOptions>();
    known.set(under, byColumn);
    const words = byColumn.has(column) ? "" : wordsOf(column).join(" ");
    const given =
      byColumn.get(column) ?? (under.hints?.includes(words) ? under : Object.assign({}, under, { otherHints: [words] }));
    byColumn.set(column, given);
    return given;
  };
}

/** What is left of a name names the values below it, so that it does so the second time too. */
export function nameLeft(pieces: readonly Piece[], options: RedactionOptions): string {
  return shownName(pieces.map((piece) => piece.text).join(""), options);
}
