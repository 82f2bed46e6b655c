import type { CryptoProvider, Random, TransitKeyInfo } from "@seneschal/kernel/ports";
import { ciphertextError, vaultError } from "./vault-error.ts";

/** Kinds of symmetric keys, by the names of the Vault HTTP interface. */
export type TransitKeyType = "aes256-gcm96" | "aes128-gcm96" | "chacha20-poly1305";

/**
 * A transit key with its versions, as a value: the embedded vault seals it into a document, the emulator holds it in
 * memory. Keys are base64 so that it is JSON.
 */
export interface TransitKey extends TransitKeyInfo {
  readonly type: TransitKeyType;
  /** Every context has its own key, derived by HKDF. */
  readonly derived: boolean;
  /** Equal plaintexts under one context give equal ciphertexts; needs `derived`. */
  readonly convergent: boolean;
  /** Base64 key by version number. */
  readonly versions: Readonly<Record<string, { readonly key: string; readonly createdAt: number }>>;
}

/** What an encryption is made with. `context` selects the derived key, `aad` is bound. */
export interface TransitUse {
  readonly aad?: Uint8Array;
  readonly context?: Uint8Array;
  /** 0 or absent: the newest. */
  readonly version?: number;
}

const EMPTY = new Uint8Array();
const PREFIX = "vault:v";

/** A new key with version 1. */
export function newTransitKey(
  name: string,
  options: {
    readonly random: Random;
    readonly now: number;
    readonly type?: TransitKeyType;
    readonly derived?: boolean;
    readonly convergent?: boolean;
  },
): TransitKey {
  const { random, now, type = "aes256-gcm96", derived = false, convergent = false } = options;
  if (convergent && !derived)
    throw vaultError("vault_invalid", "convergent encryption requires a derived key", { reason: "derived" });
  return addVersion(
    {
      name,
      type,
      derived,
      convergent,
      latestVersion: 0,
      minDecryptionVersion: 1,
      minEncryptionVersion: 0,
      minAvailableVersion: 0,
      deletionAllowed: false,
      versions: {},
    },
    random,
    now,
  );
}

/** The key with one more version. */
export function addVersion(key: TransitKey, random: Random, now: number): TransitKey {
  const latestVersion = key.latestVersion + 1;
  const bytes = random(keyLength(key.type));
  const entry = { key: Buffer.from(bytes).toString("base64"), createdAt: now };
  bytes.fill(0);
  return { ...key, latestVersion, versions: { ...key.versions, [latestVersion]: entry } };
}

/** The key with other minima. Throws `vault_invalid` and changes nothing when one does not fit. */
export function configure(
  key: TransitKey,
  config: { readonly minDecryptionVersion?: number; readonly minEncryptionVersion?: number; readonly deletionAllowed?: boolean },
): TransitKey {
  const next = { ...key, ...config };
  const { minDecryptionVersion: decryption, minEncryptionVersion: encryption, minAvailableVersion: available } = next;
  const refuse = (reason: string, message: string) => vaultError("vault_invalid", message, { reason });
  if (!Number.isInteger(decryption) || decryption < 1)
    throw refuse("min_decryption_version", "min decryption version must be positive");
  if (!Number.isInteger(encryption) || encryption < 0)
    throw refuse("min_encryption_version", "min encryption version cannot be negative");
  if (decryption > key.latestVersion)
    throw refuse(
      "min_decryption_version",
      `cannot set min decryption version of ${decryption}, latest key version is ${key.latestVersion}`,
    );
  if (encryption > key.latestVersion)
    throw refuse(
      "min_encryption_version",
      `cannot set min encryption version of ${encryption}, latest key version is ${key.latestVersion}`,
    );
  if (encryption > 0 && encryption < decryption)
    throw refuse("min_encryption_version", "min encryption version should not be less than min decryption version");
  if (decryption < available || (encryption > 0 && encryption < available))
    throw refuse("min_available_version", "minimum versions cannot be below what was trimmed");
  return next;
}

/** The key without the versions below `minAvailableVersion`. Throws `vault_invalid`. */
export function trim(key: TransitKey, minAvailableVersion: number): TransitKey {
  const refuse = (message: string) => vaultError("vault_invalid", message, { reason: "min_available_version" });
  if (!Number.isInteger(minAvailableVersion) || minAvailableVersion < 1)
    throw refuse("minimum available version must be positive");
  if (minAvailableVersion < key.minAvailableVersion) throw refuse("minimum available version cannot be decremented");
  if (key.minEncryptionVersion === 0)
    throw refuse("minimum available version cannot be set when minimum encryption version is not set");
  if (minAvailableVersion > key.minDecryptionVersion || minAvailableVersion > key.minEncryptionVersion) {
    throw refuse("minimum available version cannot be above the minimum decryption or encryption version");
  }
  const kept = Object.entries(key.versions).filter(([version]) => Number(version) >= minAvailableVersion);
  return { ...key, minAvailableVersion, versions: Object.fromEntries(kept) };
}

