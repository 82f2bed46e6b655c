import { termOf } from "../classification/lexicon.ts";
import { wordsOf } from "../classification/names/words-of.ts";
import { joined, type Parts, type Piece, type Redacted, type RedactionOptions, redactedPieces } from "./redact.ts";

/** A value inside a file, and how each of its UTF-16 units is written there. */
export interface Written {
  readonly value: string;
  /** Offset in the file of the unit at `index`; `index` may be the length of the value. */
  at(index: number): number;
  /** As the file would write a text in this place. */
  write(text: string): string;
}

/** The pieces of a value in the offsets of the file. Where it stands in several places of it, each is a part that begins at one of the cuts. */
export function piecesOf(
  file: string,
  { value, at, write }: Written,
  options: RedactionOptions,
  parts?: Parts & { readonly endAt: (end: number) => number },
): readonly Piece[] {
  const endAt = parts?.endAt ?? at;
  const source = (start: number, end: number) => file.slice(at(start), endAt(end));
  return redactedPieces(value, options, source, parts).map((piece) => {
    const [start, end] = [at(piece.start), endAt(piece.end)];
    return Object.assign({}, piece, {
      start,
      end,
      text: piece.entity === undefined ? file.slice(start, end) : write(piece.text),
    });
  });
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

/** What is left of a name names the values below it, so that it does so the second time too. */
export function nameLeft(pieces: readonly Piece[]): string {
  return pieces
    .map((piece) => piece.text)
    .join("")
    .replace(/<[^>]*>|\*+/g, " ");
}
