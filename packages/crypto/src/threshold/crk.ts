import { ed25519, ed25519_FROST as FROST } from "@noble/curves/ed25519.js";
import { checkArgument, checkOptions } from "@seneschal/kernel";
import type { Random } from "@seneschal/kernel/ports";
import { base64, bytesEqual, concat, fromBase64, hex, u32 } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import { nobleCrypto } from "../provider/noble.ts";
import type { ShareSet } from "./inspect-shares.ts";
import { basePoint, combine, evaluateCommitments, type GroupPoint, readPoint, readScalar, scalars } from "./scalar-field.ts";
import { assertThreshold, Share } from "./share.ts";

/**
 * The public half of a customer root key: an Ed25519 key that exists only as FROST shares (RFC 9591). Signatures made
 * with it are ordinary Ed25519 (RFC 8032). `setId` and `publicKey` never change; `epoch` grows with refresh and reshare.
 */
export interface CrkPublic {
  readonly setId: Uint8Array;
  readonly epoch: number;
  readonly threshold: number;
  readonly total: number;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** Commitments to the sharing polynomial, `threshold` points; the first is the public key. */
  readonly commitments: readonly Uint8Array[];
  /** Verifying share of index i + 1: its signing share times the base point. */
  readonly verifyingShares: readonly Uint8Array[];
}

/** A public half with its secret shares, as a dealer or a reshare hands them out. */
export interface CrkWithShares {
  readonly crk: CrkPublic;
  readonly shares: readonly Share[];
}

/** {@link CrkPublic} as JSON: for storage and for clients that take part in signing. */
export interface CrkPublicJson {
  readonly set_id: string;
  readonly epoch: number;
  readonly threshold: number;
  readonly total_shares: number;
  readonly public_key: string;
  readonly commitments: readonly string[];
  readonly verifying_shares: readonly string[];
  readonly [key: string]: string | number | readonly string[];
}

/**
 * Makes a new root key as a trusted dealer: the key exists for the time of this call. `total` shares come back once.
 * Throws `invalid_threshold`.
 *
 * @example
 * ```ts
 * import { systemRandom } from "@seneschal/adapters/system";
 * import { dealCrk, signWithShares } from "@seneschal/crypto/threshold";
 * const { crk, shares } = dealCrk({ threshold: 3, total: 5, random: systemRandom });
 * const three = shares.slice(0, 3).map((share) => ({ index: share.index, data: share.encode() }));
 * console.log(signWithShares(crk, three, Uint8Array.of(1), systemRandom).length); // 64
 * ```
 */
export function dealCrk(options: { readonly threshold: number; readonly total: number; readonly random: Random }): CrkWithShares {
  checkOptions("options", options, { threshold: "number", total: "number", random: "function" });
  return deal(options, undefined);
}

/**
 * Takes over an Ed25519 key: the public key and all earlier signatures stay valid. `key` is the 32-byte seed, or the
 * 64-byte form seed || public key. Throws `crypto_invalid`, `invalid_threshold`.
 */
export function importCrk(
  key: Uint8Array,
  options: { readonly threshold: number; readonly total: number; readonly random: Random },
): CrkWithShares {
  checkOptions("options", options, { threshold: "number", total: "number", random: "function" });
  checkArgument("key", key, "bytes");
  if (key.length !== 32 && key.length !== 64) throw cryptoError("crypto_invalid", "Ed25519 key must be 32 or 64 bytes");
  const { scalar, pointBytes } = ed25519.utils.getExtendedPublicKey(key.subarray(0, 32));
  if (key.length === 64 && !bytesEqual(pointBytes, key.subarray(32))) {
    throw cryptoError("crypto_invalid", "public key does not belong to the seed");
  }
  return deal(options, scalars.toBytes(scalar));
}

function deal(
  { threshold, total, random }: { readonly threshold: number; readonly total: number; readonly random: Random },
  secret: Uint8Array | undefined,
): CrkWithShares {
  assertThreshold(threshold, total);
  const ids = Array.from({ length: total }, (_, i) => identifier(i + 1));
  const dealt = FROST.trustedDealer({ min: threshold, max: total }, ids, secret, (length = 32) => random(length) as never);
  const signing = ids.map((id) => dealt.secretShares[id]?.signingShare ?? new Uint8Array());
  const [publicKey = new Uint8Array()] = dealt.public.commitments;
  const crk: CrkPublic = {
    setId: Uint8Array.from(random(16)),
    epoch: 1,
    threshold,
    total,
    publicKey: Uint8Array.from(publicKey),
    commitments: dealt.public.commitments.map((c) => Uint8Array.from(c)),
    // The dealer knows the shares: a multiplication each, where the commitments would take one for each coefficient.
    verifyingShares: signing.map((share) => basePoint(readScalar(share)).toBytes()),
  };
  return { crk, shares: signing.map((share, i) => crkShare(crk, i + 1, share)) };
}

