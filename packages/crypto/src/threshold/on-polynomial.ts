import { isCoded } from "@seneschal/kernel";
import { basePoint, evaluateCommitments, readPoint, readScalar } from "./scalar-field.ts";

/**
 * Feldman's check: whether a dealt value lies at `x` on the polynomial that these points commit to, constant term first. `false` for
 * what is no scalar or no point of the group; the constant term alone may be the identity.
 */
export function onPolynomial(commitments: readonly Uint8Array[], x: number, value: Uint8Array): boolean {
  try {
    const points = commitments.map((c, k) => readPoint(c, k === 0 ? "allowed" : "refused"));
    return basePoint(readScalar(value)).equals(evaluateCommitments(points, x));
  } catch (error) {
    // Nothing else: a machine that failed is no evidence against the dealer.
    if (isCoded(error, "protocol_invalid")) return false;
    throw error;
  }
}
