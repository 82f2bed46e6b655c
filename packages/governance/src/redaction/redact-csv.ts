import { checkRedaction, type Piece, type Redacted, type RedactionOptions } from "./redact.ts";
import { assembled, named, nameLeft, piecesOf, type Written } from "./written-values.ts";

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
