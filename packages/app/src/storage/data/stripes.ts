import { createReedSolomon, type ReedSolomon } from "@seneschal/adapters/erasure";
import type { Stripe } from "@seneschal/core/storage";

const codes = new Map<string, ReedSolomon>();

/** The code of a stripe; tables are built once per shape. */
export function codeOf({ data, parity }: Stripe): ReedSolomon {
  const name = `${data}+${parity}`;
  const known = codes.get(name) ?? createReedSolomon(data, parity);
  codes.set(name, known);
  return known;
}

/** Length of every fragment of `bytes` bytes: ceil(bytes / data), at least 1. */
export function fragmentLength(bytes: number, data: number): number {
  return Math.max(1, Math.ceil(bytes / data));
}

/** Cuts bytes into `data` fragments (the last padded with zeros) and appends the parity. */
export function toFragments(bytes: Uint8Array, stripe: Stripe): readonly Uint8Array[] {
  const length = fragmentLength(bytes.length, stripe.data);
  const pieces = Array.from({ length: stripe.data }, (_, i) => {
    const piece = bytes.subarray(i * length, (i + 1) * length);
    if (piece.length === length) return piece;
    const padded = new Uint8Array(length);
    padded.set(piece);
    return padded;
  });
  return [...pieces, ...codeOf(stripe).encode(pieces)];
}

/** The bytes behind `data` data fragments, without the padding. */
export function fromFragments(pieces: readonly Uint8Array[], bytes: number): Uint8Array {
  if (pieces.length === 1) return (pieces[0] as Uint8Array).subarray(0, bytes);
  const joined = new Uint8Array(pieces.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined.subarray(0, bytes);
}