/** Assembles the public half from commitments, points of the group; computes every verifying share from them. */
export function publicHalf(
  setId: Uint8Array,
  epoch: number,
  threshold: number,
  total: number,
  points: readonly GroupPoint[],
): CrkPublic {
  const commitments = points.map((point) => point.toBytes());
  const [publicKey] = commitments;
  if (publicKey === undefined || commitments.length !== threshold) {
    throw cryptoError("protocol_invalid", "a commitment per coefficient is required");
  }
  if (points.some((point) => point.is0())) throw cryptoError("protocol_invalid", "point is the identity");
  const verifyingShares = Array.from({ length: total }, (_, i) => evaluateCommitments(points, i + 1).toBytes());
  return {
    setId: Uint8Array.from(setId),
    epoch,
    threshold,
    total,
    publicKey: Uint8Array.from(publicKey),
    commitments,
    verifyingShares,
  };
}

/** A signing share of this key in its envelope. */
export function crkShare(crk: CrkPublic, index: number, signingShare: Uint8Array): Share {
  const { setId, epoch, threshold, total } = crk;
  return new Share({ scheme: "frost-ed25519", setId, epoch, threshold, total, index }, signingShare);
}

/** The {@link ShareSet} of a root key: a share is right when it times the base point is its verifying share. */
export function crkSet(crk: CrkPublic): ShareSet {
  checkArgument("crk", crk, "object");
  const { setId, epoch, threshold, total } = crk;
  return { scheme: "frost-ed25519", setId, epoch, threshold, total, accepts: (share) => holds(crk, share) };
}

function holds(crk: CrkPublic, share: Share): boolean {
  const expected = crk.verifyingShares[share.index - 1];
  try {
    return expected !== undefined && bytesEqual(basePoint(readScalar(share.payload())).toBytes(), expected);
  } catch {
    return false;
  }
}

/** FROST's name of an index. */
export function identifier(index: number): string {
  return hex(scalars.toBytes(BigInt(index)));
}

/** The FROST library's shape of the public half. */
export function frostPublic(crk: CrkPublic) {
  return {
    signers: { min: crk.threshold, max: crk.total },
    commitments: crk.commitments.map((c) => Uint8Array.from(c)),
    verifyingShares: Object.fromEntries(crk.verifyingShares.map((v, i) => [identifier(i + 1), Uint8Array.from(v)])),
  };
}

export function crkToJson(crk: CrkPublic): CrkPublicJson {
  checkArgument("crk", crk, "object");
  return {
    set_id: base64(crk.setId),
    epoch: crk.epoch,
    threshold: crk.threshold,
    total_shares: crk.total,
    public_key: base64(crk.publicKey),
    commitments: crk.commitments.map(base64),
    verifying_shares: crk.verifyingShares.map(base64),
  };
}

/** Reads {@link crkToJson} back and checks that its parts fit each other. Throws `protocol_invalid`, `crypto_invalid`. */
export function crkFromJson(json: CrkPublicJson): CrkPublic {
  checkArgument("json", json, "object");
  assertThreshold(json.threshold, json.total_shares);
  const [publicKey] = json.commitments;
  if (publicKey === undefined || json.commitments.length !== json.threshold) {
    throw cryptoError("protocol_invalid", "a commitment per coefficient is required");
  }
  const commitments = json.commitments.map(fromBase64);
  const points = commitments.map((c) => readPoint(c));
  const verifyingShares = json.verifying_shares.map(fromBase64);
  const same =
    publicKey === json.public_key && verifyingShares.length === json.total_shares && lieOn(points, commitments, verifyingShares);
  if (!same) throw cryptoError("protocol_invalid", "public key or verifying shares do not follow from the commitments");
  const { epoch, threshold, total_shares: total } = json;
  return {
    setId: fromBase64(json.set_id),
    epoch,
    threshold,
    total,
    publicKey: fromBase64(publicKey),
    commitments,
    verifyingShares,
  };
}

/**
 * Whether `shares[i]` is the value at i + 1 of the polynomial with these commitments, for all at once: a sum of the differences, each times 128 bits that follow from all of the
 * values. A wrong value passes with a probability of 2^-128 for each try, at a multiplication for each value instead of one for each pair of value and coefficient.
 */
function lieOn(points: readonly GroupPoint[], commitments: readonly Uint8Array[], shares: readonly Uint8Array[]): boolean {
  let values: readonly GroupPoint[];
  try {
    values = shares.map((share) => readPoint(share));
  } catch {
    return false;
  }
  const seed = nobleCrypto.hash("sha512", concat(u32(points.length), ...commitments, ...shares));
  const weights = values.map((_, i) => BigInt(`0x${hex(nobleCrypto.hash("sha256", concat(seed, u32(i))).subarray(0, 16))}`));
  const powers = [...weights];
  const factors = points.map(() => {
    const sum = powers.reduce((a, b) => scalars.add(a, b), 0n);
    for (const [i, power] of powers.entries()) powers[i] = scalars.mul(power, BigInt(i + 1));
    return scalars.neg(sum);
  });
  return combine([...values, ...points], [...weights, ...factors]).is0();
}
