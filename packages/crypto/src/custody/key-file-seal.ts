import { checkArgument } from "@seneschal/kernel";
import type { Argon2Params, CryptoProvider, Random } from "@seneschal/kernel/ports";
import { base64, concat, fromBase64, utf8 } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { passwordBytes } from "../password/password-bytes.ts";
import { ARGON2_FLOOR } from "../provider/policy.ts";
import { newPrivateKey } from "../x509/signer.ts";
import { bytesOf, type Check, members, name, only, wholeNumber } from "./shape.ts";

/** A key file that a passphrase opens. */
export interface PassphraseSeal {
  readonly name: "argon2id";
  readonly time: number;
  readonly memory_kib: number;
  readonly parallelism: number;
  /** Base64, 16 bytes. */
  readonly salt: string;
}

/** A key file that a credential of a FIDO2 security key opens: WebAuthn's extension `prf`, CTAP's `hmac-secret`. */
export interface PrfSeal {
  readonly name: "webauthn-prf";
  /** The relying party for which the credential was made, and so where it answers. */
  readonly rp_id: string;
  /** Base64, 16 to 1023 bytes. */
  readonly credential_id: string;
  /** Base64, 32 bytes: what the credential is asked for, `prf.eval.first`. */
  readonly input: string;
}

/** A key file that a P-256 key in a PKCS#11 token opens, by ECDH. */
export interface TokenSeal {
  readonly name: "pkcs11-ecdh";
  /** The token's label. */
  readonly token: string;
  /** The label of the private key in it. */
  readonly key: string;
  /** Base64, 65 bytes, SEC 1 uncompressed: the point that the key is multiplied with. Nobody keeps its logarithm. */
  readonly point: string;
}

/** What seals a key file by a device, which answers with the same 32 bytes each time it is asked. */
export type DeviceSeal = PrfSeal | TokenSeal;

/** How a key file is sealed, as it says itself. */
export type KeyFileSeal = PassphraseSeal | DeviceSeal;

export const isPassphraseSeal: Check = members({
  name: only("argon2id"),
  salt: bytesOf(16),
  time: wholeNumber(ARGON2_FLOOR.time, 64),
  memory_kib: wholeNumber(ARGON2_FLOOR.memoryKiB, 2 ** 21),
  parallelism: wholeNumber(ARGON2_FLOOR.parallelism, 64),
});

const isPrfSeal = members({ name: only("webauthn-prf"), rp_id: name, credential_id: bytesOf(16, 1023), input: bytesOf(32) });
const isTokenSeal = members({ name: only("pkcs11-ecdh"), token: name, key: name, point: bytesOf(65) });
export const isDeviceSeal: Check = (value) => isPrfSeal(value) || isTokenSeal(value);

export function passphraseSeal({ time, memoryKiB, parallelism }: Argon2Params, random: Random): PassphraseSeal {
  return { name: "argon2id", time, memory_kib: memoryKiB, parallelism, salt: base64(random(16)) };
}

/**
 * What a credential is to be asked for, to seal a key file by its answer: the output of WebAuthn's extension `prf` for `prf.eval.first` =
 * `input` (WebAuthn level 3, section 10.1.4), 32 bytes. Another input for each file, so that one answer opens one file. Throws `crypto_invalid`.
 *
 * @example
 * ```ts
 * import { systemRandom } from "@seneschal/adapters/system";
 * import { prfSeal } from "@seneschal/crypto/custody";
 * const credentialId = new Uint8Array(32); // rawId of the credential
 * console.log(prfSeal({ rpId: "custody.example", credentialId }, systemRandom).name); // webauthn-prf
 * ```
 */
export function prfSeal(given: { readonly rpId: string; readonly credentialId: Uint8Array }, random: Random): PrfSeal {
  checkArgument("given", given, "object");
  checkArgument("random", random, "function");
  const { rpId, credentialId } = given;
  const asked = { rp_id: rpId, credential_id: base64(credentialId), input: base64(random(32)) };
  const seal: PrfSeal = { name: "webauthn-prf", ...asked };
  assertDeviceSeal(seal);
  return seal;
}

/**
 * With which point a token's P-256 key is to be multiplied, to seal a key file by the product: its x coordinate, 32 bytes (SEC 1, section
 * 3.3.1; `CKM_ECDH1_DERIVE` with `CKD_NULL`). Another point for each file. Throws `crypto_invalid`.
 *
 * @example
 * ```ts
 * import { systemRandom } from "@seneschal/adapters/system";
 * import { nobleCrypto } from "@seneschal/crypto";
 * import { tokenSeal } from "@seneschal/crypto/custody";
 * console.log(tokenSeal(nobleCrypto, { token: "ada", key: "custody" }, systemRandom).point.length); // 88
 * ```
 */
export function tokenSeal(
  provider: CryptoProvider,
  given: { readonly token: string; readonly key: string },
  random: Random,
): TokenSeal {
  checkArgument("provider", provider, "object");
  checkArgument("given", given, "object");
  checkArgument("random", random, "function");
  const { token, key } = given;
  const { secret } = newPrivateKey(provider, "p256", random);
  const point = base64(provider.p256PublicKey(secret));
  secret.fill(0);
  const seal: TokenSeal = { name: "pkcs11-ecdh", token, key, point };
  assertDeviceSeal(seal);
  return seal;
}

/** The AES-256 key of a file that a passphrase seals: argon2id (RFC 9106). */
export function passphraseKey(provider: CryptoProvider, seal: PassphraseSeal, passphrase: string): Promise<Uint8Array> {
  const { time, memory_kib: memoryKiB, parallelism, salt } = seal;
  return provider.argon2id(passwordBytes(passphrase), fromBase64(salt), { time, memoryKiB, parallelism }, 32);
}

/** The AES-256 key of a file that a device seals: HKDF-SHA256 (RFC 5869) of what it answers, for this seal alone. */
export function deviceKey(provider: CryptoProvider, seal: DeviceSeal, answer: Uint8Array, domain: string): Uint8Array {
  if (answer.length !== 32) throw cryptoError("crypto_invalid", "a device answers with 32 bytes");
  const info = concat(utf8(domain), Uint8Array.of(0), utf8(canonicalJson({ ...seal })));
  return provider.hkdf("sha256", answer, new Uint8Array(), info, 32);
}

/** What a reader would refuse is not written. Throws `crypto_invalid`. */
export function assertDeviceSeal(seal: DeviceSeal): void {
  if (!isDeviceSeal(seal)) throw cryptoError("crypto_invalid", `not the members, names and sizes of a seal of kind ${seal.name}`);
}
