import { hex } from "../bytes.ts";
import { Point } from "../threshold/scalar-field.ts";

const { Fp } = Point;
const A = 486662n;

/**
 * Whether something can be sealed to these 32 bytes as an X25519 key: RFC 7748 section 6.1 has a key of small order give the same secret
 * to everybody. Computed from the key alone, as its author is blamed for it: an agreement that fails may have failed for another reason.
 */
export function takesPackages(key: Uint8Array): boolean {
  // The highest bit is ignored, and what is not reduced is taken modulo p (RFC 7748 section 5).
  let x = Fp.create(BigInt(`0x${hex(key.slice().reverse())}`) & (2n ** 255n - 1n));
  let z = 1n;
  // Three doublings (RFC 7748's curve, and its twist alike): orders that divide 8 end at infinity.
  for (let i = 0; i < 3; i++) {
    const [xx, zz, xz] = [Fp.sqr(x), Fp.sqr(z), Fp.mul(x, z)];
    [x, z] = [Fp.sqr(Fp.sub(xx, zz)), Fp.mul(Fp.mul(4n, xz), Fp.add(Fp.add(xx, zz), Fp.mul(A, xz)))];
  }
  return !Fp.is0(z);
}
