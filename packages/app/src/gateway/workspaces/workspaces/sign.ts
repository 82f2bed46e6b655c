import type { SignedOperation } from "@seneschal/contract/gateway";
import type { Workspace } from "@seneschal/core/keys";
import type { GatewayUnit } from "../../ground/call.ts";
import type { SignatureParams } from "../../ground/signatures/signatures.ts";
import { signedBody } from "../../ground/signatures/signed-body.ts";
import type { GatewayServices } from "../../services.ts";

/** The signature fields of a body and the bytes that it came in. */
export interface SignedRequest {
  readonly signature: string | undefined;
  readonly signature_params: SignatureParams | undefined;
  readonly rawBody: Uint8Array;
}

/**
 * Checks the signature of a change to a workspace: required when it is CRK-protected, verified when it is there. Answers
 * whether there was one.
 */
export async function checkWorkspaceSignature(
  services: GatewayServices,
  unit: GatewayUnit,
  workspace: Pick<Workspace, "id" | "crk_protected">,
  operation: SignedOperation,
  request: SignedRequest,
): Promise<boolean> {
  const claim = {
    operation,
    resourceId: workspace.id,
    body: signedBody(request.rawBody),
    signature: request.signature,
    params: request.signature_params,
  };
  if (!workspace.crk_protected) return services.signatures.verify(unit, claim);
  await services.signatures.require(unit, claim);
  return true;
}

/** The request's signature fields. */
export function signedRequest(
  body: { readonly signature?: string | undefined; readonly signature_params?: SignatureParams | undefined },
  request: { readonly rawBody: Uint8Array },
): SignedRequest {
  return { signature: body.signature, signature_params: body.signature_params, rawBody: request.rawBody };
}
