import { CodedError } from "@seneschal/kernel";
import type { VaultErrorCode } from "@seneschal/kernel/ports";

/** Why a ciphertext does not open. The texts are those of the Vault HTTP interface, so that both sides map by one table. */
export const CIPHERTEXT_FAULTS = {
  prefix: "invalid ciphertext: no prefix",
  fields: "invalid ciphertext: wrong number of fields",
  version: "invalid ciphertext: version number could not be decoded",
  version_too_new: "invalid ciphertext: version is too new",
  version_disallowed: "ciphertext or signature version is disallowed by policy (too old)",
  base64: "invalid ciphertext: could not decode base64",
  authentication: "cipher: message authentication failed",
} as const;

export type CiphertextFault = keyof typeof CIPHERTEXT_FAULTS;

/** A {@link CodedError} of the Vault port. */
export function vaultError(
  code: VaultErrorCode,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
  cause?: unknown,
): CodedError<VaultErrorCode> {
  return new CodedError(code, message, details, cause);
}

/** `decryption_failed` with its reason. */
export function ciphertextError(reason: CiphertextFault): CodedError<VaultErrorCode> {
  return vaultError("decryption_failed", CIPHERTEXT_FAULTS[reason], { reason });
}

/** Names of transit keys: they become path segments and document ids. Throws `vault_invalid`. */
export function assertKeyName(name: string): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/.test(name)) throw vaultError("vault_invalid", "not a key name", { reason: "name" });
}
