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

/** Bytes that a stripe of `bytes` bytes takes, one fragment behind the other; copies are one and the same. */
export function stripeLength(bytes: number, { data, parity }: Stripe): number {
  return fragmentLength(bytes, data) * (data === 1 ? 1 : data + parity);
}

/**
 * Makes a stripe of the `bytes` bytes that `memory` begins with: behind them come zeros up to the end of the last data fragment, then the
 * parity. `memory` has {@link stripeLength}; what is returned lies in it.
 */
export function encodeStripe(memory: Uint8Array, bytes: number, stripe: Stripe): readonly Uint8Array[] {
  const { data, parity } = stripe;
  const fragments = fragmentsOf(memory, bytes, stripe);
  if (data === 1) return fragments;
  memory.fill(0, bytes, data * fragmentLength(bytes, data));
  codeOf(stripe).encode(fragments.slice(0, data), fragments.slice(data, data + parity));
  return fragments;
}

/** The fragments that lie in the memory of a stripe. */
export function fragmentsOf(memory: Uint8Array, bytes: number, { data, parity }: Stripe): readonly Uint8Array[] {
  const length = fragmentLength(bytes, data);
  return Array.from({ length: data + parity }, (_, i) =>
    memory.subarray(data === 1 ? 0 : i * length, data === 1 ? length : (i + 1) * length),
  );
}
