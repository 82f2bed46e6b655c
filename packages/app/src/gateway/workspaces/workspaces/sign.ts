import type { Workspace } from "@seneschal/core/keys";
import type { GatewayUnit, SignatureClaim } from "../../ground/index.ts";
import type { WorkspaceServices } from "../services.ts";

/**
 * Checks the signature of a change to a workspace: required when it is CRK-protected, verified when it is there. Answers
 * whether there was one.
 */
export async function checkWorkspaceSignature(
  { signatures }: WorkspaceServices,
  unit: GatewayUnit,
  { crk_protected }: Pick<Workspace, "crk_protected">,
  claim: SignatureClaim,
): Promise<boolean> {
  if (!crk_protected) return signatures.verify(unit, claim);
  await signatures.require(unit, claim);
  return true;
}
