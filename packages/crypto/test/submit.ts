import type { Share, SubmittedShare } from "@seneschal/crypto/threshold";

/** Shares as their holders submit them. */
export function submit(shares: readonly Share[]): SubmittedShare[] {
  return shares.map((share) => ({ index: share.index, data: share.encode() }));
}

/** How often a costly property runs: `usual`, or FC_RUNS when that is more. */
export function runs(usual: number): { readonly numRuns: number } {
  return { numRuns: Math.max(usual, Number(process.env["FC_RUNS"] ?? 0)) };
}
