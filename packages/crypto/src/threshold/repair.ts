import type { Random } from "@seneschal/kernel/ports";
import { cryptoError } from "../errors.ts";
import { type CrkPublic, crkSet, crkShare } from "./crk.ts";
import { lagrange, randomScalar, readScalar, scalars } from "./scalar-field.ts";
import type { Share } from "./share.ts";

/** A random summand of a helper's contribution, secret, for one other helper. */
export interface RepairSummand {
  readonly from: number;
  readonly to: number;
  readonly value: Uint8Array;
}

/**
 * Gives a lost share back without showing any share or the key to anybody (enrolment repairable threshold scheme).
 * Step 1, each of at least `threshold` helpers: splits its weighted share into random summands, one per helper.
 * Step 2, {@link sumRepair}: each helper adds what it received. Step 3, {@link repairShare}: the holder adds the sums.
 */
export function dealRepair(
  crk: CrkPublic,
  share: Share,
  options: { readonly lost: number; readonly helpers: readonly number[]; readonly random: Random },
): readonly RepairSummand[] {
  const { lost, helpers, random } = options;
  assertHelpers(crk, lost, helpers);
  if (!helpers.includes(share.index) || share.epoch !== crk.epoch || !crkSet(crk).accepts(share)) {
    throw cryptoError("share_invalid", "the helper's share is not one of this key and epoch", { indexes: [share.index] });
  }
  const contribution = scalars.mul(lagrange(helpers, share.index, lost), readScalar(share.payload()));
  const randoms = helpers.slice(1).map(() => randomScalar(random));
  const rest = randoms.reduce((sum, r) => scalars.sub(sum, r), contribution);
  return helpers.map((to, i) => ({ from: share.index, to, value: scalars.toBytes(randoms[i] ?? rest) }));
}

/** A helper's sum of the summands that all helpers (itself too) dealt to it; goes to the holder of the lost share only. */
export function sumRepair(summands: readonly Uint8Array[]): Uint8Array {
  return scalars.toBytes(summands.reduce((sum, value) => scalars.add(sum, readScalar(value)), 0n));
}

/** The repaired share. Throws `protocol_invalid` when the sums do not give the share that was lost. */
export function repairShare(crk: CrkPublic, lost: number, sums: readonly Uint8Array[]): Share {
  const share = crkShare(crk, lost, sumRepair(sums));
  if (!crkSet(crk).accepts(share)) throw cryptoError("protocol_invalid", "the sums do not give the lost share");
  return share;
}

function assertHelpers(crk: CrkPublic, lost: number, helpers: readonly number[]): void {
  const fits = [lost, ...helpers].every((i) => Number.isInteger(i) && i >= 1 && i <= crk.total);
  if (!fits || new Set([lost, ...helpers]).size !== helpers.length + 1 || helpers.length < crk.threshold) {
    throw cryptoError("protocol_invalid", "helpers must be distinct other holders, at least the threshold of them");
  }
}
