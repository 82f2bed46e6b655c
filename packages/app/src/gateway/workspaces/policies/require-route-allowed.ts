import type { AuthoriseInput, Principal } from "@seneschal/contract";
import { refusal } from "@seneschal/core/keys";
import { recordRefusal } from "../../ground/index.ts";
import type { WorkspaceServices } from "../services.ts";
import { participationId, participations, workspaces } from "../workspaces/collections.ts";

/**
 * What policies know an operation by, by route. Not here are those whose handlers ask with more than the route tells: encrypt and
 * decrypt with their contexts, rotate and export inside their transaction, admit with the admitted identity as actor.
 */
const OPERATIONS: Readonly<Record<string, string>> = {
  updateWorkspace: "update",
  deleteWorkspace: "delete",
  consentToDeletion: "delete",
  extendWorkspace: "extend",
  archiveWorkspace: "archive",
  inviteOrganization: "invite",
  acceptInvitation: "accept",
  declineInvitation: "decline",
  requestAccess: "request-access",
  revokeAdmission: "revoke",
  setRotationPolicy: "rotation-policy",
  removeRotationPolicy: "rotation-policy",
};

/**
 * Asks the policies of a workspace about an operation of a participant's identity. Others learn nothing of its policies: what they
 * may see, the handler says. Throws `POLICY_VIOLATION` with the reason, audited.
 */
export async function requireRouteAllowed(
  services: WorkspaceServices,
  { id: route, params, now, requestId }: AuthoriseInput,
  principal: Principal,
): Promise<void> {
  const operation = Object.hasOwn(OPERATIONS, route) ? OPERATIONS[route] : undefined;
  const id = params["id"] ?? "";
  if (operation === undefined || (await services.read.get(participations, participationId(id, principal.org))) === undefined)
    return;
  const call = { principal, now, requestId };
  const purpose = (await services.read.get(workspaces, id))?.purpose ?? "";
  const question = { call, operation, workspace: id, purpose, metadata: {} };
  const denial = (await services.policies.verdicts(services.read, question)).find(({ allowed }) => !allowed);
  if (denial === undefined) return;
  const { reason } = denial;
  const error = refusal("POLICY_VIOLATION", `denied by policy: ${reason}`, { deny_reason: reason });
  await recordRefusal(services, call, route, error, id);
  throw error;
}
