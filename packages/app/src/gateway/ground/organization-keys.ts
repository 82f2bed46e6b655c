import { createHash } from "node:crypto";
import type { CryptoProvider, Random, Vault } from "@seneschal/kernel/ports";
import { base64, bytes, utf8 } from "../../platform/bytes.ts";
import { collection } from "../../platform/collection.ts";
import type { Unit } from "./store/unit-of-work.ts";

/** The name of an organisation's key-encryption key in the vault. */
export function kekName(org: string): string {
  return `org-kek-${vaultName(org)}`;
}

/** What is left of the 128 characters of a vault key name behind our prefixes. */
const LONGEST = 100;

/**
 * A collision-free spelling of any text as a vault key name: every byte of its UTF-8 that is not a letter, digit or `-`
 * becomes `_` and two hex digits; what would be too long becomes `sha256.` and its digest. No spelling holds a dot otherwise.
 */
export function vaultName(text: string): string {
  if (text.length <= LONGEST && /^[A-Za-z0-9-]*$/.test(text)) return text;
  const bytes = Buffer.from(text, "utf8");
  const spelled = Array.from(bytes, (byte) => {
    const char = String.fromCharCode(byte);
    return /[A-Za-z0-9-]/.test(char) ? char : `_${byte.toString(16).padStart(2, "0")}`;
  }).join("");
  return spelled.length <= LONGEST ? spelled : `sha256.${createHash("sha256").update(bytes).digest("hex")}`;
}

/**
 * An organisation's working keys, which the gateway uses on its behalf: one signs bundles, one receives sealed keys. The
 * secret halves are sealed by the vault under the organisation's key-encryption key. The CRK is not among them.
 */
interface StoredKeys {
  readonly org_id: string;
  readonly signing_public: string;
  readonly signing_sealed: string;
  readonly exchange_public: string;
  readonly exchange_sealed: string;
}

export const organizationKeyRecords = collection<StoredKeys>("organization_keys");

/** The public halves. */
export interface PublicKeys {
  readonly signing: Uint8Array;
  readonly exchange: Uint8Array;
}

export interface OrganizationKeys {
  /** Makes the organisation's vault key unless it is there. Idempotent, outside of any transaction. */
  ensureKek(org: string): Promise<string>;
  /** Public halves; made on first use. */
  publicKeys(unit: Unit, org: string): Promise<PublicKeys>;
  /** Public halves of an organisation that has keys here. */
  known(unit: Unit, org: string): Promise<PublicKeys | undefined>;
  sign(unit: Unit, org: string, message: Uint8Array): Promise<Uint8Array>;
  /** Lends the exchange secret and zeroes it afterwards. */
  withExchangeSecret<R>(unit: Unit, org: string, use: (secret: Uint8Array) => R): Promise<R>;
}

/** Working keys over a vault. */
export function organizationKeys(vault: Vault, crypto: CryptoProvider, random: Random): OrganizationKeys {
  const present = new Set<string>();

  const ensureKek = async (org: string): Promise<string> => {
    const name = kekName(org);
    if (present.has(name)) return name;
    if ((await vault.keyInfo(name)) === undefined) await vault.createKey(name);
    present.add(name);
    return name;
  };

  const aad = (org: string, use: string): Uint8Array => utf8(`seneschal/organization-key/v1\0${use}\0${org}`);

  const record = async (unit: Unit, org: string): Promise<StoredKeys> => {
    const known = await unit.get(organizationKeyRecords, org);
    if (known !== undefined) return known;
    const kek = await ensureKek(org);
    const signing = random(32);
    const exchange = random(32);
    const made: StoredKeys = {
      org_id: org,
      signing_public: base64(crypto.ed25519PublicKey(signing)),
      signing_sealed: await vault.encrypt(kek, signing, aad(org, "signing")),
      exchange_public: base64(crypto.x25519PublicKey(exchange)),
      exchange_sealed: await vault.encrypt(kek, exchange, aad(org, "exchange")),
    };
    signing.fill(0);
    exchange.fill(0);
    unit.insert(organizationKeyRecords, org, made);
    return made;
  };

  const halves = (stored: StoredKeys): PublicKeys => ({
    signing: bytes(stored.signing_public),
    exchange: bytes(stored.exchange_public),
  });

  return {
    ensureKek,
    async publicKeys(unit, org) {
      return halves(await record(unit, org));
    },
    async known(unit, org) {
      const stored = await unit.get(organizationKeyRecords, org);
      return stored === undefined ? undefined : halves(stored);
    },
    async sign(unit, org, message) {
      const stored = await record(unit, org);
      const seed = await vault.decrypt(kekName(org), stored.signing_sealed, aad(org, "signing"));
      try {
        return crypto.ed25519Sign(seed, message);
      } finally {
        seed.fill(0);
      }
    },
    async withExchangeSecret(unit, org, use) {
      const stored = await record(unit, org);
      const secret = await vault.decrypt(kekName(org), stored.exchange_sealed, aad(org, "exchange"));
      try {
        return use(secret);
      } finally {
        secret.fill(0);
      }
    },
  };
}
