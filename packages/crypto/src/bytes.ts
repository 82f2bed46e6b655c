import { bytesToUtf8, equalBytes } from "@noble/ciphers/utils.js";
import { bytesToHex, concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import { checkArgument, utf8Encode } from "@seneschal/kernel";
import { cryptoError } from "./errors.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const VALUES = new Int16Array(128).fill(-1);
for (let i = 0; i < 64; i++) VALUES[ALPHABET.charCodeAt(i)] = i;

/** Joins arrays into a fresh one. */
export const concat: (...parts: Uint8Array[]) => Uint8Array = concatBytes;
/** Compares in time that depends on the lengths only. */
export const bytesEqual: (a: Uint8Array, b: Uint8Array) => boolean = equalBytes;
/** UTF-8 of a string. Lone surrogates become U+FFFD: refuse them first where it matters. */
export const utf8: (text: string) => Uint8Array = utf8Encode;
/** Text of UTF-8 bytes. */
export const fromUtf8: (bytes: Uint8Array) => string = bytesToUtf8;
/** Lower-case hex. */
export const hex: (bytes: Uint8Array) => string = bytesToHex;

/** Bytes of hex text. Throws `crypto_invalid`. */
export function fromHex(text: string): Uint8Array {
  try {
    return hexToBytes(text);
  } catch (cause) {
    throw cryptoError("crypto_invalid", "not hexadecimal", {}, cause);
  }
}

/** Standard base64 with padding (RFC 4648 section 4). */
export function base64(bytes: Uint8Array): string {
  checkArgument("bytes", bytes, "bytes");
  let out = "";
  for (let i = 0; i < bytes.length; i += 3) {
    const left = bytes.length - i;
    const word = ((bytes[i] ?? 0) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    out += ALPHABET.charAt(word >> 18) + ALPHABET.charAt((word >> 12) & 63);
    out += left > 1 ? ALPHABET.charAt((word >> 6) & 63) : "=";
    out += left > 2 ? ALPHABET.charAt(word & 63) : "=";
  }
  return out;
}

/**
 * Bytes of standard base64. Exactly one text decodes to given bytes: padding is required, stray bits and white space are
 * refused, so that encoded values can be compared as text. Throws `crypto_invalid`.
 */
export function fromBase64(text: string): Uint8Array {
  checkArgument("text", text, "string");
  if (text.length % 4 !== 0) throw cryptoError("crypto_invalid", "not base64: length is no multiple of 4");
  const pad = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const digits = text.length - pad;
  const out = new Uint8Array((text.length / 4) * 3 - pad);
  let word = 0;
  let at = 0;
  for (let i = 0; i < digits; i++) {
    const value = VALUES[text.charCodeAt(i)] ?? -1;
    if (value < 0) throw cryptoError("crypto_invalid", "not base64: foreign character", { position: i });
    word = ((word << 6) | value) & 0xffffff;
    if (i % 4 > 0) out[at++] = (word >> (6 - 2 * (i % 4))) & 255;
  }
  if ((pad === 2 && (word & 15) !== 0) || (pad === 1 && (word & 3) !== 0)) {
    throw cryptoError("crypto_invalid", "not base64: stray bits before the padding");
  }
  return out;
}

/** Big-endian unsigned 32-bit. */
export function u32(value: number): Uint8Array {
  if (!Number.isInteger(value) || value < 0 || value > 0xffffffff) {
    throw cryptoError("crypto_invalid", "not an unsigned 32-bit integer");
  }
  return Uint8Array.of(value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255);
}

/** Reads a big-endian unsigned 32-bit; the caller has checked the length. */
export function readU32(bytes: Uint8Array, offset: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(offset);
}
