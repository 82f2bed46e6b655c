import type { JsonObject } from "@seneschal/kernel";
import { checkArgument } from "@seneschal/kernel";
import { concat, hex, utf8 } from "../bytes.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { nobleCrypto } from "../provider/noble.ts";

/**
 * What a key signs, one prefix each. A signature made for one purpose never verifies for another. The zero byte behind
 * the prefix keeps these strings apart from DER (first byte 0x30) and from signed notes (never a zero byte).
 */
export const SIGNING_PREFIXES = {
  /** An operation that the customer root key allows; payload {@link OperationPayload}. */
  operation: "seneschal/operation/v1",
  /** An exported workspace bundle. */
  bundle: "seneschal/workspace-bundle/v1",
  /** A backup. */
  backup: "seneschal/backup/v1",
  /** A statement between federated organisations. */
  federation: "seneschal/federation/v1",
  /** A custodian's card: the proofs that its maker holds both private keys. */
  custodianCard: "seneschal/custodian-card/v1",
  /** An entry of a ceremony's transcript. */
  custodyEntry: "seneschal/custody-entry/v1",
} as const;

export type SigningPurpose = keyof typeof SIGNING_PREFIXES;

/** Body fields that carry or accompany a signature and are therefore not signed. */
const SIGNATURE_FIELDS = ["signature", "crk_signature", "signatures", "signature_params"];

/**
 * The exact bytes to sign: `prefix || 0x00 || JCS(payload)`. Pure Ed25519, no pre-hash. Throws `not_canonical`.
 *
 * @example
 * ```ts
 * import { fromUtf8 } from "@seneschal/crypto";
 * import { signingBytes } from "@seneschal/crypto/signing";
 * console.log(fromUtf8(signingBytes("backup", { b: 1, a: 2 })).replace("\0", "|")); // seneschal/backup/v1|{"a":2,"b":1}
 * ```
 */
export function signingBytes(purpose: SigningPurpose, payload: object): Uint8Array {
  return concat(utf8(SIGNING_PREFIXES[purpose]), Uint8Array.of(0), utf8(canonicalJson(payload)));
}

/** Lower-case hex SHA-256 over the JCS form of a request body without its signature fields (top level only). */
export function bodyHash(body: JsonObject): string {
  checkArgument("body", body, "object");
  const signed = Object.fromEntries(Object.entries(body).filter(([name]) => !SIGNATURE_FIELDS.includes(name)));
  return hex(nobleCrypto.hash("sha256", utf8(canonicalJson(signed))));
}
