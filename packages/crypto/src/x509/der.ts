import { fromUtf8, utf8 } from "../bytes.ts";
import { cryptoError } from "../errors.ts";

/** Universal tags (X.690). */
export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  enumerated: 0x0a,
  utf8String: 0x0c,
  printableString: 0x13,
  teletexString: 0x14,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
} as const;

/** An element as read: `content` is a view into the source, `encoded` the whole element. */
export interface DerElement {
  readonly tag: number;
  readonly content: Uint8Array;
  readonly encoded: Uint8Array;
}

const MAX_ELEMENT = 64 * 1024 * 1024;

/** Encodes one element. */
export function der(tag: number, ...contents: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of contents) length += part.length;
  const header =
    length < 0x80
      ? [tag, length]
      : length < 0x100
        ? [tag, 0x81, length]
        : length < 0x10000
          ? [tag, 0x82, length >> 8, length & 255]
          : length < 0x1000000
            ? [tag, 0x83, length >> 16, (length >> 8) & 255, length & 255]
            : [tag, 0x84, length >>> 24, (length >> 16) & 255, (length >> 8) & 255, length & 255];
  const out = new Uint8Array(header.length + length);
  out.set(header);
  let at = header.length;
  for (const part of contents) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

export function sequence(...items: readonly Uint8Array[]): Uint8Array {
  return der(TAG.sequence, ...items);
}

/** SET OF: members sorted by their encoding (X.690 11.6). */
export function setOf(...items: readonly Uint8Array[]): Uint8Array {
  return der(TAG.set, ...[...items].sort(compareBytes));
}

/** Context-specific, constructed: `[n] EXPLICIT`. */
export function explicit(n: number, ...contents: readonly Uint8Array[]): Uint8Array {
  return der(0xa0 | n, ...contents);
}

/** Context-specific, primitive: `[n] IMPLICIT` over raw content. */
export function implicit(n: number, content: Uint8Array): Uint8Array {
  return der(0x80 | n, content);
}

/** A non-negative INTEGER from its big-endian magnitude; leading zeros are dropped. */
export function unsignedInteger(magnitude: Uint8Array): Uint8Array {
  let start = 0;
  while (start < magnitude.length - 1 && magnitude[start] === 0) start++;
  const body = magnitude.subarray(start);
  const first = body[0];
  if (first === undefined) return der(TAG.integer, Uint8Array.of(0));
  return first >= 0x80 ? der(TAG.integer, Uint8Array.of(0), body) : der(TAG.integer, body);
}

/** A small non-negative INTEGER. */
export function integer(value: number): Uint8Array {
  if (!Number.isSafeInteger(value) || value < 0) throw cryptoError("der_invalid", "integer out of range");
  return unsignedInteger(magnitudeOf(value));
}

export function boolean(value: boolean): Uint8Array {
  return der(TAG.boolean, Uint8Array.of(value ? 0xff : 0));
}

export function octetString(bytes: Uint8Array): Uint8Array {
  return der(TAG.octetString, bytes);
}

/** BIT STRING of whole bytes. */
export function bitString(bytes: Uint8Array): Uint8Array {
  return der(TAG.bitString, Uint8Array.of(0), bytes);
}

/** BIT STRING of named bits: bit 0 is the highest of the first byte, trailing zero bits are dropped (X.690 11.2.2). */
export function namedBits(bits: readonly number[]): Uint8Array {
  if (bits.length === 0) return der(TAG.bitString, Uint8Array.of(0));
  const highest = Math.max(...bits);
  const bytes = new Uint8Array(Math.floor(highest / 8) + 1);
  for (const bit of bits) bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (0x80 >> (bit & 7));
  return der(TAG.bitString, Uint8Array.of(7 - (highest & 7)), bytes);
}

export const NULL: Uint8Array = Uint8Array.of(TAG.null, 0);

/** OBJECT IDENTIFIER from dotted text. */
export function oid(dotted: string): Uint8Array {
  const arcs = dotted.split(".").map(Number);
  const [first = -1, second = -1, ...rest] = arcs;
  if (!/^\d+(\.\d+)+$/.test(dotted) || first > 2 || (first < 2 && second > 39) || arcs.some((a) => !Number.isSafeInteger(a))) {
    throw cryptoError("der_invalid", "not an object identifier");
  }
  const bytes: number[] = [];
  for (const arc of [first * 40 + second, ...rest]) {
    const group = [arc % 128];
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) group.unshift(0x80 | (left % 128));
    bytes.push(...group);
  }
  return der(TAG.oid, Uint8Array.from(bytes));
}

