import { checkArgument } from "@seneschal/kernel";
import { cryptoError } from "../errors.ts";
import { DerReader, readDer, readUnsigned, sequence, TAG, unsignedInteger } from "./der.ts";

/** ECDSA signature as certificates carry it (SEQUENCE of r and s) from raw r||s (IEEE P1363). */
export function ecdsaSignatureToDer(raw: Uint8Array): Uint8Array {
  checkArgument("raw", raw, "bytes");
  const half = raw.length / 2;
  return sequence(unsignedInteger(raw.subarray(0, half)), unsignedInteger(raw.subarray(half)));
}

/** Raw r||s of `size` bytes each, from strict DER. Throws `der_invalid`. */
export function ecdsaSignatureFromDer(encoded: Uint8Array, size: number): Uint8Array {
  checkArgument("encoded", encoded, "bytes");
  checkArgument("size", size, "number");
  const reader = new DerReader(readDer(encoded), TAG.sequence);
  const parts = [readUnsigned(reader.next()), readUnsigned(reader.next())];
  reader.end();
  const raw = new Uint8Array(size * 2);
  parts.forEach((part, i) => {
    if (part.length > size) throw cryptoError("der_invalid", "signature integer too large");
    raw.set(part, size * (i + 1) - part.length);
  });
  return raw;
}
