import type { Handlers } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import { notFound, refusal, type Share, stepInvitation, stepWorkspace, type Workspace } from "@seneschal/core/keys";
import type { GatewayUnit } from "../../ground/index.ts";
import { invitations, saveWorkspace, workspaces } from "../../workspaces/index.ts";
import { type StoredFederation, shareId, shares } from "../collections.ts";
import { federationOfCaller, noteHeard } from "../federation/find.ts";
import { judged } from "../federation/judged.ts";
import type { PartnerServices } from "../services.ts";
import { takeConsent } from "./deletion-consent.ts";
import { describeShare } from "./dispatch.ts";
import { applyState, checkState } from "./replica.ts";

type Routes = Pick<GatewayContract, "peerWorkspace" | "peerAnswer" | "peerDeletionConsent">;

/** What gateways say to each other about workspaces. A partner speaks of the workspaces that it has part in, and for itself. */
export const replicationHandlers: Handlers<Routes, PartnerServices> = {
  peerWorkspace: (services, { principal, body, now, requestId }) =>
    judged(services, { principal, now, requestId }, "workspace", { workspace_id: body.workspace_id }, async (call, known) => {
      await services.organizationKeys.ensureKek(known.org_id);
      await checkState(services, known, body);
      return services.transact(call, async (unit) => {
        const federation = await federationOfCaller(unit, principal);
        noteHeard(unit, federation);
        return { sequence: await applyState(services, unit, federation, body) };
      });
    }),

  peerAnswer: (services, { principal, body, now, requestId }) =>
    judged(services, { principal, now, requestId }, "answer", {}, (call) =>
      services.transact(call, async (unit) => {
        const federation = await federationOfCaller(unit, principal);
        const { share, workspace } = await sharedWith(unit, federation, body.workspace_id);
        const answered = await (body.accept ? join : decline)(services, unit, workspace, share, body);
        const state = await describeShare(services, unit, answered);
        if (state === undefined) throw refusal("STATE_CONFLICT", "nothing of this workspace can be sent to the partner");
        return state;
      }),
    ),

  peerDeletionConsent: (services, { principal, body, now, requestId }) =>
    judged(services, { principal, now, requestId }, "consent", {}, (call) =>
      services.transact(call, async (unit) => {
        const federation = await federationOfCaller(unit, principal);
        const { share, workspace } = await sharedWith(unit, federation, body.workspace_id);
        if (share.stage !== "shared") throw notFound("workspace");
        takeConsent(services, unit, federation, workspace, body);
      }),
    ),
};

/** A workspace of the federation's organisation that its partner has part in; all others do not exist for it. */
async function sharedWith(
  unit: GatewayUnit,
  federation: StoredFederation,
  id: string,
): Promise<{ readonly share: Share; readonly workspace: Workspace }> {
  const share = await unit.get(shares, shareId(id, federation.partner_org_id));
  const workspace = await unit.get(workspaces, id);
  const theirs = share?.federation_id === federation.id && workspace?.org_id === federation.org_id;
  if (share === undefined || workspace === undefined || !theirs) throw notFound("workspace");
  return { share, workspace };
}

interface Answer {
  readonly invitation_id: string;
  readonly group_id: string | null;
}

async function invitationOf(unit: GatewayUnit, share: Share, { invitation_id }: Answer) {
  const invitation = await unit.get(invitations, invitation_id);
  const theirs = invitation?.workspace_id === share.workspace_id && invitation.org_id === share.partner_org_id;
  if (invitation === undefined || !theirs) throw notFound("workspace");
  return invitation;
}

/** An acceptance that comes twice changes nothing the second time. */
async function join(
  services: PartnerServices,
  unit: GatewayUnit,
  workspace: Workspace,
  share: Share,
  answer: Answer,
): Promise<Share> {
  const { org_id: org, partner_org_id: partner } = share;
  const invitation = await invitationOf(unit, share, answer);
  if (invitation.status === "accepted" && share.stage === "shared") return share;
  const { now } = unit.call;
  const accepted = stepInvitation(invitation, "accept", now);
  const step = stepWorkspace(workspace, { kind: "join", org: partner, group_id: answer.group_id }, now);
  unit.put(invitations, invitation.id, accepted);
  await saveWorkspace(services, unit, step);
  unit.record({
    type: "workspace.join",
    org,
    workspace: workspace.id,
    metadata: { org_id: partner, invitation_id: invitation.id },
  });
  return (await unit.get(shares, shareId(workspace.id, partner))) ?? share;
}

async function decline(
  _services: PartnerServices,
  unit: GatewayUnit,
  workspace: Workspace,
  share: Share,
  answer: Answer,
): Promise<Share> {
  const { org_id: org, partner_org_id: partner } = share;
  const invitation = await invitationOf(unit, share, answer);
  const ended: Share = { ...share, stage: "ended", sequence: share.sequence + 1, confirmed: share.sequence + 1 };
  if (invitation.status === "declined") return ended;
  unit.put(invitations, invitation.id, stepInvitation(invitation, "decline", unit.call.now));
  // The reply tells it: nothing is left to say.
  unit.delete(shares, shareId(workspace.id, partner));
  unit.record({
    type: "workspace.invite.decline",
    org,
    workspace: workspace.id,
    metadata: { org_id: partner, invitation_id: invitation.id },
  });
  return ended;
}
