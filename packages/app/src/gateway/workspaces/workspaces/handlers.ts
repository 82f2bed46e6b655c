import type { Handlers } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import {
  accessBasis,
  admit,
  ask,
  byMembership,
  decideJoinRequest,
  type Invitation,
  invalidField,
  invitationStatus,
  invite,
  joinByInvitation,
  notFound,
  participates,
  refusal,
  requireInvited,
  requireWorkspace,
  stepInvitation,
  stepWorkspace,
} from "@seneschal/core/keys";
import { claimOf, type EntityReading, type GatewayUnit, listed, ownOrganization, pageOf } from "../../ground/index.ts";
import { groups, identityTypeOf, requireRoom } from "../../people/index.ts";
import { admitCaller, requireAdmittedByPolicy, requireAllowedByPolicy } from "../admissions.ts";
import {
  activeAdmission,
  admissions,
  invitations,
  joinRequests,
  participationId,
  participations,
  workspaces,
} from "../collections.ts";
import type { WorkspaceServices } from "../services.ts";
import {
  boundGroup,
  findOwnWorkspace,
  findVisibleWorkspace,
  findWorkspace,
  listWorkspaces,
  receivedInvitation,
  seesAll,
  standing,
  workspaceView,
} from "./access.ts";
import type { BundleContent } from "./bundle-content.ts";
import { carryOut, makeWorkspace, saveWorkspace } from "./carry-out.ts";
import { checkWorkspaceSignature } from "./sign.ts";
import { exportBundle, importBundle } from "./transfer.ts";
import { decryptItems, encryptItems } from "./use-key.ts";

type Routes = Pick<
  GatewayContract,
  | "createWorkspace"
  | "listWorkspaces"
  | "getWorkspace"
  | "updateWorkspace"
  | "deleteWorkspace"
  | "encrypt"
  | "decrypt"
  | "encryptBatch"
  | "decryptBatch"
  | "rotateDek"
  | "extendWorkspace"
  | "inviteOrganization"
  | "acceptInvitation"
  | "declineInvitation"
  | "listInvitations"
  | "receivedInvitations"
  | "consentToDeletion"
  | "requestAccess"
  | "archiveWorkspace"
  | "exportWorkspace"
  | "importWorkspace"
>;

/** The invitation that waits for an organisation of this instance; one that went to a partner of the same id is not its own. */
async function openInvitation(
  { replication }: WorkspaceServices,
  unit: GatewayUnit,
  workspace: string,
  org: string,
): Promise<Invitation> {
  const [invitation] = await unit.list(invitations, "pending", [workspace, org]);
  if (invitation === undefined || (await replication.shareOf(unit, workspace, org)) !== undefined) throw notFound("workspace");
  return invitation;
}

/** A tag stands for the workspace, not for how far partners followed it. */
export const workspaceReading: EntityReading<never> = {
  tagged: ({ followers: _, state_sha256: __, ...workspace }: { readonly followers?: unknown; readonly state_sha256?: unknown }) =>
    workspace,
};

