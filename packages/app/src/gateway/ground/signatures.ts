import { type SignedOperation, signedOperations } from "@seneschal/contract/gateway";
import { type KeysCode, refusal, timestamp } from "@seneschal/core/keys";
import {
  bodyHash,
  type OperationPayload,
  type OperationRefusal,
  operationBytes,
  verifyOperation,
} from "@seneschal/crypto/signing";
import type { JsonObject } from "@seneschal/kernel";
import type { CryptoProvider } from "@seneschal/kernel/ports";
import { base64, bytes, utf8 } from "../../platform/bytes.ts";
import { collection } from "../../platform/collection.ts";
import { keyText } from "../../platform/index.ts";
import type { GatewayUnit } from "./call.ts";
import { currentCrk, type StoredCrk } from "./root-keys.ts";
import type { Reader } from "./store/reader.ts";

/** Bytes that somebody may sign, for one call with one body. */
export interface SigningRequest {
  readonly id: string;
  readonly org_id: string;
  readonly operation: string;
  readonly resource_id: string;
  readonly body_sha256: string;
  readonly payload: OperationPayload;
  readonly used: boolean;
  readonly created_by: string;
  readonly created_at: string;
  readonly expires_at: string;
}

export const signingRequests = collection<SigningRequest>("signing_requests", {
  by_call: {
    key: (request) => [request.org_id, request.operation, keyText(request.resource_id), request.body_sha256, request.created_at],
  },
  by_expiry: { key: (request) => [request.expires_at] },
});

/** A nonce that a signature used; kept until the signature could not be replayed any more. */
interface SpentNonce {
  readonly keep_until: string;
}

export const spentNonces = collection<SpentNonce>("spent_nonces", { by_expiry: { key: (nonce) => [nonce.keep_until] } });

/** Freshness of a signature that was made without a prepared request. Seconds. */
export interface SignatureParams {
  readonly nonce: string;
  readonly iat: number;
  readonly exp: number;
}

/** A signature and what it is said to allow. */
export interface SignatureClaim {
  readonly operation: SignedOperation;
  readonly resourceId: string;
  /** The body as sent; signature fields in it are ignored. */
  readonly body: JsonObject;
  readonly signature: string | undefined;
  readonly params: SignatureParams | undefined;
  /** Whose root key must have signed; default the caller's organisation. */
  readonly org?: string;
}

/** What a request claims for an operation on a resource: the signature is in the field that the contract names for the operation. */
export function claimOf(
  operation: SignedOperation,
  resourceId: string,
  body: {
    readonly signature?: string | undefined;
    readonly crk_signature?: string | undefined;
    readonly signature_params?: SignatureParams | undefined;
  },
  request: { readonly rawBody: Uint8Array },
): SignatureClaim {
  const field = signedOperations[operation];
  // Of several organisations each has its own.
  const signature = field === "signatures" ? undefined : body[field];
  return { operation, resourceId, body: signedBody(request.rawBody), signature, params: body.signature_params };
}

