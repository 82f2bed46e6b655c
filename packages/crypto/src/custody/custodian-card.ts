import { checkArgument } from "@seneschal/kernel";
import type { CryptoProvider, Random } from "@seneschal/kernel/ports";
import { base64, fromBase64, hex, utf8 } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { signingBytes } from "../signing/signing-bytes.ts";
import type { CustodianKeys } from "./custodian-keys.ts";
import { bytesOf, type Check, members, name, only } from "./shape.ts";
import { xeddsaSign, xeddsaVerify } from "./xeddsa.ts";

/** What everybody may know of a custodian: who it is and its public keys, with the proofs that it holds both private ones. */
export interface CustodianCard {
  readonly v: 1;
  readonly org_id: string;
  readonly custodian_id: string;
  /** Base64 Ed25519 public key. */
  readonly signing_key: string;
  /** Base64 X25519 public key. */
  readonly agreement_key: string;
  readonly proofs: {
    /** Base64 Ed25519 signature over the card without its proofs. */
    readonly signing: string;
    /** Base64 XEdDSA signature over the same bytes. */
    readonly agreement: string;
  };
}

/** Exactly the members of a card, each of its size. Says nothing about the proofs. */
export const isCard: Check = members({
  v: only(1),
  org_id: name,
  custodian_id: name,
  signing_key: bytesOf(32),
  agreement_key: bytesOf(32),
  proofs: members({ signing: bytesOf(64), agreement: bytesOf(64) }),
});

/**
 * Makes the public card of a custodian's keys.
 *
 * @example
 * ```ts
 * import { systemRandom } from "@seneschal/adapters/system";
 * import { nobleCrypto } from "@seneschal/crypto";
 * import { CustodianKeys, custodianCard, readCard } from "@seneschal/crypto/custody";
 * const keys = CustodianKeys.generate(nobleCrypto, systemRandom);
 * const card = custodianCard(nobleCrypto, keys, { orgId: "acme", custodianId: "ada" }, systemRandom);
 * console.log(readCard(nobleCrypto, card).custodian_id); // ada
 * ```
 */
export function custodianCard(
  provider: CryptoProvider,
  keys: CustodianKeys,
  who: { readonly orgId: string; readonly custodianId: string },
  random: Random,
): CustodianCard {
  checkArgument("provider", provider, "object");
  checkArgument("keys", keys, "object");
  checkArgument("who", who, "object");
  checkArgument("random", random, "function");
  const claim = {
    ...({ v: 1, org_id: who.orgId, custodian_id: who.custodianId } as const),
    signing_key: base64(keys.signingKey),
    agreement_key: base64(keys.agreementKey),
  };
  if (!name(claim.org_id) || !name(claim.custodian_id)) {
    throw cryptoError("crypto_invalid", "names must be 1 to 128 characters in NFC, none of them a control or format character");
  }
  const message = signingBytes("custodianCard", claim);
  const secrets = keys.toBytes();
  const agreement = xeddsaSign(provider, secrets.subarray(32), message, random);
  secrets.fill(0);
  return { ...claim, proofs: { signing: base64(keys.sign(message)), agreement: base64(agreement) } };
}

/**
 * Takes a value that should be a card. Throws `custody_invalid` with `details.reason` `malformed` (a member is missing, unknown or of
 * a wrong size) or `proof` (a proof of possession does not hold).
 */
export function readCard(provider: CryptoProvider, value: unknown): CustodianCard {
  if (!isCard(value)) throw cryptoError("custody_invalid", "not a custodian's card", { reason: "malformed" });
  const card = value as CustodianCard;
  if (!holds(provider, card)) throw cryptoError("custody_invalid", "a proof of possession does not hold", { reason: "proof" });
  return card;
}

/** Lower-case hex SHA-256 of a card's canonical JSON without its proofs: what two persons compare when they enrol a third. */
export function cardFingerprint(provider: Pick<CryptoProvider, "hash">, card: CustodianCard): string {
  checkArgument("provider", provider, "object");
  checkArgument("card", card, "object");
  const { proofs: _, ...claim } = card;
  return hex(provider.hash("sha256", utf8(canonicalJson(claim))));
}

function holds(provider: CryptoProvider, card: CustodianCard): boolean {
  const { proofs, ...claim } = card;
  const message = signingBytes("custodianCard", claim);
  const [signing, agreement] = [fromBase64(card.signing_key), fromBase64(card.agreement_key)];
  return (
    provider.ed25519Verify(signing, message, fromBase64(proofs.signing)) &&
    xeddsaVerify(provider, agreement, message, fromBase64(proofs.agreement))
  );
}
