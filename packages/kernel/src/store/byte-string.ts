/**
 * A byte string is a JavaScript string whose char codes are bytes (0..255). Its `<` order is the order of the bytes, it
 * is a `Map` key, and every engine takes it as Latin-1. Index keys are byte strings throughout.
 */

import { checkArgument } from "../argument.ts";

/** The UTF-8 bytes of a well-formed string. */
export function utf8(text: string): string {
  checkArgument("text", text, "string");
  let ascii = true;
  for (let i = 0; i < text.length && ascii; i += 1) ascii = text.charCodeAt(i) < 0x80;
  if (ascii) return text;
  let bytes = "";
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    if (code < 0x80) bytes += char;
    else if (code < 0x800) bytes += String.fromCharCode(0xc0 | (code >> 6), trail(code));
    else if (code < 0x10000) bytes += String.fromCharCode(0xe0 | (code >> 12), trail(code >> 6), trail(code));
    else bytes += String.fromCharCode(0xf0 | (code >> 18), trail(code >> 12), trail(code >> 6), trail(code));
  }
  return bytes;
}

function trail(code: number): number {
  return 0x80 | (code & 0x3f);
}

/** How many bytes the UTF-8 form of `text` takes; lone surrogates count 3. */
export function utf8Length(text: string): number {
  checkArgument("text", text, "string");
  let bytes = 0;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code < 0x80) bytes += 1;
    else if (code < 0x800) bytes += 2;
    else if (code >= 0xd800 && code < 0xdc00 && i + 1 < text.length) {
      bytes += 4;
      i += 1;
    } else bytes += 3;
  }
  return bytes;
}

/** Whether the UTF-8 form of `text` takes more bytes than `limit`. No character takes more than three: a short text is not counted. */
export function takesMoreThan(text: string, limit: number): boolean {
  return text.length > limit || (text.length * 3 > limit && utf8Length(text) > limit);
}

/**
 * The first byte string behind everything that starts with `prefix`: its last byte that can be is incremented.
 * `undefined` when nothing lies behind (all bytes are 0xff, or the prefix is empty).
 */
export function successor(prefix: string): string | undefined {
  checkArgument("prefix", prefix, "string");
  let end = prefix.length;
  while (end > 0 && prefix.charCodeAt(end - 1) === 0xff) end -= 1;
  if (end === 0) return undefined;
  return prefix.slice(0, end - 1) + String.fromCharCode(prefix.charCodeAt(end - 1) + 1);
}

/** Lower-case hex of a byte string. */
export function toHex(bytes: string): string {
  checkArgument("bytes", bytes, "string");
  let hex = "";
  for (let i = 0; i < bytes.length; i += 1) hex += bytes.charCodeAt(i).toString(16).padStart(2, "0");
  return hex;
}

/** The byte string of a hex text; `undefined` when it is not lower-case hex. */
export function fromHex(hex: string): string | undefined {
  if (!/^(?:[0-9a-f]{2})*$/.test(hex)) return undefined;
  let bytes = "";
  for (let i = 0; i < hex.length; i += 2) bytes += String.fromCharCode(Number.parseInt(hex.slice(i, i + 2), 16));
  return bytes;
}
