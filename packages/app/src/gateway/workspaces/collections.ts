import type { Admission, Invitation, JoinRequest, Policy, RotationPolicy, Workspace } from "@seneschal/core/keys";
import type { OperationPayload } from "@seneschal/crypto/signing";
import { keyText } from "../../platform/index.ts";
import { type AnyCollection, collection, type Reader } from "../ground/index.ts";

export const admissions = collection<Admission>("workspace_admissions", {
  by_workspace: { key: (admission) => [admission.workspace_id, admission.created_at] },
  by_workspace_identity: {
    key: (admission) => [admission.workspace_id, admission.org_id, admission.identity_id, admission.created_at],
  },
  active: {
    key: (admission) =>
      admission.status === "active" ? [admission.workspace_id, admission.org_id, admission.identity_id] : undefined,
    unique: "the identity is already admitted",
  },
  by_identity: {
    key: (admission) =>
      admission.status === "active" ? [admission.org_id, admission.identity_id, admission.created_at] : undefined,
  },
});

/** The active admission of an identity, if there is one. */
export async function activeAdmission(
  read: Reader,
  workspace: string,
  org: string,
  identity: string,
): Promise<Admission | undefined> {
  const [admission] = await read.list(admissions, "active", [workspace, org, identity], { limit: 1 });
  return admission;
}

export const policies = collection<Policy>("policies", {
  by_workspace: { key: (policy) => (policy.workspace_id === null ? undefined : [policy.workspace_id, policy.created_at]) },
  org_wide: { key: (policy) => (policy.workspace_id === null ? [policy.org_id, policy.created_at] : undefined) },
  by_org: { key: (policy) => [policy.org_id, policy.created_at] },
  by_name: {
    key: (policy) => [policy.org_id, policy.workspace_id ?? "", keyText(policy.name)],
    unique: "a policy of that name exists for the workspace",
  },
});

export const workspaces = collection<Workspace>("workspaces", {
  /** What another instance owns is named there. */
  by_name: {
    key: (workspace) => (workspace.replica === true ? undefined : [workspace.org_id, keyText(workspace.name)]),
    unique: "a workspace of that name exists",
  },
  /** For gauges of key age: of those whose keys are rotated here. */
  by_key_age: { key: (workspace) => (workspace.replica === true ? undefined : [workspace.dek_created_at]) },
});

/** An organisation's place in a workspace: its group, and every key version wrapped for it alone. */
export interface Participation {
  readonly workspace_id: string;
  readonly org_id: string;
  readonly group_id: string | null;
  /** Of the workspace, so that an organisation's list is in order. */
  readonly created_at: string;
  /** Key version to the vault's ciphertext. */
  readonly deks: Readonly<Record<string, string>>;
  /** Of a workspace that another instance owns: the federation over which that instance keeps the participation up to date. */
  readonly federation_id?: string;
}

export const participations = collection<Participation>("workspace_seats", {
  by_org: { key: (participation) => [participation.org_id, participation.created_at] },
  by_group: {
    key: (participation) => (participation.group_id === null ? undefined : [participation.org_id, participation.group_id]),
  },
  by_workspace: { key: (participation) => [participation.workspace_id, participation.org_id] },
  by_federation: {
    key: (participation) => (participation.federation_id === undefined ? undefined : [participation.federation_id]),
  },
});

export const participationId = (workspace: string, org: string): string => `${workspace}/${org}`;

export const invitations = collection<Invitation>("workspace_invitations", {
  by_workspace: { key: (invitation) => [invitation.workspace_id, invitation.created_at] },
  pending: {
    key: (invitation) => (invitation.status === "pending" ? [invitation.workspace_id, invitation.org_id] : undefined),
    unique: "the organisation is already invited",
  },
  by_org: { key: (invitation) => [invitation.org_id, invitation.created_at] },
});

export const joinRequests = collection<JoinRequest>("join_requests", {
  by_group: { key: (request) => [request.org_id, request.group_id, request.created_at] },
  pending: {
    key: (request) =>
      request.status === "pending"
        ? [request.org_id, request.group_id, request.workspace_id ?? "", request.requester_id]
        : undefined,
    unique: "such a request is already pending",
  },
});

/** Kept under the id of their workspace: one each. */
export const rotationPolicies = collection<RotationPolicy>("rotation_policies", {
  by_org: { key: (policy) => [policy.org_id, policy.created_at] },
  enabled: { key: (policy) => (policy.enabled ? [policy.created_at] : undefined) },
});

/** How many uses of a key version are reserved; what a process reserved and did not use is given up. */
interface Uses {
  readonly reserved: number;
}

export const dekUseRecords = collection<Uses>("dek_uses");

export const dekUseId = (workspace: string, version: number): string => `${workspace}/${version}`;

/** A participant's signature for the deletion of a workspace, at one revision of it. Kept on both sides. */
export interface DeletionConsent {
  readonly workspace_id: string;
  /** Who signed. */
  readonly org_id: string;
  readonly revision: number;
  /** Of the workspace as it stood, hex; absent in consents of before, which count no more. */
  readonly state_sha256?: string;
  readonly payload: OperationPayload;
  /** Base64. */
  readonly signature: string;
  readonly created_at: string;
}

export const deletionConsents = collection<DeletionConsent>("deletion_consents", {
  by_workspace: { key: (consent) => [consent.workspace_id] },
});

export const consentId = (workspace: string, org: string): string => `${workspace}/${keyText(org)}`;

/** All that the floor stores. */
export const workspacesCollections: readonly AnyCollection[] = [
  admissions,
  dekUseRecords,
  deletionConsents,
  invitations,
  joinRequests,
  policies,
  rotationPolicies,
  participations,
  workspaces,
];