/** `vault:v<N>:` + base64(nonce 12 || ciphertext || tag). Throws `vault_invalid`. */
export function encryptWith(
  crypto: CryptoProvider,
  random: Random,
  key: TransitKey,
  plaintext: Uint8Array,
  use: TransitUse = {},
): string {
  const version = use.version === undefined || use.version === 0 ? key.latestVersion : use.version;
  if (!Number.isInteger(version) || version < 0 || version > key.latestVersion) {
    throw vaultError("vault_invalid", "requested version for encryption is higher than the latest key version", {
      reason: "key_version",
    });
  }
  if (version < Math.max(1, key.minEncryptionVersion)) {
    throw vaultError("vault_invalid", "requested version for encryption is less than the minimum encryption key version", {
      reason: "key_version",
    });
  }
  const { cipher, hmac } = keyOf(crypto, key, version, use.context);
  const nonce = hmac === undefined ? random(12) : crypto.hmac("sha256", hmac, plaintext).slice(0, 12);
  const seal = key.type === "chacha20-poly1305" ? crypto.chachaSeal : crypto.seal;
  const sealed = seal(cipher, nonce, plaintext, use.aad ?? EMPTY);
  return `${PREFIX}${version}:${Buffer.concat([nonce, sealed]).toString("base64")}`;
}

/** Opens {@link encryptWith}. Throws `decryption_failed` with its reason, `vault_invalid` for a missing context. */
export function decryptWith(crypto: CryptoProvider, key: TransitKey, ciphertext: string, use: TransitUse = {}): Uint8Array {
  if (!ciphertext.startsWith(PREFIX)) throw ciphertextError("prefix");
  const parts = ciphertext.slice(PREFIX.length).split(":");
  const [digits = "", body = ""] = parts;
  if (parts.length !== 2) throw ciphertextError("fields");
  if (!/^\d{1,9}$/.test(digits)) throw ciphertextError("version");
  const version = Number(digits);
  if (version > key.latestVersion) throw ciphertextError("version_too_new");
  if (version < 1 || version < key.minDecryptionVersion || version < key.minAvailableVersion)
    throw ciphertextError("version_disallowed");
  const bytes = Buffer.from(body, "base64");
  if (bytes.toString("base64") !== body) throw ciphertextError("base64");
  if (bytes.length < 12 + 16) throw ciphertextError("authentication");
  const { cipher } = keyOf(crypto, key, version, use.context);
  const open = key.type === "chacha20-poly1305" ? crypto.chachaOpen : crypto.open;
  try {
    return open(cipher, bytes.subarray(0, 12), bytes.subarray(12), use.aad ?? EMPTY);
  } catch {
    throw ciphertextError("authentication");
  }
}

/** The public facts of a key. */
export function infoOf(key: TransitKey): TransitKeyInfo {
  const { name, latestVersion, minDecryptionVersion, minEncryptionVersion, minAvailableVersion, deletionAllowed } = key;
  return { name, latestVersion, minDecryptionVersion, minEncryptionVersion, minAvailableVersion, deletionAllowed };
}

function keyOf(crypto: CryptoProvider, key: TransitKey, version: number, context: Uint8Array | undefined) {
  const entry = key.versions[String(version)];
  if (entry === undefined) throw ciphertextError("version_disallowed");
  const bytes = new Uint8Array(Buffer.from(entry.key, "base64"));
  if (!key.derived) return { cipher: bytes, hmac: undefined };
  if (context === undefined || context.length === 0) {
    throw vaultError("vault_invalid", "missing 'context' for key derivation; the key was created using a derived key", {
      reason: "context",
    });
  }
  const length = keyLength(key.type);
  const derived = crypto.hkdf("sha256", bytes, EMPTY, context, key.convergent ? length + 32 : length);
  return { cipher: derived.slice(0, length), hmac: key.convergent ? derived.slice(length) : undefined };
}

function keyLength(type: TransitKeyType): number {
  return type === "aes128-gcm96" ? 16 : 32;
}
