import { checkArgument } from "../argument.ts";
import type { IndexValue } from "../ports/document-store.ts";
import { utf8 } from "./byte-string.ts";

const tags = { null: "\x01", number: "\x02", false: "\x03", true: "\x04", string: "\x05" } as const;
const scratch = new DataView(new ArrayBuffer(8));

/**
 * Encodes index values so that the order of the bytes is the order of the values, value by value:
 * null < numbers < false < true < strings by UTF-8 bytes; a tuple sorts before its extensions. Every value is
 * self-delimiting, so that the key of a tuple's prefix is a prefix of the tuple's key.
 *
 * Values must be in the domain (finite numbers; strings without U+0000 and lone surrogates).
 *
 * @example
 * ```ts
 * import { encodeIndexKey } from "@seneschal/kernel/store";
 * console.log(encodeIndexKey([-1]) < encodeIndexKey([0.5]), encodeIndexKey(["a"]) < encodeIndexKey(["a", null])); // true true
 * ```
 */
export function encodeIndexKey(values: readonly IndexValue[]): string {
  checkArgument("values", values, "array");
  let key = "";
  for (const value of values) {
    if (value === null) key += tags.null;
    else if (value === false) key += tags.false;
    else if (value === true) key += tags.true;
    else if (typeof value === "number") key += tags.number + sortableNumber(value);
    else key += `${tags.string}${utf8(value)}\0`;
  }
  return key;
}

/** The key of one index entry: the index values, a zero byte (below every tag), the id. */
export function entryKey(indexKey: string, id: string): string {
  checkArgument("indexKey", indexKey, "string");
  checkArgument("id", id, "string");
  return `${indexKey}\0${utf8(id)}`;
}

/** IEEE 754 big-endian with the sign flipped, all bits flipped for negatives: sorts as bytes. -0 equals 0. */
function sortableNumber(value: number): string {
  scratch.setFloat64(0, value === 0 ? 0 : value);
  const negative = scratch.getUint8(0) >= 0x80;
  let bytes = "";
  for (let i = 0; i < 8; i += 1) {
    const byte = scratch.getUint8(i);
    bytes += String.fromCharCode(negative ? byte ^ 0xff : i === 0 ? byte ^ 0x80 : byte);
  }
  return bytes;
}
