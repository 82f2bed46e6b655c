import type { Handlers } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import {
  type Federation,
  notFound,
  refusal,
  type Share,
  type ShareAnswer,
  takeAnswer,
  type Workspace,
} from "@seneschal/core/keys";
import type { GatewayUnit } from "../../ground/index.ts";
import { invitations, saveWorkspace, workspaces } from "../../workspaces/index.ts";
import { shareId, shares } from "../collections.ts";
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
        const invitation = await invitationOf(unit, share, body);
        const answered = takeAnswer({ share, workspace, invitation }, body, now);
        const state = await describeShare(services, unit, await keepAnswer(services, unit, share, answered));
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
  federation: Federation,
  id: string,
): Promise<{ readonly share: Share; readonly workspace: Workspace }> {
  const share = await unit.get(shares, shareId(id, federation.partner_org_id));
  const workspace = await unit.get(workspaces, id);
  const theirs = share?.federation_id === federation.id && workspace?.org_id === federation.org_id;
  if (share === undefined || workspace === undefined || !theirs) throw notFound("workspace");
  return { share, workspace };
}

async function invitationOf(unit: GatewayUnit, share: Share, { invitation_id }: { readonly invitation_id: string }) {
  const invitation = await unit.get(invitations, invitation_id);
  const theirs = invitation?.workspace_id === share.workspace_id && invitation.org_id === share.partner_org_id;
  if (invitation === undefined || !theirs) throw notFound("workspace");
  return invitation;
}

/** Keeps what an answer came to; answers the share as it is told to the partner. */
async function keepAnswer(services: PartnerServices, unit: GatewayUnit, share: Share, answered: ShareAnswer): Promise<Share> {
  if (answered.kind === "before") return answered.share;
  const id = shareId(share.workspace_id, share.partner_org_id);
  unit.put(invitations, answered.invitation.id, answered.invitation);
  if (answered.kind === "joined") await saveWorkspace(services, unit, answered.step);
  else unit.delete(shares, id);
  unit.record(answered.event);
  return answered.kind === "joined" ? ((await unit.get(shares, id)) ?? share) : answered.share;
}
