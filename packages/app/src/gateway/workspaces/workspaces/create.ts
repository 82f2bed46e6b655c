import { admit, createWorkspace, invalidField, invite, type Workspace } from "@seneschal/core/keys";
import { checkArgument } from "@seneschal/kernel";
import type { GatewayUnit } from "../../ground/index.ts";
import { groups, identityTypeOf } from "../../people/index.ts";
import { admissions, invitations, workspaces } from "../collections.ts";
import type { WorkspaceServices } from "../services.ts";
import { carryOut } from "./carry-out.ts";

export type NewWorkspace = Pick<Workspace, "name" | "classification" | "mode" | "purpose" | "crk_protected"> & {
  readonly group_id: string | null;
  readonly participants: readonly string[];
};

/** Makes a workspace, its first key and its participation; admits the creator and invites the participants named. */
export async function makeWorkspace(
  services: WorkspaceServices,
  unit: GatewayUnit,
  id: string,
  input: NewWorkspace,
): Promise<Workspace> {
  checkArgument("services", services, "object");
  checkArgument("unit", unit, "object");
  checkArgument("id", id, "string");
  checkArgument("input", input, "object");
  const { principal, now } = unit.call;
  if (input.group_id !== null) {
    const group = await unit.get(groups, input.group_id);
    if (group === undefined || group.org_id !== principal.org) throw invalidField("group_id", "no such group");
  }
  const { participants, ...facts } = input;
  const { state, effects } = createWorkspace({ id, org: principal.org, by: principal.id, ...facts }, now);
  unit.insert(workspaces, id, state);
  await carryOut(services, unit, state, effects);
  unit.record({
    type: "workspace.create",
    workspace: id,
    purpose: state.purpose,
    metadata: { classification: state.classification, mode: state.mode, crk_protected: state.crk_protected },
  });
  unit.record({ type: "key.create", workspace: id, metadata: { version: 1 } });
  if (input.group_id !== null)
    unit.record({ type: "workspace.group.bind", workspace: id, metadata: { group_id: input.group_id } });

  const admission = admit(
    {
      id: services.newId(now),
      workspace_id: id,
      org: principal.org,
      identity_id: principal.id,
      identity_type: identityTypeOf(principal),
      by: principal.id,
    },
    now,
  );
  unit.insert(admissions, admission.id, admission);

  for (const org of new Set(participants)) {
    if (org === principal.org) continue;
    const invitation = invite(
      { id: services.newId(now), workspace_id: id, org, by: principal.id },
      now,
      services.config.lifetimes.invitation,
    );
    unit.insert(invitations, invitation.id, invitation);
    unit.record({ type: "workspace.invite", workspace: id, metadata: { org_id: org, invitation_id: invitation.id } });
    await services.replication.offer(services, unit, state, invitation);
  }
  return state;
}
