import {
  constants,
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  type KeyObject,
  privateDecrypt,
  publicEncrypt,
  randomBytes,
} from "node:crypto";
import { vaultError } from "./vault-error.ts";

/** The integrity value of RFC 5649, section 3. */
const AIV = Buffer.from("a65959a6", "hex");
const oaep = (key: KeyObject) => ({ key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: "sha256" });

/**
 * A key as Vault's transit engine imports it ("bring your own key"): the key wrapped by AES-KWP (RFC 5649) under an AES key that is used once, behind that AES
 * key encrypted by RSA-OAEP with SHA-256 under the engine's wrapping key; base64.
 */
export function wrapForImport(wrappingKeyPem: string, key: Uint8Array): string {
  let wrapping: KeyObject;
  try {
    wrapping = createPublicKey(wrappingKeyPem);
  } catch (cause) {
    throw vaultError("vault_unavailable", "the vault's wrapping key is no public key", {}, cause);
  }
  const once = randomBytes(32);
  try {
    const cipher = createCipheriv("id-aes256-wrap-pad", once, AIV);
    const wrapped = Buffer.concat([cipher.update(key), cipher.final()]);
    return Buffer.concat([publicEncrypt(oaep(wrapping), once), wrapped]).toString("base64");
  } finally {
    once.fill(0);
  }
}

/** Opens {@link wrapForImport}: the engine's side. Throws for anything else. */
export function unwrapImport(privateKey: KeyObject, ciphertext: string): Uint8Array {
  const bytes = Buffer.from(ciphertext, "base64");
  const length = (privateKey.asymmetricKeyDetails?.modulusLength ?? 0) / 8;
  const once = privateDecrypt(oaep(privateKey), bytes.subarray(0, length));
  const decipher = createDecipheriv("id-aes256-wrap-pad", once, AIV);
  return new Uint8Array(Buffer.concat([decipher.update(bytes.subarray(length)), decipher.final()]));
}
