import { decodeJson, MAX_DEPTH } from "./decode-json.ts";
import { situation } from "./error-table.ts";
import { invalid } from "./issues.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Others are served after so many bytes. */
const SLICE = 64 << 10;

/** What an array of a body may hold. */
export interface ElementBounds {
  readonly most: number;
  /** Of each element. */
  readonly bytes: number;
  /** Separators and brackets of each element. */
  readonly values: number;
}

/**
 * Parses a JSON array as strictly as {@link decodeJson} does, element by element, with others served in between. A body that is no array is read in one go,
 * as bounded as one element. Throws what {@link decodeJson} throws, with the element in its path.
 */
export async function decodeElements(
  bytes: Uint8Array,
  { most, bytes: longest, values }: ElementBounds,
  pause?: () => Promise<void>,
): Promise<unknown> {
  let at = afterSpace(bytes, 0);
  if (bytes[at] !== 0x5b) return decodeJson(bytes, { values });
  const out: unknown[] = [];
  at = afterSpace(bytes, at + 1);
  if (bytes[at] === 0x5d) return afterSpace(bytes, at + 1) === bytes.length ? out : malformed();
  for (let paused = at; ; at++) {
    if (out.length === most) throw invalid([{ path: "body", message: `more than ${most} elements` }]);
    const end = elementEnd(bytes, at);
    const path = `body[${out.length}]`;
    if (end - at > longest)
      throw situation("payload_too_large", `${path} is larger than ${longest} bytes`, {
        field: path,
        limit: longest,
        unit: "bytes",
      });
    out.push(decodeJson(bytes.subarray(at, end), { values, depth: MAX_DEPTH - 1, path }));
    at = end;
    if (bytes[at] === 0x5d) return afterSpace(bytes, at + 1) === bytes.length ? out : malformed();
    if (bytes[at] !== 0x2c) return malformed();
    if (at - paused < SLICE) continue;
    paused = at;
    await pause?.();
  }
}

/** Where an element ends: at the comma or bracket behind it, or with the bytes. Below 0x80 a byte of UTF-8 is the character. */
function elementEnd(bytes: Uint8Array, from: number): number {
  let level = 0;
  for (let i = from; i < bytes.length; i++) {
    const c = bytes[i];
    if (c === QUOTE) i = stringEnd(bytes, i + 1);
    else if (c === 0x5b || c === 0x7b) level++;
    else if (level === 0 && (c === 0x2c || c === 0x5d)) return i;
    else if (c === 0x5d || c === 0x7d) level--;
  }
  return bytes.length;
}

/** Where the string that begins at `from` is closed: at a quote behind an even number of backslashes. */
function stringEnd(bytes: Uint8Array, from: number): number {
  for (let end = bytes.indexOf(QUOTE, from); end >= 0; end = bytes.indexOf(QUOTE, end + 1)) {
    let slashes = 0;
    while (end - slashes > from && bytes[end - slashes - 1] === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return bytes.length;
}

function afterSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at++;
  return at;
}

function malformed(): never {
  throw situation("invalid_json", "the body is not valid JSON");
}
