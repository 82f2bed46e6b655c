import type { Invitation, JoinRequest, Workspace } from "@seneschal/core/keys";
import { collection, keyText } from "../../ground/index.ts";

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
export interface Seat {
  readonly workspace_id: string;
  readonly org_id: string;
  readonly group_id: string | null;
  /** Of the workspace, so that an organisation's list is in order. */
  readonly created_at: string;
  /** Key version to the vault's ciphertext. */
  readonly deks: Readonly<Record<string, string>>;
  /** Of a workspace that another instance owns: the federation over which that instance keeps the seat up to date. */
  readonly federation_id?: string;
}

export const seats = collection<Seat>("workspace_seats", {
  by_org: { key: (seat) => [seat.org_id, seat.created_at] },
  by_group: { key: (seat) => (seat.group_id === null ? undefined : [seat.org_id, seat.group_id]) },
  by_workspace: { key: (seat) => [seat.workspace_id, seat.org_id] },
  by_federation: { key: (seat) => (seat.federation_id === undefined ? undefined : [seat.federation_id]) },
});

export const seatId = (workspace: string, org: string): string => `${workspace}/${org}`;

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
