/** A named transit key that never leaves the vault. */
export interface TransitKeyInfo {
  readonly name: string;
  readonly latestVersion: number;
  readonly minDecryptionVersion: number;
  readonly minEncryptionVersion: number;
  readonly deletionAllowed: boolean;
}

/**
 * Keeps keys and uses them without handing them out (transit).
 *
 * Laws:
 * - ciphertext is text `vault:v<N>:<base64>`; every version from `minDecryptionVersion` on decrypts.
 * - `aad` (associated data) binds: a ciphertext opens only with the bytes it was sealed with.
 * - `rotateKey` adds a version; old ciphertexts stay readable until `minDecryptionVersion` passes them.
 * - an unknown key is `key_not_found`, a sealed or unreachable vault `vault_unavailable`, bad ciphertext `decryption_failed`.
 * - plaintext and keys never appear in an error.
 */
export interface Vault {
  createKey(name: string): Promise<void>;
  keyInfo(name: string): Promise<TransitKeyInfo | undefined>;
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
  /** Destroys every version; refused (`deletion_not_allowed`) unless configured. What it sealed is lost: crypto-shred. */
  deleteKey(name: string): Promise<void>;
  encrypt(name: string, plaintext: Uint8Array, aad?: Uint8Array): Promise<string>;
  decrypt(name: string, ciphertext: string, aad?: Uint8Array): Promise<Uint8Array>;
  /** Re-seals under the newest version without showing the plaintext. */
  rewrap(name: string, ciphertext: string, aad?: Uint8Array): Promise<string>;
  health(): Promise<{ readonly sealed: boolean; readonly initialized: boolean; readonly version: string }>;
}
