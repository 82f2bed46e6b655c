import {
  type Admission,
  admit,
  createWorkspace,
  invalidField,
  invite,
  revokeAdmission,
  type Step,
  stepInvitation,
  type Workspace,
  type WorkspaceEffect,
} from "@seneschal/core/keys";
import { checkArgument } from "@seneschal/kernel";
import type { GatewayUnit } from "../../ground/index.ts";
import { groups, identityTypeOf } from "../../people/index.ts";
import {
  admissions,
  consentId,
  dekUseId,
  dekUseRecords,
  deletionConsents,
  invitations,
  type Participation,
  participationId,
  participations,
  rotationPolicies,
  workspaces,
} from "../collections.ts";
import type { WorkspaceServices } from "../services.ts";

/** Carries out what a step of a workspace asks for, in the step's order and in its transaction. */
export async function carryOut(
  services: WorkspaceServices,
  unit: GatewayUnit,
  workspace: Workspace,
  effects: readonly WorkspaceEffect[],
): Promise<void> {
  for (const effect of effects) await one(services, unit, workspace, effect);
}

async function one(services: WorkspaceServices, unit: GatewayUnit, workspace: Workspace, effect: WorkspaceEffect): Promise<void> {
  const { id } = workspace;
  switch (effect.kind) {
    case "mint_dek": {
      const dek = services.deks.mint();
      // The first key comes with the workspace: nobody has a share or a participation yet.
      const first = effect.version === 1;
      for (const org of effect.orgs) {
        // An organisation of another instance is sent the key, sealed to it; nothing of its own is kept here.
        if (!first && (await services.replication.shareOf(unit, id, org)) !== undefined) continue;
        const participation =
          (first ? undefined : await unit.get(participations, participationId(id, org))) ?? emptyParticipation(workspace, org);
        const wrapped = await services.deks.wrap(dek, id, org, effect.version);
        unit.put(participations, participationId(id, org), {
          ...participation,
          deks: { ...participation.deks, [effect.version]: wrapped },
        });
      }
      dek.fill(0);
      return;
    }
    case "wrap_deks": {
      const share = await services.replication.shareOf(unit, id, effect.org);
      if (share !== undefined) return services.replication.stepAndTell(services, unit, workspace, share, { kind: "join" });
      const owner = await unit.get(participations, participationId(id, workspace.org_id));
      const deks: Record<string, string> = {};
      for (const version of Object.keys(owner?.deks ?? {})) {
        const dek = owner === undefined ? undefined : await services.deks.open(owner, Number(version));
        if (dek === undefined) continue;
        deks[version] = await services.deks.wrap(dek, id, effect.org, Number(version));
        dek.fill(0);
      }
      unit.insert(participations, participationId(id, effect.org), { ...emptyParticipation(workspace, effect.org), deks });
      return;
    }
    case "drop_deks": {
      const share = await services.replication.shareOf(unit, id, effect.org);
      if (share !== undefined) return services.replication.stepAndTell(services, unit, workspace, share, { kind: "end" });
      unit.delete(participations, participationId(id, effect.org));
      unit.invalidate(() => services.deks.forget(id));
      return;
    }
    case "revoke_invitations":
      for (const invitation of await unit.list(invitations, "pending", [id])) {
        unit.put(invitations, invitation.id, stepInvitation(invitation, "revoke", unit.call.now));
        const share = await services.replication.shareOf(unit, id, invitation.org_id);
        if (share?.stage === "offered") await services.replication.stepAndTell(services, unit, workspace, share, { kind: "end" });
      }
      return;
    case "revoke_admissions":
      for (const admission of await unit.list(admissions, "active", [id, effect.org])) revoke(unit, admission);
      return;
    case "destroy":
      await services.replication.announce(services, unit, workspace, "end");
      for (const { org_id } of await unit.list(deletionConsents, "by_workspace", [id])) {
        unit.delete(deletionConsents, consentId(id, org_id));
      }
      for (const participation of await unit.list(participations, "by_workspace", [id]))
        unit.delete(participations, participationId(id, participation.org_id));
      for (const admission of await unit.list(admissions, "active", [id])) revoke(unit, admission);
      for (let version = 1; version <= workspace.dek_version; version++) unit.delete(dekUseRecords, dekUseId(id, version));
      unit.delete(rotationPolicies, id);
      unit.delete(workspaces, id);
      unit.invalidate(() => services.deks.forget(id));
      return;
    default:
      return effect satisfies never;
  }
}

function emptyParticipation(workspace: Workspace, org: string): Participation {
  return {
    workspace_id: workspace.id,
    org_id: org,
    group_id: workspace.group_bindings[org] ?? null,
    created_at: workspace.created_at,
    deks: {},
  };
}

function revoke(unit: GatewayUnit, admission: Admission): void {
  const by = { id: unit.call.principal.id, org: admission.org_id, ownsWorkspace: true };
  unit.put(admissions, admission.id, revokeAdmission(admission, by, unit.call.now));
}

/** Writes the step of a workspace, carries out its effects, and tells the instances of partners. */
export async function saveWorkspace(
  services: WorkspaceServices,
  unit: GatewayUnit,
  { state, effects }: Step<Workspace, WorkspaceEffect>,
): Promise<void> {
  unit.put(workspaces, state.id, state);
  await carryOut(services, unit, state, effects);
  await services.replication.announce(services, unit, state);
}

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
