import { checkArgument } from "@seneschal/kernel";
import { type KeysCode, refusal } from "../codes.ts";
import { type Workspace, type WorkspaceStatus, workspaceStatus } from "./workspace.ts";

/** Every operation on a workspace that its status may forbid. */
export const workspaceOperations = [
  "update",
  "encrypt",
  "decrypt",
  "rotate",
  "extend",
  "invite",
  "accept",
  "decline",
  "request_access",
  "grant",
  "revoke",
  "archive",
  "export",
  "delete",
] as const;
export type WorkspaceOperation = (typeof workspaceOperations)[number];

const archived = "WORKSPACE_ARCHIVED";
const expired = "WORKSPACE_EXPIRED";

/** What a status forbids, and with which code. A missing entry is allowed; the test walks every cell. */
const forbidden: Readonly<Record<WorkspaceStatus, Partial<Record<WorkspaceOperation, KeysCode>>>> = {
  active: {},
  archived: {
    update: archived,
    encrypt: archived,
    rotate: archived,
    extend: archived,
    invite: archived,
    accept: archived,
    request_access: archived,
    grant: archived,
  },
  expired: { encrypt: expired, decrypt: expired, update: expired, rotate: expired, invite: expired },
};

/** The code with which a status refuses an operation, or `undefined` when it allows it. */
export function workspaceRefusal(status: WorkspaceStatus, operation: WorkspaceOperation): KeysCode | undefined {
  checkArgument("status", status, "string");
  checkArgument("operation", operation, "string");
  return forbidden[status][operation];
}

/** Throws `WORKSPACE_ARCHIVED` or `WORKSPACE_EXPIRED` when the status at `now` refuses the operation. */
export function requireWorkspace(workspace: Workspace, operation: WorkspaceOperation, now: number): void {
  checkArgument("workspace", workspace, "object");
  checkArgument("operation", operation, "string");
  checkArgument("now", now, "number");
  const status = workspaceStatus(workspace, now);
  const code = workspaceRefusal(status, operation);
  if (code !== undefined) throw refusal(code, `the workspace is ${status}`, { status });
}
