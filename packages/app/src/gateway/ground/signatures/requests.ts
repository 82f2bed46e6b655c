import type { OperationPayload } from "@seneschal/crypto/signing";
import { collection } from "../../../platform/collection.ts";
import { keyText } from "../../../platform/index.ts";

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
