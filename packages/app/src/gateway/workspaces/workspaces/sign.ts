import type { SignedOperation } from "@seneschal/contract/gateway";
import type { Workspace } from "@seneschal/core/keys";
import { type GatewayUnit, type SignedRequest, signedBody } from "../../ground/index.ts";
import type { WorkspaceServices } from "../services.ts";

/**
 * Checks the signature of a change to a workspace: required when it is CRK-protected, verified when it is there. Answers
 * whether there was one.
 */
export async function checkWorkspaceSignature(
  services: WorkspaceServices,
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
