import type { JsonObject } from "@seneschal/kernel";
import type { SignatureParams } from "./signatures.ts";

/** The body as the client sent it: what was signed is what was sent, before defaults and aliases. */
export function signedBody(rawBody: Uint8Array): JsonObject {
  if (rawBody.length === 0) return {};
  const value: unknown = JSON.parse(Buffer.from(rawBody).toString("utf8"));
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

/** The signature fields of a body and the bytes that it came in. */
export interface SignedRequest {
  readonly signature: string | undefined;
  readonly signature_params: SignatureParams | undefined;
  readonly rawBody: Uint8Array;
}

/** The request's signature fields. */
export function signedRequest(
  body: { readonly signature?: string | undefined; readonly signature_params?: SignatureParams | undefined },
  request: { readonly rawBody: Uint8Array },
): SignedRequest {
  return { signature: body.signature, signature_params: body.signature_params, rawBody: request.rawBody };
}
