import { checkArgument, isCoded } from "@seneschal/kernel";
import { base64, bytesEqual, concat, fromBase64, utf8 } from "../bytes.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { nobleCrypto } from "../provider/noble.ts";
import { type CrkPublic, publicHalf } from "./crk.ts";
import { combine, type GroupPoint, Point, readPoint, readScalar, scalars, wideScalar } from "./scalar-field.ts";

/** What a participant tells everybody: commitments to its polynomial and a proof that it knows the constant term. */
export interface DkgBroadcast {
  readonly index: number;
  readonly commitments: readonly string[];
  readonly proof: string;
}

/** What a participant tells one other, in secret: its polynomial at the receiver's index. */
export interface DkgMessage {
  readonly from: number;
  readonly to: number;
  readonly share: string;
}

/** Base64 SHA-256 over the round-one list, sorted by index: what custodians read to each other before they deal. */
export function dkgTranscript(broadcasts: readonly DkgBroadcast[]): string {
  checkArgument("broadcasts", broadcasts, "array");
  const sorted = [...broadcasts].sort((a, b) => a.index - b.index);
  return base64(nobleCrypto.hash("sha256", utf8(canonicalJson(sorted))));
}

/** A broadcast stands when its degree is right, its points are in the group and its proof of knowledge holds. */
export function acceptsBroadcast(broadcast: DkgBroadcast, threshold: number): boolean {
  checkArgument("broadcast", broadcast, "object");
  checkArgument("threshold", threshold, "number");
  try {
    const points = broadcast.commitments.map((c) => readPoint(fromBase64(c)));
    const [key] = points;
    const proof = fromBase64(broadcast.proof);
    if (key === undefined || points.length !== threshold || proof.length !== 64) return false;
    const r = proof.subarray(0, 32);
    const z = readScalar(proof.subarray(32));
    const challenge = hashToScalar(concat(scalars.toBytes(BigInt(broadcast.index)), key.toBytes(), r));
    // What R must be is in the group: that its bytes are those of R says so of R.
    const expected = combine([Point.BASE, key], [z, scalars.neg(challenge)]);
    return !expected.is0() && bytesEqual(expected.toBytes(), r);
  } catch (error) {
    // Nothing else: a machine that failed is no evidence against the participant.
    if (isCoded(error, "protocol_invalid", "crypto_invalid")) return false;
    throw error;
  }
}

/**
 * The public half that a list of broadcasts of every participant makes: what anybody computes who saw the list. Its set id is the
 * first 16 bytes of {@link dkgTranscript}. Throws `protocol_invalid`.
 */
export function generatedPublic(broadcasts: readonly DkgBroadcast[], threshold: number): CrkPublic {
  checkArgument("broadcasts", broadcasts, "array");
  checkArgument("threshold", threshold, "number");
  const polynomials = broadcasts.map((b) => b.commitments.map((c) => readPoint(fromBase64(c))));
  const sums = Array.from({ length: threshold }, (_, k) => {
    return polynomials.reduce((sum, points) => sum.add(points[k] ?? Point.ZERO), Point.ZERO);
  });
  return generatedFrom(broadcasts, threshold, sums);
}

/** The public half of a list whose commitments have these sums. Throws `protocol_invalid` when they cancel each other out. */
export function generatedFrom(broadcasts: readonly DkgBroadcast[], threshold: number, sums: readonly GroupPoint[]): CrkPublic {
  return publicHalf(fromBase64(dkgTranscript(broadcasts)).subarray(0, 16), 1, threshold, broadcasts.length, sums);
}

/** HDKG of the FROST(Ed25519, SHA-512) suite. */
function hashToScalar(message: Uint8Array): bigint {
  return wideScalar(nobleCrypto.hash("sha512", concat(utf8("FROST-ED25519-SHA512-v1dkg"), message)));
}
