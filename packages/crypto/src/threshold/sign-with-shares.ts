import { ed25519, ed25519_FROST as FROST } from "@noble/curves/ed25519.js";
import { checkArgument } from "@seneschal/kernel";
import type { Random } from "@seneschal/kernel/ports";
import { concat } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import { nobleCrypto } from "../provider/noble.ts";
import { type CrkPublic, crkSet, identifier } from "./crk.ts";
import { acceptedShares, type SubmittedShare } from "./inspect-shares.ts";
import { lagrange, Point, readPoint, readScalar, scalars, wideScalar } from "./scalar-field.ts";

/**
 * Signs with shares that were handed over: judges each by index first, then makes one Schnorr signature of a part by each share, with a nonce of its own. The key
 * is never assembled. FROST's binding factors protect signers from each other; here one process holds all nonces and makes them for this message, which takes time
 * in proportion to the shares and not to their square. Throws `share_invalid` naming the bad indexes, `threshold_not_met`.
 */
export function signWithShares(
  crk: CrkPublic,
  submitted: readonly SubmittedShare[],
  message: Uint8Array,
  random: Random,
): Uint8Array {
  checkArgument("crk", crk, "object");
  checkArgument("submitted", submitted, "array");
  checkArgument("message", message, "bytes");
  checkArgument("random", random, "function");
  const shares = acceptedShares(crkSet(crk), submitted).slice(0, crk.threshold);
  const indexes = shares.map((share) => share.index);
  const signers = shares.map((share) => {
    const signingShare = share.payload();
    const { nonces, commitments } = FROST.commit(
      { identifier: identifier(share.index), signingShare: signingShare as never },
      (length = 32) => random(length) as never,
    );
    return { index: share.index, signingShare, nonces, point: readPoint(commitments.hiding) };
  });
  const nonce = signers.reduce((sum, { point }) => sum.add(point), Point.ZERO).toBytes();
  const challenge = wideScalar(nobleCrypto.hash("sha512", concat(nonce, crk.publicKey, message)));
  let sum = 0n;
  for (const { index, signingShare, nonces } of signers) {
    const weight = scalars.mul(challenge, lagrange(indexes, index));
    sum = scalars.add(sum, scalars.add(readScalar(nonces.hiding), scalars.mul(weight, readScalar(signingShare))));
    for (const secret of [signingShare, nonces.hiding, nonces.binding]) secret.fill(0);
  }
  for (const share of shares) share.erase();
  const signature = concat(nonce, scalars.toBytes(sum));
  if (!ed25519.verify(signature, message, crk.publicKey, { zip215: false }))
    throw cryptoError("protocol_invalid", "the signature does not verify");
  return signature;
}
