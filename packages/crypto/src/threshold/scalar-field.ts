import { mulAddUnsafe } from "@noble/curves/abstract/curve.js";
import { mapHashToField } from "@noble/curves/abstract/modular.js";
import { ed25519 } from "@noble/curves/ed25519.js";
import type { Random } from "@seneschal/kernel/ports";
import { hex } from "../bytes.ts";
import { cryptoError } from "../errors.ts";

/** Points and scalars of the prime-order group that Ed25519 signs in. Scalars are little endian, 32 bytes. */
export const Point = ed25519.Point;
export type GroupPoint = InstanceType<typeof ed25519.Point>;
const { Fn } = Point;

/** Scalar arithmetic modulo the group order L. */
export const scalars = Fn;

/** Reads a canonical scalar. Throws `protocol_invalid`. */
export function readScalar(bytes: Uint8Array): bigint {
  try {
    return Fn.fromBytes(bytes);
  } catch (cause) {
    throw cryptoError("protocol_invalid", "not a scalar", {}, cause);
  }
}

/** The scalar of a hash: 64 bytes, little endian, modulo the group order (RFC 8032 section 5.1.6). */
export function wideScalar(bytes: Uint8Array): bigint {
  return Fn.create(BigInt(`0x${hex(bytes.slice().reverse())}`));
}

/** A uniform scalar in 1..L-1, from 48 random bytes (bias below 2^-128). */
export function randomScalar(random: Random): bigint {
  return Fn.fromBytes(mapHashToField(random(48), Fn.ORDER, true));
}

/** Of points that hold, in two halves of which the older is dropped whole: each step of a ceremony reads the points of those before again. */
const READ_POINTS = 1024;
let read = new Map<string, GroupPoint>();
let readBefore = new Map<string, GroupPoint>();

/**
 * Reads a point and refuses what is outside the prime-order subgroup: such a point passes equations it should not.
 * The identity is allowed only where a constant term must be zero. Throws `protocol_invalid`.
 */
export function readPoint(bytes: Uint8Array, identity: "refused" | "allowed" = "refused"): GroupPoint {
  const name = hex(bytes);
  let point = read.get(name) ?? readBefore.get(name);
  if (point === undefined) {
    point = groupPoint(bytes);
    if (read.size >= READ_POINTS) [read, readBefore] = [new Map(), read];
    read.set(name, point);
  }
  if (identity === "refused" && point.is0()) throw cryptoError("protocol_invalid", "point is the identity");
  return point;
}

/**
 * The sums, coefficient by coefficient, of commitments that were judged by {@link readPoint} before, each as many points as the others. A point is not judged again: of a large ceremony
 * that is a multiplication for each seat and coefficient.
 */
export function sumOfJudged(commitments: readonly (readonly Uint8Array[])[]): readonly GroupPoint[] {
  const [first = []] = commitments;
  return first.map((_, k) => commitments.reduce((sum, of) => sum.add(Point.fromBytes(of[k] ?? new Uint8Array())), Point.ZERO));
}

function groupPoint(bytes: Uint8Array): GroupPoint {
  let point: GroupPoint;
  try {
    point = Point.fromBytes(bytes);
  } catch (cause) {
    throw cryptoError("protocol_invalid", "not a point", {}, cause);
  }
  // The costly part, a multiplication by the order of the group.
  if (!point.isTorsionFree()) throw cryptoError("protocol_invalid", "point outside the prime-order group");
  return point;
}

/** `scalar * B`, also for zero. In constant time: scalars here are secrets. */
export function basePoint(scalar: bigint): GroupPoint {
  return scalar === 0n ? Point.ZERO : Point.BASE.multiply(scalar);
}

/** Value at x of the polynomial with these coefficients, constant term first. */
export function evaluate(coefficients: readonly bigint[], x: number): bigint {
  return coefficients.reduceRight((sum, c) => Fn.add(Fn.mul(sum, BigInt(x)), c), 0n);
}

/** Lagrange coefficient of `index` among `indexes` for the value at `x` (0: the secret). */
export function lagrange(indexes: readonly number[], index: number, x = 0): bigint {
  let numerator = 1n;
  let denominator = 1n;
  for (const other of indexes) {
    if (other === index) continue;
    numerator = Fn.mul(numerator, Fn.create(BigInt(x - other)));
    denominator = Fn.mul(denominator, Fn.create(BigInt(index - other)));
  }
  return Fn.div(numerator, denominator);
}

/** Point at x of a committed polynomial: `sum x^k C_k`. Public input, variable time. */
export function evaluateCommitments(commitments: readonly GroupPoint[], x: number): GroupPoint {
  // Horner's rule: x is an index, and small, where its powers are not.
  return commitments.reduceRight((sum, c) => sum.multiplyUnsafe(BigInt(x)).add(c), Point.ZERO);
}

/** `sum factors[i] points[i]`. Public input, variable time. */
export function combine(points: readonly GroupPoint[], factors: readonly bigint[]): GroupPoint {
  return mulAddUnsafe(Point, [...points], [...factors]);
}
