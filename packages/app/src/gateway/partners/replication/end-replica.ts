import { type Replica, revokeAdmission, stepInvitation } from "@seneschal/core/keys";
import type { GatewayUnit } from "../../ground/index.ts";
import {
  admissions,
  consentId,
  dekUseId,
  dekUseRecords,
  deletionConsents,
  invitations,
  participationId,
  participations,
  policies,
  workspaces,
} from "../../workspaces/index.ts";
import { dispatches, dispatchId, receivedId, replicaId, replicas } from "../collections.ts";
import type { PartnerServices } from "../services.ts";
import { dropPolicies } from "./take-policies.ts";

/**
 * Ends an organisation's part in a workspace of another instance: its wrapped keys are destroyed, its admissions revoked, an open
 * invitation with them. With the last organisation here the workspace is gone.
 */
export async function endReplica(
  services: PartnerServices,
  unit: GatewayUnit,
  replica: Replica,
  reason: "owner" | "federation" | "refused" | "expired",
): Promise<void> {
  const { workspace_id: id, org_id: org, federation_id } = replica;
  const { now } = unit.call;
  const invitation = await unit.get(invitations, receivedId(replica));
  if (invitation?.status === "pending") {
    unit.put(
      invitations,
      invitation.id,
      stepInvitation({ ...invitation, expires_at: "9999-12-31T23:59:59.999Z" }, "revoke", now),
    );
  }
  for (const { id: admissionId } of await unit.list(admissions, "active", [id, org])) {
    const admission = await unit.get(admissions, admissionId);
    const by = { id: unit.call.principal.id, org, ownsWorkspace: true };
    if (admission?.status === "active") unit.put(admissions, admissionId, revokeAdmission(admission, by, now));
  }
  for (const kind of ["answer", "consent"] as const) {
    unit.delete(dispatches, dispatchId({ kind, federation_id, workspace_id: id }));
  }
  unit.delete(deletionConsents, consentId(id, org));
  unit.delete(replicas, replicaId(id, org));
  await vacate(services, unit, id, org);
  unit.record({
    type: "workspace.leave",
    org,
    workspace: id,
    metadata: { org_id: org, owner_org_id: replica.owner_org_id, reason },
  });
}

/** Destroys the organisation's participation, and the workspace with the last one. */
async function vacate(services: PartnerServices, unit: GatewayUnit, id: string, org: string): Promise<void> {
  if ((await unit.get(participations, participationId(id, org))) === undefined) return;
  unit.delete(participations, participationId(id, org));
  unit.invalidate(() => services.deks.forget(id));
  const workspace = await unit.get(workspaces, id);
  const others = (await unit.list(participations, "by_workspace", [id])).some((participation) => participation.org_id !== org);
  if (workspace === undefined || others) return;
  await dropPolicies(unit, workspace.org_id, id, await unit.list(policies, "by_workspace", [id]));
  for (let version = 1; version <= workspace.dek_version; version++) unit.delete(dekUseRecords, dekUseId(id, version));
  unit.delete(workspaces, id);
}
