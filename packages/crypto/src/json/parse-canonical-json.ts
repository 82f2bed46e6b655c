import type { Json } from "@seneschal/kernel";
import { bytesEqual, fromUtf8, utf8 } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import { canonicalJson } from "./canonical-json.ts";
import { parseStrictJson } from "./parse-strict-json.ts";

/**
 * Parses bytes that are the canonical JSON (RFC 8785) of their own value and refuses all others, so that what was signed or hashed
 * is what was read, byte by byte. Throws `not_canonical`.
 */
export function parseCanonicalJson(bytes: Uint8Array): Json {
  const value = parseStrictJson(fromUtf8(bytes));
  // Bytes, not texts: what is not UTF-8 was replaced above and shows here.
  if (!bytesEqual(utf8(canonicalJson(value)), bytes)) throw cryptoError("not_canonical", "not the canonical form of its value");
  return value;
}