export const workspaceHandlers: Handlers<Routes, WorkspaceServices> = {
  async createWorkspace(services, { principal, body, now, requestId, request }) {
    const { crk_signature: _, signature_params: __, group_id, ...facts } = body;
    await services.organizationKeys.ensureKek(principal.org);
    return services.transact({ principal, now, requestId }, async (unit) => {
      const crk_protected = await services.signatures.verify(unit, claimOf("workspace.create", "", body, request));
      const input = Object.assign({}, facts, { group_id: group_id ?? null, crk_protected });
      return workspaceView(await makeWorkspace(services, unit, services.newId(now), input), now);
    });
  },

  listWorkspaces: async ({ read }, { principal, query, now }) =>
    listed("workspaces", await listWorkspaces(read, principal, query, now), (item) => workspaceView(item, now)),

  async getWorkspace(services, { principal, params, now }) {
    const workspace = await findVisibleWorkspace(services.read, params.id, principal, now);
    return Object.assign(workspaceView(workspace, now), await services.replication.followed(services, workspace, principal.org));
  },

  async updateWorkspace(services, { principal, params, body, now, requestId, request }) {
    const { purpose, classification, mode } = body;
    const changes = {
      ...(purpose === undefined ? {} : { purpose }),
      ...(classification === undefined ? {} : { classification }),
      ...(mode === undefined ? {} : { mode }),
    };
    return services.transact({ principal, now, requestId }, async (unit) => {
      const workspace = await findOwnWorkspace(unit, params.id, principal.org);
      requireWorkspace(workspace, "update", now);
      const signed = await checkWorkspaceSignature(
        services,
        unit,
        workspace,
        claimOf("workspace.update", workspace.id, body, request),
      );
      const step = stepWorkspace(workspace, { kind: "update", changes, signed }, now);
      const { state } = step;
      await saveWorkspace(services, unit, step);
      unit.record({ type: "workspace.update", workspace: state.id, metadata: { fields: Object.keys(changes), signed } });
      return workspaceView(state, now);
    });
  },

  async deleteWorkspace(services, { principal, params, body, now, requestId, request }) {
    await services.transact({ principal, now, requestId }, async (unit) => {
      const workspace = await findOwnWorkspace(unit, params.id, principal.org);
      const signers = Object.keys(body.signatures);
      const strangers = signers.filter((org) => !participates(workspace, org));
      if (strangers.length > 0) throw invalidField("signatures", "only participating organisations sign");
      for (const org of signers) {
        const claim = claimOf("workspace.delete", workspace.id, { signature_params: body.signature_params }, request);
        await services.signatures.require(unit, { ...claim, signature: body.signatures[org], org });
      }
      const signed_by = [...signers, ...(await services.replication.consenting(services, unit, workspace))];
      const { state, effects } = stepWorkspace(workspace, { kind: "delete", signed_by }, now);
      await carryOut(services, unit, state, effects);
      unit.record({ type: "workspace.delete", workspace: state.id, metadata: { signed_by } });
    });
  },

  async encrypt(services, { principal, params, body, now, requestId }) {
    const items = [{ text: body.plaintext, context: body.context }];
    const [ciphertext = ""] = await encryptItems(services, { principal, now, requestId }, params.id, items);
    return { ciphertext };
  },

  async decrypt(services, { principal, params, body, now, requestId }) {
    const items = [{ text: body.ciphertext, context: body.context }];
    const [plaintext = ""] = await decryptItems(services, { principal, now, requestId }, params.id, items);
    return { plaintext };
  },

  async encryptBatch(services, { principal, params, body, now, requestId }) {
    const items = body.items.map(({ plaintext, context }) => ({ text: plaintext, context }));
    const out = await encryptItems(services, { principal, now, requestId }, params.id, items);
    return { items: out.map((ciphertext) => ({ ciphertext })), count: out.length };
  },

  async decryptBatch(services, { principal, params, body, now, requestId }) {
    const items = body.items.map(({ ciphertext, context }) => ({ text: ciphertext, context }));
    const out = await decryptItems(services, { principal, now, requestId }, params.id, items);
    return { items: out.map((plaintext) => ({ plaintext })), count: out.length };
  },

  async rotateDek(services, { principal, params, body, now, requestId, request }) {
    await services.transact({ principal, now, requestId }, async (unit) => {
      const workspace = await findOwnWorkspace(unit, params.id, principal.org);
      requireWorkspace(workspace, "rotate", now);
      await checkWorkspaceSignature(services, unit, workspace, claimOf("workspace.rotate-dek", workspace.id, body, request));
      await requireAllowedByPolicy(services, unit, workspace, "rotate");
      const step = stepWorkspace(workspace, { kind: "rotate" }, now);
      const { id, dek_version: version } = step.state;
      await saveWorkspace(services, unit, step);
      unit.record({ type: "key.rotate", workspace: id, metadata: { version } });
    });
  },

  async extendWorkspace(services, { principal, params, body, now, requestId, request }) {
    await services.transact({ principal, now, requestId }, async (unit) => {
      const workspace = await findOwnWorkspace(unit, params.id, principal.org);
      requireWorkspace(workspace, "extend", now);
      await checkWorkspaceSignature(services, unit, workspace, claimOf("workspace.extend", workspace.id, body, request));
      const step = stepWorkspace(workspace, { kind: "extend", expires_at: body.expires_at }, now);
      const { id, expires_at } = step.state;
      await saveWorkspace(services, unit, step);
      unit.record({ type: "workspace.extend", workspace: id, metadata: { expires_at } });
    });
  },

  async inviteOrganization(services, { principal, params, body, now, requestId, request }) {
    return services.transact({ principal, now, requestId }, async (unit) => {
      const workspace = await findOwnWorkspace(unit, params.id, principal.org);
      requireWorkspace(workspace, "invite", now);
      await checkWorkspaceSignature(services, unit, workspace, claimOf("workspace.invite", workspace.id, body, request));
      if (participates(workspace, body.org_id)) throw refusal("CONFLICT", "the organisation already takes part");
      for (const old of await unit.list(invitations, "pending", [workspace.id, body.org_id])) {
        if (invitationStatus(old, now) !== "expired") throw refusal("CONFLICT", "the organisation is already invited");
        unit.put(invitations, old.id, { ...old, status: "expired" });
      }
      const id = services.newId(now);
      const invitation = invite(
        { id, workspace_id: workspace.id, org: body.org_id, by: principal.id },
        now,
        services.config.lifetimes.invitation,
      );
      unit.insert(invitations, id, invitation);
      unit.record({ type: "workspace.invite", workspace: workspace.id, metadata: { org_id: body.org_id, invitation_id: id } });
      await services.replication.offer(services, unit, workspace, invitation);
      return invitation;
    });
  },

  async acceptInvitation(services, { principal, params, body, now, requestId, request }) {
    ownOrganization(principal, body.org_id);
    await services.organizationKeys.ensureKek(principal.org);
    const call = { principal, now, requestId };
    if (await services.replication.hasOffer(services, params.id, principal)) {
      const claim = claimOf("workspace.accept", params.id, body, request);
      return services.replication.acceptOffer(services, call, claim, body.group_id ?? null);
    }
    await services.transact(call, async (unit) => {
      const workspace = await unit.get(workspaces, params.id);
      // An owner elsewhere may name whom it likes among the participants: without a participation it is nobody's here.
      const named =
        workspace?.replica === true && (await unit.get(participations, participationId(params.id, principal.org))) === undefined;
      if (workspace === undefined || named) throw notFound("workspace");
      if (participates(workspace, principal.org)) throw refusal("CONFLICT", "the organisation already takes part");
      const invitation = await openInvitation(services, unit, params.id, principal.org);
      requireInvited(invitation, principal.org);
      // Whether it can be answered is told before who may.
      stepInvitation(invitation, "accept", now);
      await checkWorkspaceSignature(services, unit, workspace, claimOf("workspace.accept", workspace.id, body, request));
      if (body.group_id !== undefined && (await unit.get(groups, body.group_id))?.org_id !== principal.org) {
        throw invalidField("group_id", "no such group");
      }
      const { invitation: accepted, step, event } = joinByInvitation(workspace, invitation, body.group_id ?? null, now);
      unit.put(invitations, accepted.id, accepted);
      await saveWorkspace(services, unit, step);
      await admitCaller(services, unit, workspace.id);
      unit.record({ ...event, type: "workspace.invite.accept", org: principal.org });
      unit.record(event);
    });
  },

  async declineInvitation(services, { principal, params, body, now, requestId }) {
    ownOrganization(principal, body.org_id);
    const call = { principal, now, requestId };
    if (await services.replication.hasOffer(services, params.id, principal))
      return services.replication.declineOffer(services, call, params.id);
    await services.transact(call, async (unit) => {
      const invitation = await openInvitation(services, unit, params.id, principal.org);
      unit.put(invitations, invitation.id, stepInvitation(invitation, "decline", now));
      unit.record({ type: "workspace.invite.decline", workspace: params.id, metadata: { invitation_id: invitation.id } });
    });
  },

  async listInvitations({ read }, { principal, params, query, now }) {
    const all = await read.list(invitations, "by_workspace", [params.id], { reverse: true });
    const own = all.filter((invitation) => invitation.org_id === principal.org);
    // Before it takes part, an invited organisation's offices alone know of the workspace.
    const invited = own.length > 0 && (await seesAll(read, principal));
    const workspace = invited
      ? await read.get(workspaces, params.id)
      : await findVisibleWorkspace(read, params.id, principal, now);
    const seen = workspace?.org_id === principal.org ? all : own;
    const view = (invitation: Invitation) => ({ ...invitation, status: invitationStatus(invitation, now) });
    return listed("invitations", pageOf(seen, query), view);
  },

  async receivedInvitations(services, { principal, query, now }) {
    const { items, total } = await services.read.page(invitations, "by_org", [principal.org], query);
    const received = await Promise.all(items.map((invitation) => receivedInvitation(services, invitation, now)));
    return { invitations: received, count: received.length, total };
  },

  async consentToDeletion(services, { principal, params, body, now, requestId, request }) {
    const call = { principal, now, requestId };
    const claim = { ...claimOf("workspace.delete", params.id, body, request), signature: body.signature };
    const { consent, delivered } = await services.replication.consentToDeletion(services, call, claim);
    const { workspace_id, org_id, revision } = consent;
    return { workspace_id, org_id, revision, delivered };
  },

  async requestAccess(services, { principal, params, body, now, requestId, request }) {
    return services.transact({ principal, now, requestId }, async (unit) => {
      const workspace = await findWorkspace(unit, params.id, principal.org);
      requireWorkspace(workspace, "request_access", now);
      const group = boundGroup(workspace, principal.org, body.group_id);
      await services.signatures.verify(unit, claimOf("workspace.request-access", workspace.id, body, request));
      if ((await activeAdmission(unit, workspace.id, principal.org, principal.id)) !== undefined) {
        throw refusal("CONFLICT", "the identity is already admitted");
      }
      const asked = ask(
        {
          id: services.newId(now),
          org: principal.org,
          workspace_id: workspace.id,
          group_id: group,
          requester_id: principal.id,
          requester_type: principal.type,
          reason: body.justification ?? body.reason,
        },
        now,
      );
      unit.record({ type: "workspace.request", workspace: workspace.id, metadata: { request_id: asked.id, group_id: group } });
      const comesIn = accessBasis(await standing(unit, workspace, principal, now)) === "group";
      if (!comesIn) {
        await requireRoom(services, unit, principal, "join_requests", {
          all: () => unit.count(joinRequests, "pending", [principal.org]),
        });
        unit.insert(joinRequests, asked.id, asked);
        return asked;
      }
      await requireAdmittedByPolicy(services, unit, workspace, principal.id, principal.type);
      const admission = admit(
        {
          id: services.newId(now),
          workspace_id: workspace.id,
          org: principal.org,
          identity_id: principal.id,
          identity_type: identityTypeOf(principal),
          by: byMembership,
          via_group: group,
        },
        now,
      );
      const approved = decideJoinRequest(asked, { kind: "approve", by: byMembership, admission_id: admission.id }, now);
      unit.insert(admissions, admission.id, admission);
      unit.insert(joinRequests, approved.id, approved);
      unit.record({
        type: "workspace.auto_admit",
        workspace: workspace.id,
        metadata: { admission_id: admission.id, group_id: group },
      });
      return approved;
    });
  },

  async archiveWorkspace(services, { principal, params, body, now, requestId, request }) {
    await services.transact({ principal, now, requestId }, async (unit) => {
      const workspace = await findOwnWorkspace(unit, params.id, principal.org);
      const step = stepWorkspace(workspace, { kind: "archive" }, now);
      if (step.state === workspace) return;
      await checkWorkspaceSignature(services, unit, workspace, claimOf("workspace.archive", workspace.id, body, request));
      await saveWorkspace(services, unit, step);
      unit.record({ type: "workspace.archive", workspace: workspace.id });
    });
  },

  async exportWorkspace(services, { principal, params, body, now, requestId, request }) {
    await services.organizationKeys.ensureKek(principal.org);
    return services.transact({ principal, now, requestId }, async (unit) => {
      const workspace = await findWorkspace(unit, params.id, principal.org);
      requireWorkspace(workspace, "export", now);
      const signed = await services.signatures.verify(unit, claimOf("workspace.export", workspace.id, body, request));
      await requireAllowedByPolicy(services, unit, workspace, "export");
      const withKeys = signed || !workspace.crk_protected;
      const exported = withKeys ? await services.replication.handOver(services, unit, workspace) : workspace;
      const bundle = await exportBundle(services, unit, exported, withKeys);
      unit.record({
        type: "workspace.export",
        workspace: workspace.id,
        metadata: { checksum: bundle.checksum, signed, recipients: bundle.recipient_orgs },
      });
      return {
        ...bundle,
        policies: [...bundle.policies],
        export_dek: { ...bundle.export_dek },
        recipient_orgs: [...bundle.recipient_orgs],
      };
    });
  },

  async importWorkspace(services, { principal, body, now, requestId, request }) {
    const { checksum, signature, signature_params: _, crk_signature: __, ...content } = body;
    await services.organizationKeys.ensureKek(principal.org);
    return services.transact({ principal, now, requestId }, async (unit) => {
      await checkWorkspaceSignature(
        services,
        unit,
        content.workspace,
        claimOf("workspace.import", content.workspace.id, body, request),
      );
      const here = await unit.get(participations, participationId(content.workspace.id, principal.org));
      const workspace = await importBundle(services, unit, content as BundleContent, checksum, signature);
      if (here === undefined) await admitCaller(services, unit, workspace.id);
      unit.record({ type: "workspace.import", workspace: workspace.id, metadata: { checksum, exporter: content.exporter_org } });
      return workspaceView(workspace, now);
    });
  },
};
