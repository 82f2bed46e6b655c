import { checkArgument, checkOptions } from "@seneschal/kernel";
import type { Random } from "@seneschal/kernel/ports";
import { combine } from "shamir-secret-sharing";
import { bytesEqual, concat } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import { nobleCrypto } from "../provider/noble.ts";
import { acceptedShares, type ShareSet, type SubmittedShare } from "./inspect-shares.ts";
import { assertThreshold, Share } from "./share.ts";
import { drawn, splitBytes } from "./split-bytes.ts";

const CHECK = 16;
const MAX_SECRET = 1024;

/** The public record of a split: what the ceremony keeps. It tells a right share from a wrong one and nothing else. */
export interface SplitRecord {
  readonly setId: Uint8Array;
  readonly epoch: number;
  readonly threshold: number;
  readonly total: number;
  /** 32 bytes; binds the commitments to this split. */
  readonly salt: Uint8Array;
  /** SHA-256(salt || envelope) of the share with index i + 1. */
  readonly commitments: readonly Uint8Array[];
}

/**
 * Splits an opaque secret (a key-encryption key, a seed; 1 to 1024 bytes) so that `threshold` of `total` shares give it
 * back. For signing keys use the FROST functions: those are never combined.
 *
 * The split body carries `secret || r || HMAC-SHA256(r, secret)[0..16]`, so that a wrong reconstruction is refused
 * instead of returned. Everything is drawn from `random`: the same bytes of it give the same shares. Throws `invalid_threshold`, and
 * `crypto_invalid` also for a source that gives too little, or the same byte again and again.
 */
export async function splitSecret(
  secret: Uint8Array,
  options: { readonly threshold: number; readonly total: number; readonly epoch?: number; readonly random: Random },
): Promise<{ readonly shares: readonly Share[]; readonly record: SplitRecord }> {
  checkOptions("options", options, { threshold: "number", total: "number", epoch: "number?", random: "function" });
  checkArgument("secret", secret, "bytes");
  const { threshold, total, epoch = 1, random } = options;
  assertThreshold(threshold, total);
  if (secret.length < 1 || secret.length > MAX_SECRET) {
    throw cryptoError("crypto_invalid", "only 1 to 1024 bytes are split: split a key, not the data");
  }
  const setId = drawn(random, 16);
  const r = drawn(random, CHECK);
  const body = concat(secret, r, check(r, secret));
  const payloads = splitBytes(body, total, threshold, random);
  body.fill(0);
  const shares = payloads.map(
    (payload, i) => new Share({ scheme: "shamir", setId, epoch, threshold, total, index: i + 1 }, payload),
  );
  const salt = drawn(random, 32);
  const commitments = shares.map((share) => commit(salt, share));
  return { shares, record: { setId, epoch, threshold, total, salt, commitments } };
}

/** The {@link ShareSet} of a split, for `inspectShares`. */
export function splitSet(record: SplitRecord): ShareSet {
  return {
    ...record,
    scheme: "shamir",
    accepts: (share) => {
      const expected = record.commitments[share.index - 1];
      return expected !== undefined && bytesEqual(expected, commit(record.salt, share));
    },
  };
}

/**
 * Gives the secret back. Every share is judged first; throws `share_invalid` naming the bad ones, `threshold_not_met`,
 * or `share_invalid` without indexes when accepted shares give no consistent secret.
 *
 * @example
 * ```ts
 * import { systemRandom } from "@seneschal/adapters/system";
 * import { combineSecret, splitSecret } from "@seneschal/crypto/threshold";
 * const { shares, record } = await splitSecret(Uint8Array.of(1, 2, 3), { threshold: 2, total: 3, random: systemRandom });
 * const two = shares.slice(1).map((share) => ({ index: share.index, data: share.encode() }));
 * console.log(await combineSecret(record, two)); // Uint8Array(3) [ 1, 2, 3 ]
 * ```
 */
export async function combineSecret(record: SplitRecord, submitted: readonly SubmittedShare[]): Promise<Uint8Array> {
  checkArgument("record", record, "object");
  checkArgument("submitted", submitted, "array");
  const shares = acceptedShares(splitSet(record), submitted);
  const body = await combine(shares.map((share) => share.payload()));
  const secret = body.slice(0, -2 * CHECK);
  const r = body.subarray(secret.length, secret.length + CHECK);
  if (secret.length === 0 || !bytesEqual(check(r, secret), body.subarray(secret.length + CHECK))) {
    throw cryptoError("share_invalid", "the shares give no consistent secret", { indexes: [] });
  }
  body.fill(0);
  return secret;
}

function check(r: Uint8Array, secret: Uint8Array): Uint8Array {
  return nobleCrypto.hmac("sha256", r, secret).subarray(0, CHECK);
}

function commit(salt: Uint8Array, share: Share): Uint8Array {
  return nobleCrypto.hash("sha256", concat(salt, share.toBytes()));
}
