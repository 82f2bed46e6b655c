import type { Random } from "@seneschal/core/ports";
import { hex } from "../bytes.ts";
import { type CrkPublic, crkSet } from "./crk.ts";
import { acceptedShares, type SubmittedShare } from "./inspect-shares.ts";
import { aggregateSignature, newSigningRound, Signer } from "./signing-round.ts";

/**
 * Signs with shares that were handed over: judges each by index first, then runs FROST among them in this process. The
 * key is never assembled. Throws `share_invalid` naming the bad indexes, `threshold_not_met`.
 */
export function signWithShares(
  crk: CrkPublic,
  submitted: readonly SubmittedShare[],
  message: Uint8Array,
  random: Random,
): Uint8Array {
  const shares = acceptedShares(crkSet(crk), submitted).slice(0, crk.threshold);
  const round = newSigningRound(crk, hex(random(16)), message);
  const signers = shares.map((share) => new Signer(crk, share, round, random));
  const commitments = signers.map((signer) => signer.commitment);
  const parts = signers.map((signer) => signer.sign(round, commitments));
  for (const share of shares) share.erase();
  return aggregateSignature(crk, round, commitments, parts);
}
