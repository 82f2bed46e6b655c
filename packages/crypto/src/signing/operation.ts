import { checkArgument } from "@seneschal/kernel";
import type { CryptoProvider } from "@seneschal/kernel/ports";
import { LONE_SURROGATE } from "../json/lone-surrogate.ts";
import { signingBytes } from "./signing-bytes.ts";

/**
 * What an organisation signs to allow one operation on one resource, once, in a window of time. Nothing in it is chosen
 * by the server after signing. Times are whole seconds since the epoch.
 */
export interface OperationPayload {
  readonly v: 1;
  /** For example `workspace.delete`. */
  readonly op: string;
  /** The signing organisation. */
  readonly org_id: string;
  /** The instance that shall act: a signature for one gateway is worthless at another. */
  readonly audience: string;
  readonly resource_type: string;
  readonly resource_id: string;
  /** {@link bodyHash} of the request. */
  readonly body_sha256: string;
  readonly crk_id: string;
  readonly crk_epoch: number;
  /** At least 16 random bytes as text. */
  readonly nonce: string;
  readonly iat: number;
  readonly exp: number;
}

/** Why a signed operation is refused. */
export type OperationRefusal =
  | "malformed"
  | "crk_inactive"
  | "wrong_org"
  | "wrong_audience"
  | "wrong_operation"
  | "wrong_resource"
  | "body_mismatch"
  | "wrong_key"
  | "old_epoch"
  | "lifetime_too_long"
  | "not_yet_valid"
  | "expired"
  | "signature_invalid"
  | "replayed";

/** On success the caller records `nonce` until `keepUntil` (milliseconds) in the transaction of the operation. */
export type OperationDecision =
  | { readonly valid: true; readonly nonce: string; readonly keepUntil: number }
  | { readonly valid: false; readonly reason: OperationRefusal };

export interface OperationExpectation {
  readonly op: string;
  readonly orgId: string;
  readonly audience: string;
  readonly resourceType: string;
  readonly resourceId: string;
  readonly bodySha256: string;
  /** The organisation's root key as the server knows it. */
  readonly crk: { readonly id: string; readonly epoch: number; readonly active: boolean; readonly publicKey: Uint8Array };
}

/** Default limits: an offline ceremony may take a day; clocks may differ by a minute. */
const MAX_LIFETIME_S = 24 * 3600;
const SKEW_S = 60;

/** The exact bytes to sign for an operation. */
export function operationBytes(payload: OperationPayload): Uint8Array {
  return signingBytes("operation", payload);
}

/**
 * Decides whether a signature allows an operation now. Never throws for bad input: the answer is a value with the first
 * reason. `now` is milliseconds; `seen` tells whether the nonce was used before.
 *
 * @example
 * ```ts
 * import { nobleCrypto } from "@seneschal/crypto";
 * import { bodyHash, operationBytes, verifyOperation } from "@seneschal/crypto/signing";
 * const seed = new Uint8Array(32).fill(1);
 * const crk = { id: "k1", epoch: 1, active: true, publicKey: nobleCrypto.ed25519PublicKey(seed) };
 * const payload = {
 *   v: 1, op: "workspace.delete", org_id: "acme", audience: "gw-1", resource_type: "workspace", resource_id: "w1",
 *   body_sha256: bodyHash({}), crk_id: "k1", crk_epoch: 1, nonce: "5b8efff798038103d269b633813fc60c", iat: 1000, exp: 1600,
 * } as const;
 * const decision = verifyOperation(nobleCrypto, {
 *   payload, signature: nobleCrypto.ed25519Sign(seed, operationBytes(payload)), now: 1_200_000, seen: () => false,
 *   expect: { op: "workspace.delete", orgId: "acme", audience: "gw-1", resourceType: "workspace", resourceId: "w1",
 *     bodySha256: bodyHash({}), crk },
 * });
 * console.log(decision.valid); // true
 * ```
 */
export function verifyOperation(
  provider: Pick<CryptoProvider, "ed25519Verify">,
  input: {
    readonly payload: OperationPayload;
    readonly signature: Uint8Array;
    readonly expect: OperationExpectation;
    readonly now: number;
    readonly seen: (nonce: string) => boolean;
    readonly maxLifetimeSeconds?: number;
    readonly skewSeconds?: number;
  },
): OperationDecision {
  checkArgument("provider", provider, "object");
  checkArgument("input", input, "object");
  const { payload, signature, expect, now, seen, maxLifetimeSeconds = MAX_LIFETIME_S, skewSeconds = SKEW_S } = input;
  const seconds = now / 1000;
  const reason = ((): OperationRefusal | undefined => {
    if (!isWellFormed(payload)) return "malformed";
    if (!expect.crk.active) return "crk_inactive";
    if (payload.org_id !== expect.orgId) return "wrong_org";
    if (payload.audience !== expect.audience) return "wrong_audience";
    if (payload.op !== expect.op) return "wrong_operation";
    if (payload.resource_type !== expect.resourceType || payload.resource_id !== expect.resourceId) return "wrong_resource";
    if (payload.body_sha256 !== expect.bodySha256) return "body_mismatch";
    if (payload.crk_id !== expect.crk.id) return "wrong_key";
    if (payload.crk_epoch !== expect.crk.epoch) return "old_epoch";
    if (payload.exp - payload.iat > maxLifetimeSeconds) return "lifetime_too_long";
    if (seconds < payload.iat - skewSeconds) return "not_yet_valid";
    if (seconds >= payload.exp) return "expired";
    if (!provider.ed25519Verify(expect.crk.publicKey, operationBytes(payload), signature)) return "signature_invalid";
    // Last, so that a forged request cannot tell which nonces were used.
    return seen(payload.nonce) ? "replayed" : undefined;
  })();
  if (reason !== undefined) return { valid: false, reason };
  return { valid: true, nonce: payload.nonce, keepUntil: payload.exp * 1000 };
}

const TEXT_FIELDS = ["op", "org_id", "audience", "resource_type", "resource_id", "body_sha256", "crk_id", "nonce"] as const;
const FIELDS = new Set<string>([...TEXT_FIELDS, "v", "crk_epoch", "iat", "exp"]);

/** Whether a payload has exactly the members of an operation, each as it must be. Never throws. */
export function isWellFormed(payload: OperationPayload): boolean {
  return (
    payload.v === 1 &&
    Object.keys(payload).every((name) => FIELDS.has(name)) &&
    TEXT_FIELDS.every((name) => typeof payload[name] === "string" && !LONE_SURROGATE.test(payload[name])) &&
    payload.nonce.length >= 22 &&
    /^[0-9a-f]{64}$/.test(payload.body_sha256) &&
    [payload.crk_epoch, payload.iat, payload.exp].every((value) => Number.isSafeInteger(value) && value >= 0) &&
    payload.exp > payload.iat
  );
}
