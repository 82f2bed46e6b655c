import { checkArgument, checkOptions, isCoded } from "@seneschal/kernel";
import type { Random } from "@seneschal/kernel/ports";
import { cryptoError } from "../errors.ts";
import { type CrkPublic, crkSet, crkShare } from "./crk.ts";
import { type PublicDealer, weighted } from "./resharing.ts";
import { basePoint, type GroupPoint, lagrange, Point, randomScalar, readPoint, readScalar, scalars } from "./scalar-field.ts";
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
 * What is false in between is told from the commitments, which each helper shows to all before step 1's summands are sent.
 */
export function dealRepair(
  crk: CrkPublic,
  share: Share,
  options: { readonly lost: number; readonly helpers: readonly number[]; readonly random: Random },
): readonly RepairSummand[] {
  checkOptions("options", options, { lost: "number", helpers: "array", random: "function" });
  checkArgument("crk", crk, "object");
  checkArgument("share", share, "object");
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
  checkArgument("summands", summands, "array");
  return scalars.toBytes(summands.reduce((sum, value) => scalars.add(sum, readScalar(value)), 0n));
}

/** The repaired share. Throws `protocol_invalid` when the sums do not give the share that was lost. */
export function repairShare(crk: CrkPublic, lost: number, sums: readonly Uint8Array[]): Share {
  checkArgument("crk", crk, "object");
  checkArgument("lost", lost, "number");
  checkArgument("sums", sums, "array");
  const share = crkShare(crk, lost, sumRepair(sums));
  if (!crkSet(crk).accepts(share)) throw cryptoError("protocol_invalid", "the sums do not give the lost share");
  return share;
}

/** The summands of one helper times the base point, in the order of helpers. */
export function commitRepair(summands: readonly RepairSummand[]): readonly Uint8Array[] {
  return summands.map(({ value }) => basePoint(readScalar(value)).toBytes());
}

/** Whether these are the commitments of one helper: as many as helpers, and together its weighted share. */
export function repairs(commitments: readonly Uint8Array[], lost: number, helper: PublicDealer): boolean {
  if (commitments.length !== helper.dealers.length) return false;
  return orFalse(() => sum(commitments.map((c) => readPoint(c))).equals(weighted(helper, lost)));
}

/** Whether a summand is what its helper has committed to for the helper at `place`. */
export function isSummand(commitments: readonly Uint8Array[], place: number, value: Uint8Array): boolean {
  return isContribution([commitments], place, value);
}

/** Whether a sum is that of what all helpers have committed to for the helper at `place`. */
export function isContribution(commitments: readonly (readonly Uint8Array[])[], place: number, value: Uint8Array): boolean {
  const points = commitments.map((of) => of[place] ?? new Uint8Array());
  return orFalse(() => basePoint(readScalar(value)).equals(sum(points.map((c) => readPoint(c)))));
}

function sum(points: readonly GroupPoint[]): GroupPoint {
  return points.reduce((a, b) => a.add(b), Point.ZERO);
}

/** `false` for what is no scalar and no point of the group. */
function orFalse(holds: () => boolean): boolean {
  try {
    return holds();
  } catch (error) {
    // Nothing else: a machine that failed is no evidence against the helper.
    if (isCoded(error, "protocol_invalid")) return false;
    throw error;
  }
}

function assertHelpers(crk: CrkPublic, lost: number, helpers: readonly number[]): void {
  const fits = [lost, ...helpers].every((i) => Number.isInteger(i) && i >= 1 && i <= crk.total);
  if (!fits || new Set([lost, ...helpers]).size !== helpers.length + 1 || helpers.length < crk.threshold) {
    throw cryptoError("protocol_invalid", "helpers must be distinct other holders, at least the threshold of them");
  }
}
