import { checkArgument } from "@seneschal/kernel";
import type { Random } from "@seneschal/kernel/ports";
import { cryptoError } from "../errors.ts";

/** A certificate serial: positive, 127 random bits, 16 bytes (RFC 5280 allows 20). */
export function newSerial(random: Random): Uint8Array {
  checkArgument("random", random, "function");
  const serial = random(16);
  // Never negative, never shortened by a leading zero: 64 bits of randomness stay in any case.
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40;
  return serial;
}

/** Colon-separated lower-case hex, as Vault and the HTTP interfaces write serials. */
export function serialText(serial: Uint8Array): string {
  checkArgument("serial", serial, "bytes");
  return Array.from(serial, (byte) => byte.toString(16).padStart(2, "0")).join(":");
}

/** Reads colon, plain or upper-case hex into the minimal magnitude. Throws `x509_invalid`. */
export function parseSerial(text: string): Uint8Array {
  checkArgument("text", text, "string");
  const digits = text.replace(/[:-]/g, "").toLowerCase();
  if (!/^[0-9a-f]{1,40}$/.test(digits)) throw cryptoError("x509_invalid", "not a serial number");
  const even = digits.length % 2 === 0 ? digits : `0${digits}`;
  const bytes = Uint8Array.from(even.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  return bytes.subarray(start);
}
