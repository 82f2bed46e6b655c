import type { JsonObject } from "@seneschal/kernel";
import type { AuditResult } from "../enums.ts";

/** What an audit log hears of a workspace that organisations of two instances share. */
export interface ReplicaEvent {
  readonly type:
    | "workspace.join"
    | "workspace.leave"
    | "workspace.archive"
    | "workspace.extend"
    | "workspace.update"
    | "workspace.invite"
    | "workspace.invite.accept"
    | "workspace.invite.decline"
    | "key.rotate"
    | "federation.delivery";
  /** Whose log. */
  readonly org: string;
  readonly workspace: string;
  /** Default `success`. */
  readonly result?: AuditResult;
  readonly metadata?: JsonObject;
}
