import { nobleCrypto, utf8 } from "@seneschal/crypto";
import type { Share, SubmittedShare } from "@seneschal/crypto/threshold";

/** Deterministic bytes for tests: SHA-256 in counter mode over a label. */
export function seeded(label: string): (length: number) => Uint8Array {
  let counter = 0;
  return (length) => {
    const out = new Uint8Array(length);
    for (let at = 0; at < length; at += 32) {
      out.set(nobleCrypto.hash("sha256", utf8(`${label}/${counter++}`)).subarray(0, length - at), at);
    }
    return out;
  };
}

/** Shares as their holders submit them. */
export function submit(shares: readonly Share[]): SubmittedShare[] {
  return shares.map((share) => ({ index: share.index, data: share.encode() }));
}

/** How often a costly property runs: `usual`, or FC_RUNS when that is more. */
export function runs(usual: number): { readonly numRuns: number } {
  return { numRuns: Math.max(usual, Number(process.env["FC_RUNS"] ?? 0)) };
}
