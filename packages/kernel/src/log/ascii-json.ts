import { checkArgument } from "../argument.ts";
import type { Json } from "../json.ts";

const step = 8192;

/** JSON as bytes, everything beyond ASCII escaped, so that bytes and characters are one to one. */
export function encodeAsciiJson(value: Json): Uint8Array {
  const json: string | undefined = JSON.stringify(value);
  checkArgument("value as JSON", json, "string");
  const text = json.replace(/[^ -~]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** The inverse of {@link encodeAsciiJson}. Throws SyntaxError. */
export function decodeAsciiJson(bytes: Uint8Array): Json {
  checkArgument("bytes", bytes, "bytes");
  let text = "";
  for (let i = 0; i < bytes.length; i += step) text += String.fromCharCode(...bytes.subarray(i, i + step));
  return JSON.parse(text) as Json;
}

const newline = 10;

/** A line of ASCII JSON, to stand in front of other bytes. */
export function headerLine(header: Json): Uint8Array {
  return joinBytes([encodeAsciiJson(header), Uint8Array.of(newline)]);
}

/** The pieces as one. */
export function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/** What follows a {@link headerLine}. Throws SyntaxError. */
export function splitHeader(bytes: Uint8Array): { readonly header: Json; readonly body: Uint8Array } {
  const end = bytes.indexOf(newline);
  if (end < 0) throw new SyntaxError("no header line");
  return { header: decodeAsciiJson(bytes.subarray(0, end)), body: bytes.subarray(end + 1) };
}
