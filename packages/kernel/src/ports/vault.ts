/** A named transit key that never leaves the vault. */
export interface TransitKeyInfo {
  readonly name: string;
  readonly latestVersion: number;
  /** Ciphertexts of earlier versions are refused. */
  readonly minDecryptionVersion: number;
  /** Lowest version that may encrypt; 0: no minimum was set. */
  readonly minEncryptionVersion: number;
  /** Earlier versions are destroyed; 0: nothing was trimmed. */
  readonly minAvailableVersion: number;
  readonly deletionAllowed: boolean;
}

/** The codes that a vault throws. */
export type VaultErrorCode =
  | "key_not_found"
  /** `details.reason` tells prefix, fields, version, version_too_new, version_disallowed, base64 and authentication apart. */
  | "decryption_failed"
  | "deletion_not_allowed"
  /** A name, version or setting that the key does not allow; nothing changed. */
  | "vault_invalid"
  /** Sealed, unreachable, not in time, or the login was refused. */
  | "vault_unavailable";

/** One answer of a batch; a failed item leaves its neighbours alone. */
export type BatchItem<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly code: VaultErrorCode; readonly reason: string };

/**
 * Keeps keys and uses them without handing them out (transit).
 *
 * Laws (each is a test of the exported conformance suite):
 * - key names match `[A-Za-z0-9][A-Za-z0-9_.-]{0,127}`; others are `vault_invalid`.
 * - `createKey` of an existing key changes nothing. An unknown key is `key_not_found` everywhere else and never comes
 *   into being by use.
 * - ciphertext is text `vault:v<N>:<base64>`; every version from `minDecryptionVersion` on decrypts, and lowering the
 *   minimum again makes older ones readable again.
 * - `aad` (associated data) binds: a ciphertext opens only with the bytes it was sealed with; absent equals empty.
 * - two encryptions of one plaintext differ.
 * - `rotateKey` adds a version and returns its number; concurrent rotations each add one.
 * - minima are whole numbers from 1 (encryption: 0) to the newest version, encryption not below decryption unless 0, and
 *   neither below what was trimmed.
 * - `trimKey` destroys versions below a number for good; refused unless both minima are set and not below it; it never
 *   goes back.
 * - `deleteKey` destroys every version; refused unless configured. What it sealed is lost: crypto-shred.
 * - batches answer item by item, in order.
 * - a sealed or unreachable vault is `vault_unavailable`; plaintext and keys never appear in an error.
 */
export interface Vault {
  createKey(name: string): Promise<void>;
  keyInfo(name: string): Promise<TransitKeyInfo | undefined>;
  /** Sorted names. */
  listKeys(): Promise<readonly string[]>;
  rotateKey(name: string): Promise<number>;
  configureKey(
    name: string,
    config: {
      readonly minDecryptionVersion?: number;
      readonly minEncryptionVersion?: number;
      readonly deletionAllowed?: boolean;
    },
  ): Promise<void>;
  trimKey(name: string, minAvailableVersion: number): Promise<void>;
  deleteKey(name: string): Promise<void>;
  encrypt(name: string, plaintext: Uint8Array, aad?: Uint8Array): Promise<string>;
  decrypt(name: string, ciphertext: string, aad?: Uint8Array): Promise<Uint8Array>;
  /** Re-seals under the newest version without showing the plaintext. */
  rewrap(name: string, ciphertext: string, aad?: Uint8Array): Promise<string>;
  encryptMany(
    name: string,
    items: readonly { readonly plaintext: Uint8Array; readonly aad?: Uint8Array }[],
  ): Promise<readonly BatchItem<string>[]>;
  decryptMany(
    name: string,
    items: readonly { readonly ciphertext: string; readonly aad?: Uint8Array }[],
  ): Promise<readonly BatchItem<Uint8Array>[]>;
  health(): Promise<{ readonly sealed: boolean; readonly initialized: boolean; readonly version: string }>;
}
