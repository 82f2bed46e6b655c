import type { Principal } from "@seneschal/contract";
import { consentsTo, type Federation, refusal, requireConsent, timestamp, type Workspace } from "@seneschal/core/keys";
import { bodyHash, type OperationPayload, operationBytes } from "@seneschal/crypto/signing";
import { bytes, type Call, type GatewayUnit, type SignatureClaim } from "../../ground/index.ts";
import {
  consentId,
  type DeletionConsent,
  deletionConsents,
  findWorkspace,
  replicatedWorkspace,
  stateHash,
} from "../../workspaces/index.ts";
import { replicaId, replicas } from "../collections.ts";
import { keysOfPartner } from "../federation/identity.ts";
import type { PartnerServices } from "../services.ts";
import { deliverDispatch, putDispatch } from "./dispatch.ts";

/**
 * A participant's consent to the deletion of a workspace that another instance owns: signed by its root key over the workspace's
 * revision, checked here, kept, and brought to the owner, who checks it again against the root key that was pinned.
 */
export async function consentToDeletion(
  services: PartnerServices,
  call: Call,
  claim: SignatureClaim,
): Promise<{ readonly consent: DeletionConsent; readonly delivered: boolean }> {
  const { principal, now } = call;
  const { resourceId: id, signature } = claim;
  const { consent, dispatch } = await services.transact(call, async (unit) => {
    const workspace = await findWorkspace(unit, id, principal.org);
    const replica = await unit.get(replicas, replicaId(id, principal.org));
    if (replica === undefined) {
      throw refusal("STATE_CONFLICT", "the owner lives on this instance: its deletion takes the signature");
    }
    const payload = await services.signatures.accept(unit, claim);
    if (payload === undefined || signature === undefined) {
      throw refusal("SIGNATURE_REQUIRED", "this operation needs a signature by the organisation's root key", {
        field: "signature",
      });
    }
    const state_sha256 = replica.revision === workspace.revision ? replica.state_sha256 : undefined;
    const made = consentOf(principal, workspace, { payload, signature, state_sha256 }, now);
    unit.put(deletionConsents, consentId(id, principal.org), made);
    unit.record({
      type: "workspace.delete.consent",
      workspace: id,
      metadata: { org_id: principal.org, revision: workspace.revision },
    });
    const { org_id, federation_id } = replica;
    return {
      consent: made,
      dispatch: await putDispatch(services, unit, { kind: "consent", org_id, federation_id, workspace_id: id }),
    };
  });
  const outcome = await deliverDispatch(services, dispatch, now);
  if (outcome.kind === "refused") throw refusal("STATE_CONFLICT", "the owner's instance refuses", { code: outcome.code });
  return { consent, delivered: outcome.kind === "done" };
}

function consentOf(
  { org }: Principal,
  { id, revision }: Workspace,
  { state_sha256, ...signed }: Pick<DeletionConsent, "payload" | "signature"> & { readonly state_sha256: string | undefined },
  now: number,
): DeletionConsent {
  const state = state_sha256 === undefined ? {} : { state_sha256 };
  return { workspace_id: id, org_id: org, revision, ...state, ...signed, created_at: timestamp(now) };
}

/**
 * The owner's side: takes a partner's consent if its root key really signed the deletion of the workspace as it is now: this revision with
 * this content, lately. The audience is the partner's own gateway, which judged it; the owner cannot know its name.
 */
export function takeConsent(
  services: PartnerServices,
  unit: GatewayUnit,
  federation: Federation,
  workspace: Workspace,
  { payload, signature }: { readonly payload: OperationPayload; readonly signature: string },
): void {
  const { partner_org_id: partner } = federation;
  const { id, revision } = workspace;
  const { now } = unit.call;
  const state_sha256 = stateHash(services.crypto, replicatedWorkspace(workspace));
  const crk = keysOfPartner(federation)?.crk;
  const genuine = crk !== undefined && services.crypto.ed25519Verify(crk, operationBytes(payload), bytes(signature));
  requireConsent(payload, { partner, workspace, body_sha256: bodyHash({ revision, state_sha256 }), genuine }, now);
  const consent: DeletionConsent = {
    workspace_id: id,
    org_id: partner,
    revision,
    state_sha256,
    payload,
    signature,
    created_at: timestamp(now),
  };
  unit.put(deletionConsents, consentId(id, partner), consent);
  unit.record({
    type: "workspace.delete.consent",
    org: workspace.org_id,
    workspace: id,
    metadata: { org_id: partner, revision },
  });
}

/** The organisations of other instances that signed the deletion of the workspace as it is now. */
export async function consenting(services: PartnerServices, unit: GatewayUnit, workspace: Workspace): Promise<readonly string[]> {
  const state = { revision: workspace.revision, state_sha256: stateHash(services.crypto, replicatedWorkspace(workspace)) };
  return consentsTo(state, await unit.list(deletionConsents, "by_workspace", [workspace.id]));
}