/** The body as the client sent it: what was signed is what was sent, before defaults and aliases. */
function signedBody(rawBody: Uint8Array): JsonObject {
  if (rawBody.length === 0) return {};
  const value: unknown = JSON.parse(Buffer.from(rawBody).toString("utf8"));
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

/** The facts of the server that a signature covers beside the body; the floors above know them. */
export type CoveredState = (
  crypto: CryptoProvider,
  read: Reader,
  signed: { readonly operation: string; readonly resourceId: string; readonly org: string },
) => Promise<JsonObject>;

export interface Signatures {
  /** What is signed together with the body of an operation on a resource. */
  covered(read: Reader, operation: string, resourceId: string, org: string): Promise<JsonObject>;
  /**
   * True when a signature was given and allows the operation; false when none was given. A signature that is there is
   * never ignored: throws `SIGNATURE_INVALID`, `SIGNATURE_EXPIRED`, `SIGNATURE_REPLAYED`. Uses the signature up, in the
   * transaction of the operation.
   */
  verify(unit: GatewayUnit, claim: SignatureClaim): Promise<boolean>;
  /** As `verify`, but answers what was signed. */
  accept(unit: GatewayUnit, claim: SignatureClaim): Promise<OperationPayload | undefined>;
  /** As `verify`, but throws `SIGNATURE_REQUIRED` when none was given. */
  require(unit: GatewayUnit, claim: SignatureClaim): Promise<void>;
  /** The payload for a new signing request. */
  payload(
    crk: StoredCrk,
    facts: { readonly operation: string; readonly resourceId: string; readonly bodySha256: string } & SignatureParams,
  ): OperationPayload;
}

const codes: Partial<Record<OperationRefusal, KeysCode>> = { expired: "SIGNATURE_EXPIRED", replayed: "SIGNATURE_REPLAYED" };

/** Signature verification for one instance. */
export function signatures(crypto: CryptoProvider, instanceId: string, coveredState: CoveredState): Signatures {
  const covered: Signatures["covered"] = (read, operation, resourceId, org) =>
    coveredState(crypto, read, { operation, resourceId, org });
  const payload: Signatures["payload"] = (crk, { operation, resourceId, bodySha256, nonce, iat, exp }) => ({
    v: 1,
    op: operation,
    org_id: crk.org_id,
    audience: instanceId,
    resource_type: operation.slice(0, operation.indexOf(".")),
    resource_id: resourceId,
    body_sha256: bodySha256,
    crk_id: crk.id,
    crk_epoch: crk.version,
    nonce,
    iat,
    exp,
  });

  const check = (
    unit: GatewayUnit,
    crk: StoredCrk,
    signed: OperationPayload,
    expected: OperationPayload,
    signature: string,
    spent: boolean,
  ) =>
    verifyOperation(crypto, {
      payload: signed,
      signature: bytes(signature),
      now: unit.call.now,
      seen: () => spent,
      expect: {
        op: expected.op,
        orgId: crk.org_id,
        audience: instanceId,
        resourceType: expected.resource_type,
        resourceId: expected.resource_id,
        bodySha256: expected.body_sha256,
        crk: { id: crk.id, epoch: crk.version, active: crk.status !== "revoked", publicKey: bytes(crk.public_key) },
      },
    });

  const nonceId = (org: string, nonce: string): string =>
    Buffer.from(crypto.hash("sha256", utf8(`${org}\0${nonce}`))).toString("hex");

  const refuse = (reason: OperationRefusal, expected: JsonObject = {}): never => {
    throw refusal(codes[reason] ?? "SIGNATURE_INVALID", `the signature does not allow this: ${reason.replaceAll("_", " ")}`, {
      reason,
      ...expected,
    });
  };

  const accept: Signatures["accept"] = async (unit, claim) => {
    const { operation, resourceId, signature, params } = claim;
    if (signature === undefined) return undefined;
    const org = claim.org ?? unit.call.principal.org;
    const crk = await currentCrk(unit, org);
    if (crk === undefined) return refuse("crk_inactive");
    const facts = await covered(unit, operation, resourceId, org);
    const bodySha256 = bodyHash({ ...claim.body, ...facts });
    const expected = payload(crk, { operation, resourceId, bodySha256, nonce: "", iat: 0, exp: 0, ...params });
    // Of another organisation the caller hears no more than that it did not sign this.
    const told = org === unit.call.principal.org ? judgedBy(expected, facts, params) : {};

    if (params !== undefined) {
      const id = nonceId(org, params.nonce);
      const spent = (await unit.get(spentNonces, id)) !== undefined;
      const decision = check(unit, crk, expected, expected, signature, spent);
      if (!decision.valid) return refuse(decision.reason, told);
      unit.insert(spentNonces, id, { keep_until: timestamp(decision.keepUntil) });
      return expected;
    }

    const request = await signedRequest(unit, crk, [org, operation, keyText(resourceId)], bodySha256, signature);
    if (request === undefined) return refuse("signature_invalid", told);
    if (request.used) return refuse("replayed", told);
    const decision = check(unit, crk, request.payload, expected, signature, false);
    if (!decision.valid) return refuse(decision.reason, told);
    unit.put(signingRequests, request.id, { ...request, used: true });
    return request.payload;
  };

  /**
   * The request that was signed: of those for this call the newest, or, so that a refusal can say what it is, of those for the same operation
   * on the same resource.
   */
  async function signedRequest(
    unit: GatewayUnit,
    crk: StoredCrk,
    call: readonly string[],
    bodySha256: string,
    signature: string,
  ): Promise<SigningRequest | undefined> {
    const of = (key: readonly string[]) => unit.list(signingRequests, "by_call", key, { reverse: true, limit: 50 });
    const signs = ({ payload: signed }: SigningRequest): boolean =>
      crypto.ed25519Verify(bytes(crk.public_key), operationBytes(signed), bytes(signature));
    const found = (await of([...call, bodySha256])).find(signs) ?? (await of(call)).find(signs);
    // Read by its id: the commit stands only while nobody else uses it up.
    return found && unit.get(signingRequests, found.id);
  }

  const verify: Signatures["verify"] = async (unit, claim) => (await accept(unit, claim)) !== undefined;

  return {
    covered,
    payload,
    accept,
    verify,
    async require(unit, claim) {
      if (!(await verify(unit, claim))) {
        throw refusal("SIGNATURE_REQUIRED", "this operation needs a signature by the organisation's root key", {
          field: signedOperations[claim.operation],
        });
      }
    },
  };
}

/**
 * What a signer should have signed, for the details of a refusal: without `signature_params` the payload lacks what only a signing
 * request knows, with them its bytes are there too.
 */
function judgedBy(
  { nonce, iat, exp, ...fixed }: OperationPayload,
  covered: JsonObject,
  params: SignatureParams | undefined,
): JsonObject {
  if (params === undefined) return { expected: { ...fixed }, covered };
  const expected = { ...fixed, nonce, iat, exp };
  return { expected, covered, message: base64(operationBytes(expected)) };
}
