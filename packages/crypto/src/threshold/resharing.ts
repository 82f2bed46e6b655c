import { checkArgument, isCoded } from "@seneschal/kernel";
import type { Random } from "@seneschal/kernel/ports";
import { bytesEqual } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import { type CrkPublic, type CrkWithShares, crkFromJson, crkSet, crkShare, crkToJson, publicHalf } from "./crk.ts";
import { acceptedShares, type SubmittedShare } from "./inspect-shares.ts";
import { onPolynomial } from "./on-polynomial.ts";
import {
  basePoint,
  evaluate,
  type GroupPoint,
  lagrange,
  Point,
  randomScalar,
  readPoint,
  readScalar,
  scalars,
} from "./scalar-field.ts";
import { assertThreshold, type Share } from "./share.ts";

/**
 * One dealer's contribution to new shares of the same key: commitments for everybody, and for each new holder one secret
 * value, its polynomial at that holder's index.
 */
export interface Deal {
  readonly from: number;
  /** One point per coefficient, constant term first. */
  readonly commitments: readonly Uint8Array[];
  /** Secret: `values[i]` goes to the holder of index i + 1 only. */
  readonly values: readonly Uint8Array[];
}

/** A deal as one receiver sees it. */
export interface ReceivedDeal {
  readonly from: number;
  readonly commitments: readonly Uint8Array[];
  readonly value: Uint8Array;
}

/**
 * Proactive refresh, dealer's part: a random polynomial that is zero at zero, so that every share changes and the key
 * does not. Any holder may deal; several make it independent of each one's randomness.
 */
export function dealRefresh(crk: CrkPublic, from: number, random: Random): Deal {
  checkArgument("crk", crk, "object");
  checkArgument("from", from, "number");
  checkArgument("random", random, "function");
  return deal(from, [0n, ...randomScalars(crk.threshold - 1, random)], crk.total);
}

/**
 * Whether one dealer's commitments refresh a key of this threshold: of its degree, in the group, and zero at zero. Looks at these
 * points alone, so that it costs the threshold and not the number of holders: {@link refreshedPublic} is for all deals together.
 */
export function refreshes(commitments: readonly Uint8Array[], threshold: number): boolean {
  return hasConstant(commitments, threshold, () => Point.ZERO);
}

/** One dealer of a reshare or repair, as everybody knows it: all dealers' indexes, and the public half of its own share. */
export interface PublicDealer {
  readonly from: number;
  readonly dealers: readonly number[];
  readonly verifyingShare: Uint8Array;
}

/** Whether one dealer's commitments reshare its part of the key under a threshold: as {@link refreshes}, its weighted share at zero. */
export function reshares(commitments: readonly Uint8Array[], threshold: number, dealer: PublicDealer): boolean {
  return hasConstant(commitments, threshold, () => weighted(dealer, 0));
}

/** A dealer's share times its weight for the value at `x`, times the base point. Throws `protocol_invalid`. */
export function weighted({ from, dealers, verifyingShare }: PublicDealer, x: number): GroupPoint {
  return readPoint(verifyingShare).multiplyUnsafe(lagrange(dealers, from, x));
}

function hasConstant(commitments: readonly Uint8Array[], threshold: number, constant: () => GroupPoint): boolean {
  if (commitments.length !== threshold) return false;
  try {
    const [first] = commitments.map((c, k) => readPoint(c, k === 0 ? "allowed" : "refused"));
    return first?.equals(constant()) === true;
  } catch (error) {
    // Nothing else: a machine that failed is no evidence against the dealer.
    if (isCoded(error, "protocol_invalid")) return false;
    throw error;
  }
}

/** The public half after a refresh. Throws `cheating` naming dealers whose constant term is not zero or whose degree is wrong. */
export function refreshedPublic(crk: CrkPublic, deals: readonly Pick<Deal, "from" | "commitments">[]): CrkPublic {
  checkArgument("crk", crk, "object");
  checkArgument("deals", deals, "array");
  const polynomials = readDeals(deals, (points) => points.length === crk.threshold && points[0]?.is0() === true);
  const old = crk.commitments.map((c) => readPoint(c));
  const sums = polynomials.reduce<readonly GroupPoint[]>((sum, points) => addPoints(sum, points), old);
  return successor(crk, crk.threshold, crk.total, sums);
}

/** Refresh, holder's part: the new share of `share`'s index. Throws `cheating` naming dealers of wrong values. */
export function refreshShare(crk: CrkPublic, share: Share, deals: readonly ReceivedDeal[]): Share {
  checkArgument("crk", crk, "object");
  checkArgument("share", share, "object");
  checkArgument("deals", deals, "array");
  const next = refreshedPublic(crk, deals);
  const delta = receive(deals, share.index);
  return finish(next, share.index, scalars.add(readScalar(share.payload()), delta));
}

