import { checkArgument } from "@seneschal/kernel";
import type { Classification, Mode } from "../enums.ts";
import { isPast, type Timestamp } from "../time.ts";

export const workspaceStatuses = ["active", "archived", "expired"] as const;
/** `expired` is derived from `expires_at`; it is never stored. */
export type WorkspaceStatus = (typeof workspaceStatuses)[number];

export interface Participant {
  readonly org_id: string;
  readonly role: "owner" | "participant";
  readonly joined_at: Timestamp;
}

/** A workspace as it is stored. Wrapped keys live elsewhere. */
export interface Workspace {
  readonly id: string;
  /** The owner's organisation. */
  readonly org_id: string;
  readonly name: string;
  readonly classification: Classification;
  readonly mode: Mode;
  readonly purpose: string;
  /** The identity group of each organisation whose members have access. */
  readonly group_bindings: Readonly<Record<string, string>>;
  readonly participants: readonly Participant[];
  readonly status: Exclude<WorkspaceStatus, "expired">;
  readonly crk_protected: boolean;
  readonly dek_version: number;
  readonly dek_created_at: Timestamp;
  /** Grows by one with every change; signatures cover it. */
  readonly revision: number;
  readonly created_by: string;
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
  readonly expires_at: Timestamp | null;
  /** Another instance owns it: what stands here is what that instance says. */
  readonly replica?: true;
}

/** The status at a moment: an archived workspace stays archived, an active one expires. */
export function workspaceStatus(workspace: Workspace, now: number): WorkspaceStatus {
  checkArgument("workspace", workspace, "object");
  checkArgument("now", now, "number");
  if (workspace.status === "archived") return "archived";
  return isPast(workspace.expires_at, now) ? "expired" : "active";
}

/** True when the organisation owns the workspace or takes part in it. */
export function participates(workspace: Workspace, org: string): boolean {
  checkArgument("workspace", workspace, "object");
  checkArgument("org", org, "string");
  return workspace.participants.some((participant) => participant.org_id === org);
}
