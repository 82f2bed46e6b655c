import { CodedError } from "@seneschal/kernel";

/** The closed catalogue of what packages/crypto throws. */
export type CryptoErrorCode =
  /** An argument has a wrong length, range or encoding. */
  | "crypto_invalid"
  /** Key, nonce, tag or associated data do not fit; no more is said. */
  | "decryption_failed"
  /** A value has no canonical JSON form. */
  | "not_canonical"
  /** A threshold below 2 or above the total. */
  | "invalid_threshold"
  /** Shares do not belong, are damaged or repeated: `details.problems` names each. */
  | "share_invalid"
  /** Too few valid shares: `details.required`, `details.valid`. */
  | "threshold_not_met"
  /** A signing nonce was asked to sign twice. */
  | "nonce_used"
  /** Participants sent wrong values in a threshold protocol: `details.indexes`. */
  | "cheating"
  /** A threshold protocol message does not fit the protocol's state. */
  | "protocol_invalid"
  /** A custodian's card or key file does not hold: `details.reason`. */
  | "custody_invalid"
  /** Bytes are not the DER that was expected. */
  | "der_invalid"
  /** A certificate, request, list or OCSP message is not well formed or not supported. */
  | "x509_invalid"
  /** A Merkle size, index or stored hash does not fit. */
  | "log_invalid";

/** A {@link CodedError} of this package. Never carries secret bytes. */
export function cryptoError(
  code: CryptoErrorCode,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
  cause?: unknown,
): CodedError<CryptoErrorCode> {
  return new CodedError(code, message, details, cause);
}