export function utf8String(text: string): Uint8Array {
  return der(TAG.utf8String, utf8(text));
}

/** PrintableString; throws `der_invalid` for characters it does not have. */
export function printableString(text: string): Uint8Array {
  if (!/^[A-Za-z0-9 '()+,\-./:=?]*$/.test(text)) throw cryptoError("der_invalid", "not a printable string");
  return der(TAG.printableString, utf8(text));
}

/** IA5String; throws `der_invalid` for what is not ASCII. */
export function ia5(text: string): Uint8Array {
  if (!isAscii(text)) throw cryptoError("der_invalid", "not ASCII");
  return utf8(text);
}

/** UTCTime until 2049, GeneralizedTime without fraction from 2050 on (RFC 5280 4.1.2.5). Milliseconds, cut to seconds. */
export function time(ms: number): Uint8Array {
  const digits = digitsOf(ms);
  const year = Number(digits.slice(0, 4));
  return year >= 1950 && year < 2050 ? der(TAG.utcTime, utf8(`${digits.slice(2)}Z`)) : generalizedTime(ms);
}

/** GeneralizedTime without fraction, whatever the year: OCSP and invalidity dates. */
export function generalizedTime(ms: number): Uint8Array {
  return der(TAG.generalizedTime, utf8(`${digitsOf(ms)}Z`));
}

/** Reads exactly one element. Throws `der_invalid`, also for bytes behind it. */
export function readDer(bytes: Uint8Array): DerElement {
  const element = readElement(bytes, 0);
  if (element.encoded.length !== bytes.length) throw invalid("bytes after the element");
  return element;
}

/** Reads the elements inside a constructed one. Throws `der_invalid` for another tag. */
export function readChildren(element: DerElement, tag?: number): DerElement[] {
  if (tag !== undefined && element.tag !== tag) throw invalid(`tag ${tag} expected, got ${element.tag}`);
  const children: DerElement[] = [];
  for (let at = 0; at < element.content.length; ) {
    const child = readElement(element.content, at);
    children.push(child);
    at += child.encoded.length;
  }
  return children;
}

/** Walks a fixed list of elements, with optional ones by tag. */
export class DerReader {
  readonly #items: readonly DerElement[];
  #at = 0;

  constructor(element: DerElement, tag?: number) {
    this.#items = readChildren(element, tag);
  }

  /** The next element; with a tag it must have it. */
  next(tag?: number): DerElement {
    const item = this.#items[this.#at++];
    if (item === undefined) throw invalid("element missing");
    if (tag !== undefined && item.tag !== tag) throw invalid(`tag ${tag} expected, got ${item.tag}`);
    return item;
  }

  /** The next element if it has this tag, else undefined and nothing is consumed. */
  optional(tag: number): DerElement | undefined {
    return this.#items[this.#at]?.tag === tag ? this.next() : undefined;
  }

  get done(): boolean {
    return this.#at >= this.#items.length;
  }

  end(): void {
    if (!this.done) throw invalid("unexpected element");
  }
}

/** Big-endian magnitude of a non-negative INTEGER, minimal. Throws `der_invalid` for negative and padded ones. */
export function readUnsigned(element: DerElement): Uint8Array {
  const { content } = element;
  const first = content[0];
  if (element.tag !== TAG.integer || first === undefined) throw invalid("integer expected");
  if (first >= 0x80) throw invalid("integer is negative");
  if (first === 0 && content.length > 1) {
    if ((content[1] ?? 0) < 0x80) throw invalid("integer is padded");
    return content.subarray(1);
  }
  return content;
}

/** A small non-negative INTEGER. */
export function readInteger(element: DerElement): number {
  const magnitude = readUnsigned(element);
  if (magnitude.length > 6) throw invalid("integer too large");
  return magnitude.reduce((value, byte) => value * 256 + byte, 0);
}

export function readBoolean(element: DerElement): boolean {
  const value = element.content[0];
  if (element.tag !== TAG.boolean || element.content.length !== 1 || (value !== 0 && value !== 0xff))
    throw invalid("boolean expected");
  return value === 0xff;
}

export function readOid(element: DerElement): string {
  if (element.tag !== TAG.oid || element.content.length === 0) throw invalid("object identifier expected");
  const arcs: number[] = [];
  let arc = 0;
  element.content.forEach((byte, i) => {
    if (arc === 0 && byte === 0x80) throw invalid("object identifier is padded");
    arc = arc * 128 + (byte & 0x7f);
    if (!Number.isSafeInteger(arc)) throw invalid("object identifier too large");
    if (byte >= 0x80) {
      if (i === element.content.length - 1) throw invalid("object identifier is cut");
      return;
    }
    if (arcs.length > 0) arcs.push(arc);
    else if (arc < 80) arcs.push(Math.floor(arc / 40), arc % 40);
    else arcs.push(2, arc - 80);
    arc = 0;
  });
  return arcs.join(".");
}

/** The bytes of a BIT STRING without unused bits. */
export function readBitString(element: DerElement): Uint8Array {
  if (element.tag !== TAG.bitString || element.content[0] !== 0) throw invalid("bit string of whole bytes expected");
  return element.content.subarray(1);
}

/** The numbers of the set bits of a named BIT STRING. */
export function readNamedBits(element: DerElement): number[] {
  const unused = element.content[0];
  if (element.tag !== TAG.bitString || unused === undefined || unused > 7) throw invalid("bit string expected");
  const bits: number[] = [];
  const bytes = element.content.subarray(1);
  for (let bit = 0; bit < bytes.length * 8 - unused; bit++) {
    if (((bytes[bit >> 3] ?? 0) & (0x80 >> (bit & 7))) !== 0) bits.push(bit);
  }
  return bits;
}

/** Text of any string type that certificates use. */
export function readString(element: DerElement): string {
  const { tag, content } = element;
  if (tag === TAG.utf8String) return fromUtf8(content);
  if (tag === TAG.printableString || tag === TAG.ia5String || tag === 0x12) {
    const text = fromUtf8(content);
    if (!isAscii(text)) throw invalid("not ASCII");
    return text;
  }
  if (tag === TAG.teletexString) return String.fromCharCode(...content);
  if (tag === TAG.bmpString && content.length % 2 === 0) {
    let text = "";
    for (let i = 0; i < content.length; i += 2) text += String.fromCharCode((content[i] ?? 0) * 256 + (content[i + 1] ?? 0));
    return text;
  }
  throw invalid("string expected");
}

/** Milliseconds of a UTCTime or GeneralizedTime; only the DER forms in UTC with seconds and without fraction. */
export function readTime(element: DerElement): number {
  const text = fromUtf8(element.content);
  const match =
    element.tag === TAG.utcTime
      ? /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(text)
      : element.tag === TAG.generalizedTime
        ? /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(text)
        : null;
  if (match === null) throw invalid("time expected");
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1).map(Number);
  const full = element.tag === TAG.utcTime ? (year < 50 ? 2000 : 1900) + year : year;
  const ms = Date.UTC(full, month - 1, day, hour, minute, second);
  if (digitsOf(ms) !== `${String(full).padStart(4, "0")}${text.slice(element.tag === TAG.utcTime ? 2 : 4, -1)}`) {
    throw invalid("no such time");
  }
  return ms;
}

function readElement(bytes: Uint8Array, start: number): DerElement {
  const tag = bytes[start];
  const lead = bytes[start + 1];
  if (tag === undefined || lead === undefined) throw invalid("element is cut");
  if ((tag & 0x1f) === 0x1f) throw invalid("tag of several bytes");
  let length = lead;
  let header = 2;
  if (lead >= 0x80) {
    const count = lead & 0x7f;
    if (count === 0 || count > 4) throw invalid("length is indefinite or too large");
    length = 0;
    for (let i = 0; i < count; i++) {
      const byte = bytes[start + 2 + i];
      if (byte === undefined) throw invalid("element is cut");
      length = length * 256 + byte;
    }
    if (length < 0x80 || length < 256 ** (count - 1)) throw invalid("length is padded");
    header += count;
  }
  const end = start + header + length;
  if (length > MAX_ELEMENT || end > bytes.length) throw invalid("element is cut");
  return { tag, content: bytes.subarray(start + header, end), encoded: bytes.subarray(start, end) };
}

function magnitudeOf(value: number): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Uint8Array.from(bytes.length === 0 ? [0] : bytes);
}

/** YYYYMMDDHHMMSS in UTC. */
function digitsOf(ms: number): string {
  const iso = new Date(ms).toISOString();
  if (!/^\d{4}-/.test(iso)) throw cryptoError("der_invalid", "time out of range");
  return iso.slice(0, 19).replace(/[-:T]/g, "");
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7e) return false;
  return true;
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

function invalid(reason: string) {
  return cryptoError("der_invalid", reason);
}