/**
 * Resharing, dealer's part: an old holder deals its share, weighted for the set of dealers, under a new threshold. At
 * least the old threshold of holders must deal, all with the same `dealers`. The only safe way to change a threshold.
 */
export function dealReshare(
  crk: CrkPublic,
  share: Share,
  to: { readonly dealers: readonly number[]; readonly threshold: number; readonly total: number; readonly random: Random },
): Deal {
  checkArgument("crk", crk, "object");
  checkArgument("share", share, "object");
  checkArgument("to", to, "object");
  assertThreshold(to.threshold, to.total);
  assertDealers(crk, to.dealers);
  if (!crkSet(crk).accepts(share) || share.epoch !== crk.epoch) {
    throw cryptoError("share_invalid", "the share is not one of this key and epoch", { indexes: [share.index] });
  }
  const constant = scalars.mul(lagrange(to.dealers, share.index), readScalar(share.payload()));
  return deal(share.index, [constant, ...randomScalars(to.threshold - 1, to.random)], to.total);
}

/**
 * The public half after a reshare. Throws `cheating` naming dealers whose constant term is not their weighted old share
 * or whose degree is wrong; `protocol_invalid` when dealers are missing.
 */
export function resharedPublic(
  crk: CrkPublic,
  deals: readonly Pick<Deal, "from" | "commitments">[],
  to: { readonly threshold: number; readonly total: number },
): CrkPublic {
  checkArgument("crk", crk, "object");
  checkArgument("deals", deals, "array");
  checkArgument("to", to, "object");
  const dealers = deals.map((d) => d.from);
  assertDealers(crk, dealers);
  const polynomials = readDeals(deals, (points, from) => {
    const verifyingShare = crk.verifyingShares[from - 1] ?? new Uint8Array();
    return points.length === to.threshold && points[0]?.equals(weighted({ from, dealers, verifyingShare }, 0)) === true;
  });
  const sums = polynomials.reduce((sum, points) => addPoints(sum, points));
  return successor(crk, to.threshold, to.total, sums);
}

/** Resharing, new holder's part. Throws as {@link resharedPublic}, and `cheating` naming dealers of wrong values. */
export function receiveReshare(
  crk: CrkPublic,
  index: number,
  deals: readonly ReceivedDeal[],
  to: { readonly threshold: number; readonly total: number },
): Share {
  checkArgument("crk", crk, "object");
  checkArgument("index", index, "number");
  checkArgument("deals", deals, "array");
  checkArgument("to", to, "object");
  return finish(resharedPublic(crk, deals, to), index, receive(deals, index));
}

/**
 * Resharing in one process, for a ceremony in which holders hand their shares over: judges each by index, then deals once for
 * everybody, as there is nobody to distrust. The public key stays and is never assembled, the epoch grows, old shares stop working. Throws `share_invalid`,
 * `threshold_not_met`, `invalid_threshold`.
 *
 * @example
 * ```ts
 * import { systemRandom } from "@seneschal/adapters/system";
 * import { dealCrk, reshareWithShares } from "@seneschal/crypto/threshold";
 * const { crk, shares } = dealCrk({ threshold: 3, total: 5, random: systemRandom });
 * const three = shares.slice(2).map((share) => ({ index: share.index, data: share.encode() }));
 * const next = reshareWithShares(crk, three, { threshold: 4, total: 7, random: systemRandom });
 * console.log(next.crk.epoch, next.shares.length, String(next.crk.publicKey) === String(crk.publicKey)); // 2 7 true
 * ```
 */
export function reshareWithShares(
  crk: CrkPublic,
  submitted: readonly SubmittedShare[],
  to: { readonly threshold: number; readonly total: number; readonly random: Random },
): CrkWithShares {
  checkArgument("crk", crk, "object");
  checkArgument("submitted", submitted, "array");
  checkArgument("to", to, "object");
  assertThreshold(to.threshold, to.total);
  const olds = acceptedShares(crkSet(crk), submitted).slice(0, crk.threshold);
  const dealers = olds.map((share) => share.index);
  const weighted = olds.map((share) => scalars.mul(lagrange(dealers, share.index), readScalar(share.payload())));
  for (const share of olds) share.erase();
  const coefficients = randomScalars(to.threshold - 1, to.random);
  // The sum of weighted old shares alone would be the key: it is added to what hides it, one by one.
  const values = Array.from({ length: to.total }, (_, i) =>
    weighted.reduce((sum, part) => scalars.add(sum, part), evaluate([0n, ...coefficients], i + 1)),
  );
  const { setId, publicKey } = crk;
  const next: CrkPublic = {
    setId: Uint8Array.from(setId),
    epoch: crk.epoch + 1,
    threshold: to.threshold,
    total: to.total,
    publicKey: Uint8Array.from(publicKey),
    commitments: [Uint8Array.from(publicKey), ...coefficients.map((c) => basePoint(c).toBytes())],
    verifyingShares: values.map((value) => basePoint(value).toBytes()),
  };
  // INVARIANT: the new shares lie on a polynomial whose constant term is the key that others trust.
  crkFromJson(crkToJson(next));
  return { crk: next, shares: values.map((value, i) => crkShare(next, i + 1, scalars.toBytes(value))) };
}

