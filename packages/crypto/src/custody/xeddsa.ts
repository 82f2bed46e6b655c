import type { CryptoProvider, Random } from "@seneschal/kernel/ports";
import { concat, hex } from "../bytes.ts";
import { basePoint, Point, scalars, wideScalar } from "../threshold/scalar-field.ts";

const { Fp } = Point;
/** Prefix of hash_1: 2^256 - 2 in little endian, which begins no point. */
const HASH_1 = new Uint8Array(32).fill(0xff);
HASH_1[0] = 0xfe;

/**
 * Signs with an X25519 key (XEdDSA, "The XEdDSA and VXEdDSA Signature Schemes", revision 1, section 3): the proof that somebody
 * holds a key which otherwise only receives. `secret` is 32 bytes; the signature, 64 bytes, is an ordinary Ed25519 signature
 * under the key's Edwards form.
 */
export function xeddsaSign(
  provider: Pick<CryptoProvider, "hash">,
  secret: Uint8Array,
  message: Uint8Array,
  random: Random,
): Uint8Array {
  const { scalar, key } = keyPair(secret);
  const r = wideScalar(provider.hash("sha512", concat(HASH_1, scalars.toBytes(scalar), message, random(64))));
  const commitment = basePoint(r).toBytes();
  const challenge = wideScalar(provider.hash("sha512", concat(commitment, key, message)));
  return concat(commitment, scalars.toBytes(scalars.add(r, scalars.mul(challenge, scalar))));
}

/** Whether the holder of an X25519 public key signed. `false` for every wrong signature and every key without an Edwards form. */
export function xeddsaVerify(
  provider: Pick<CryptoProvider, "ed25519Verify">,
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  const key = edwardsForm(publicKey);
  return key !== undefined && provider.ed25519Verify(key, message, signature);
}

/** The Ed25519 key with sign bit 0 on the same point: y = (u - 1) / (u + 1). `undefined` where u is not reduced, or is -1. */
function edwardsForm(publicKey: Uint8Array): Uint8Array | undefined {
  const u = BigInt(`0x${hex(publicKey.slice().reverse())}`);
  const below = Fp.add(u, 1n);
  if (publicKey.length !== 32 || u >= Fp.ORDER || Fp.is0(below)) return undefined;
  return Fp.toBytes(Fp.div(Fp.sub(u, 1n), below));
}

/** The scalar of an X25519 secret, its sign chosen so that the point has sign bit 0, and that point. */
function keyPair(secret: Uint8Array): { readonly scalar: bigint; readonly key: Uint8Array } {
  const clamped = secret.slice().reverse();
  clamped[31] = (clamped[31] ?? 0) & 0xf8;
  clamped[0] = ((clamped[0] ?? 0) & 0x7f) | 0x40;
  const scalar = scalars.create(BigInt(`0x${hex(clamped)}`));
  const key = basePoint(scalar).toBytes();
  const sign = (key[31] ?? 0) >> 7;
  key[31] = (key[31] ?? 0) & 0x7f;
  return { scalar: sign === 1 ? scalars.neg(scalar) : scalar, key };
}
