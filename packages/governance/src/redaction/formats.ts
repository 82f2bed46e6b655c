import { checkArgument } from "@seneschal/kernel";
import { termOf } from "../classification/lexicon.ts";
import { wordsOf } from "../classification/names/words-of.ts";
import { governanceError } from "../errors.ts";
import {
  BARE,
  checkRedaction,
  checkRedactionOptions,
  joined,
  type Piece,
  type Redacted,
  type RedactionOptions,
  redact,
  redactedPieces,
} from "./redact.ts";

export const REDACTION_FORMATS = ["text", "json", "csv"] as const;
export type RedactionFormat = (typeof REDACTION_FORMATS)[number];

/** Redacts a text of a format. Throws `validation_failed` for what is not of it. */
export function redactAs(format: RedactionFormat, text: string, options: RedactionOptions): Redacted {
  checkRedactionOptions(options);
  checkArgument("format", format, "string");
  checkArgument("text", text, "string");
  if (format === "json") return redactJson(text, options);
  return format === "csv" ? redactCsv(text, options) : redact(text, options);
}

/** A value inside a file, and how each of its UTF-16 units is written there. */
interface Written {
  readonly value: string;
  /** Offset in the file of the unit at `index`; `index` may be the length of the value. */
  at(index: number): number;
  /** As the file would write a text in this place. */
  write(text: string): string;
}

/** The pieces of a value in the offsets of the file. */
function piecesOf(file: string, { value, at, write }: Written, options: RedactionOptions): readonly Piece[] {
  const source = (start: number, end: number) => file.slice(at(start), at(end));
  return redactedPieces(value, options, source).map((piece) => {
    const [start, end] = [at(piece.start), at(piece.end)];
    return Object.assign({}, piece, {
      start,
      end,
      text: piece.entity === undefined ? file.slice(start, end) : write(piece.text),
    });
  });
}

/** The whole file from the pieces of its values, all else as it is. */
function assembled(file: string, changed: readonly (readonly Piece[])[], options: RedactionOptions): Redacted {
  const pieces: Piece[] = [];
  let last = 0;
  for (const piece of changed.flat()) {
    if (piece.start > last) pieces.push({ start: last, end: piece.start, text: file.slice(last, piece.start) });
    pieces.push(piece);
    last = piece.end;
  }
  pieces.push({ start: last, end: file.length, text: file.slice(last) });
  return joined(pieces, options.policy);
}

/** What a name says of the values below it. */
function named(options: RedactionOptions, name: string, about: string): RedactionOptions {
  if (name === "") return options;
  const term = termOf(name, about);
  return Object.assign({}, options, { hints: [wordsOf(name).join(" ")] }, term === undefined ? {} : { whole: term.entity });
}

/** What is left of a name names the values below it, so that it does so the second time too. */
function nameLeft(pieces: readonly Piece[]): string {
  return pieces
    .map((piece) => piece.text)
    .join("")
    .replace(/<[^>]*>|\*+/g, " ");
}

const JSON_TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[{}[\],:]/g;

/**
 * Redacts JSON: texts and numbers, with the names that they stand under, and names that hold values themselves. All else stays byte for byte. A number that is redacted
 * becomes a text. Throws `validation_failed` for what is no JSON.
 */
export function redactJson(text: string, options: RedactionOptions): Redacted {
  checkRedaction(text, options);
  try {
    JSON.parse(text);
  } catch {
    throw governanceError("validation_failed", "text: no JSON", { field: "text" });
  }
  const changed: (readonly Piece[])[] = [];
  /** The member that each open object or list is the value of, and whether it is an object. */
  const around: { readonly name: string; readonly object: boolean }[] = [];
  let name = "";
  let isName = false;
  for (const { 0: token, index } of text.matchAll(JSON_TOKEN)) {
    const inside = around[around.length - 1];
    if (token === "{" || token === "[") {
      around.push({ name, object: token === "{" });
      isName = token === "{";
    } else if (token === "}" || token === "]") {
      name = around.pop()?.name ?? "";
      isName = false;
    } else if (token === ",") {
      isName = inside?.object === true;
      if (inside?.object === false) name = inside.name;
    } else if (token === ":") isName = false;
    else if (token.startsWith('"')) {
      const string = jsonString(token, index);
      if (isName) {
        const pieces = piecesOf(text, string, options);
        name = nameLeft(pieces);
        changed.push(pieces);
      } else changed.push(piecesOf(text, string, named(options, name, inside?.name ?? "")));
    } else changed.push(jsonNumber(token, index, named(options, name, inside?.name ?? "")));
  }
  return assembled(text, changed, options);
}

function jsonString(token: string, index: number): Written {
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

/** A number is redacted as a whole: a part of it would be another number. */
function jsonNumber(token: string, index: number, options: RedactionOptions): readonly Piece[] {
  const found = redactedPieces(token, options).find((piece) => piece.entity !== undefined);
  if (found?.entity === undefined) return [];
  const pieces = redactedPieces(token, Object.assign({}, options, { whole: found.entity }), () => BARE + token);
  const text = JSON.stringify(pieces.map((piece) => piece.text).join(""));
  return [{ start: index, end: index + token.length, text, entity: found.entity, operator: found.operator ?? "replace" }];
}

/**
 * Redacts CSV (RFC 4180; comma, semicolon, tab or bar, by the first line): every field, with the name of its column. Quotation marks, separators and line ends stay as they are.
 */
export function redactCsv(text: string, options: RedactionOptions): Redacted {
  checkRedaction(text, options);
  const firstLine = text.slice(0, text.indexOf("\n") < 0 ? text.length : text.indexOf("\n"));
  const delimiter = [",", ";", "\t", "|"].find((d) => firstLine.includes(d)) ?? ",";
  const changed: (readonly Piece[])[] = [];
  const columns: RedactionOptions[] = [];
  let row = 0;
  let column = 0;
  for (let at = 0; at <= text.length; ) {
    const field = csvField(text, at, delimiter);
    const pieces = piecesOf(text, field.written, row === 0 ? options : (columns[column] ?? options));
    if (row === 0) columns.push(named(options, nameLeft(pieces), ""));
    changed.push(pieces);
    at = field.end;
    if (at >= text.length) break;
    if (text[at] === delimiter) {
      column++;
      at++;
    } else {
      at += text.startsWith("\r\n", at) ? 2 : 1;
      row++;
      column = 0;
    }
  }
  return assembled(text, changed, options);
}

function csvField(text: string, from: number, delimiter: string): { readonly written: Written; readonly end: number } {
  if (text[from] !== '"') {
    let end = from;
    while (end < text.length && text[end] !== delimiter && text[end] !== "\n" && text[end] !== "\r") end++;
    return { written: { value: text.slice(from, end), at: (i) => from + i, write: (value) => value }, end };
  }
  const starts: number[] = [];
  let value = "";
  let at = from + 1;
  while (at < text.length && (text[at] !== '"' || text[at + 1] === '"')) {
    starts.push(at);
    value += text[at];
    at += text[at] === '"' ? 2 : 1;
  }
  let end = Math.min(at + 1, text.length);
  while (end < text.length && text[end] !== delimiter && text[end] !== "\n" && text[end] !== "\r") end++;
  return { written: { value, at: (i) => starts[i] ?? at, write: (said) => said.replaceAll('"', '""') }, end };
}