/** What the holder of `index` receives of these deals. */
export function seenBy(deals: readonly Deal[], index: number): readonly ReceivedDeal[] {
  checkArgument("deals", deals, "array");
  checkArgument("index", index, "number");
  return deals.map((d) => ({ from: d.from, commitments: d.commitments, value: d.values[index - 1] ?? new Uint8Array() }));
}

function deal(from: number, coefficients: readonly bigint[], total: number): Deal {
  return {
    from,
    commitments: coefficients.map((c) => basePoint(c).toBytes()),
    values: Array.from({ length: total }, (_, i) => scalars.toBytes(evaluate(coefficients, i + 1))),
  };
}

function randomScalars(count: number, random: Random): bigint[] {
  return Array.from({ length: count }, () => randomScalar(random));
}

function assertDealers(crk: CrkPublic, dealers: readonly number[]): void {
  const fits = dealers.every((i) => Number.isInteger(i) && i >= 1 && i <= crk.total);
  if (!fits || new Set(dealers).size !== dealers.length || dealers.length < crk.threshold) {
    throw cryptoError("protocol_invalid", "dealers must be distinct holders, at least the old threshold of them");
  }
}

/** Parses all commitments and names every dealer whose polynomial does not keep the key. */
function readDeals(
  deals: readonly Pick<Deal, "from" | "commitments">[],
  keepsKey: (points: readonly GroupPoint[], from: number) => boolean,
): readonly (readonly GroupPoint[])[] {
  if (deals.length === 0 || new Set(deals.map((d) => d.from)).size !== deals.length) {
    throw cryptoError("protocol_invalid", "one deal per dealer is required");
  }
  const indexes: number[] = [];
  const polynomials = deals.map(({ from, commitments }) => {
    try {
      const points = commitments.map((c, k) => readPoint(c, k === 0 ? "allowed" : "refused"));
      if (keepsKey(points, from)) return points;
    } catch (error) {
      // Named below with the others.
      if (!isCoded(error, "protocol_invalid")) throw error;
    }
    indexes.push(from);
    return [];
  });
  if (indexes.length > 0) throw cryptoError("cheating", `wrong commitments of dealers: ${indexes.join(", ")}`, { indexes });
  return polynomials;
}

/** Sum of the dealt values for one index, each checked against its dealer's commitments. */
function receive(deals: readonly ReceivedDeal[], index: number): bigint {
  const indexes: number[] = [];
  let sum = 0n;
  for (const { from, commitments, value } of deals) {
    if (onPolynomial(commitments, index, value)) sum = scalars.add(sum, readScalar(value));
    else indexes.push(from);
  }
  if (indexes.length > 0) throw cryptoError("cheating", `wrong values of dealers: ${indexes.join(", ")}`, { indexes });
  return sum;
}

/** Sums of two polynomials' commitments. */
export function addPoints(a: readonly GroupPoint[], b: readonly GroupPoint[]): readonly GroupPoint[] {
  return a.map((point, k) => point.add(b[k] ?? Point.ZERO));
}

/** The next epoch of a key, by the sums of what was dealt. Throws `protocol_invalid` when the public key would be another. */
export function successor(crk: CrkPublic, threshold: number, total: number, commitments: readonly GroupPoint[]): CrkPublic {
  const next = publicHalf(crk.setId, crk.epoch + 1, threshold, total, commitments);
  // INVARIANT: whatever the dealers did, the key that others trust stays the same.
  if (!bytesEqual(next.publicKey, crk.publicKey)) throw cryptoError("protocol_invalid", "the public key would change");
  return next;
}

/** An own share in its envelope. Throws `protocol_invalid` when it is not the one that the public half has for this index. */
export function finish(next: CrkPublic, index: number, signingShare: bigint): Share {
  const share = crkShare(next, index, scalars.toBytes(signingShare));
  if (!crkSet(next).accepts(share)) throw cryptoError("protocol_invalid", "the new share does not fit the new public half");
  return share;
}
