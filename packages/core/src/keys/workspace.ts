import { checkArgument } from "@seneschal/kernel";
import { invalidField, type KeysCode, refusal } from "./codes.ts";
import type { Classification, Mode } from "./enums.ts";
import { limits } from "./lifetimes.ts";
import { isPast, milliseconds, type Timestamp, timestamp } from "./time.ts";
import type { Step } from "./transition.ts";

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

/**
 * The status at a moment: an archived workspace stays archived, an active one expires.
 *
 * @example
 * ```ts
 * import { createWorkspace, workspaceStatus } from "@seneschal/core/keys";
 * const input = { name: "merger", classification: "CONFIDENTIAL", mode: "standard", purpose: "", group_id: null, crk_protected: false } as const;
 * const { state: workspace } = createWorkspace({ id: "w1", org: "acme", by: "ada", ...input }, 0);
 * const ending = { ...workspace, expires_at: "1970-01-01T00:00:01.000Z" };
 * console.log(workspaceStatus(ending, 999), workspaceStatus(ending, 1000)); // active expired
 * ```
 */
export function workspaceStatus(workspace: Workspace, now: number): WorkspaceStatus {
  checkArgument("workspace", workspace, "object");
  checkArgument("now", now, "number");
  if (workspace.status === "archived") return "archived";
  return isPast(workspace.expires_at, now) ? "expired" : "active";
}

/**
 * True when the organisation owns the workspace or takes part in it.
 *
 * @example
 * ```ts
 * import { createWorkspace, participates } from "@seneschal/core/keys";
 * const input = { name: "merger", classification: "CONFIDENTIAL", mode: "standard", purpose: "", group_id: null, crk_protected: false } as const;
 * const { state: workspace } = createWorkspace({ id: "w1", org: "acme", by: "ada", ...input }, 0);
 * console.log(participates(workspace, "acme"), participates(workspace, "globex")); // true false
 * ```
 */
export function participates(workspace: Workspace, org: string): boolean {
  checkArgument("workspace", workspace, "object");
  checkArgument("org", org, "string");
  return workspace.participants.some((participant) => participant.org_id === org);
}

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

/**
 * The code with which a status refuses an operation, or `undefined` when it allows it.
 *
 * @example
 * ```ts
 * import { workspaceRefusal } from "@seneschal/core/keys";
 * console.log(workspaceRefusal("archived", "encrypt"), workspaceRefusal("active", "encrypt")); // WORKSPACE_ARCHIVED undefined
 * ```
 */
export function workspaceRefusal(status: WorkspaceStatus, operation: WorkspaceOperation): KeysCode | undefined {
  checkArgument("status", status, "string");
  checkArgument("operation", operation, "string");
  return forbidden[status][operation];
}

/**
 * Throws `WORKSPACE_ARCHIVED` or `WORKSPACE_EXPIRED` when the status at `now` refuses the operation.
 *
 * @example
 * ```ts
 * import { createWorkspace, requireWorkspace } from "@seneschal/core/keys";
 * const input = { name: "merger", classification: "CONFIDENTIAL", mode: "standard", purpose: "", group_id: null, crk_protected: false } as const;
 * const { state: workspace } = createWorkspace({ id: "w1", org: "acme", by: "ada", ...input }, 0);
 * requireWorkspace(workspace, "encrypt", 1);
 * try {
 *   requireWorkspace({ ...workspace, status: "archived" }, "encrypt", 1);
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // WORKSPACE_ARCHIVED
 * }
 * ```
 */
export function requireWorkspace(workspace: Workspace, operation: WorkspaceOperation, now: number): void {
  checkArgument("workspace", workspace, "object");
  checkArgument("operation", operation, "string");
  checkArgument("now", now, "number");
  const status = workspaceStatus(workspace, now);
  const code = workspaceRefusal(status, operation);
  if (code !== undefined) throw refusal(code, `the workspace is ${status}`, { status });
}

/** What can happen to a workspace. Signatures were verified before; `signed` says that one was there. */
export type WorkspaceInput =
  | { readonly kind: "update"; readonly changes: WorkspaceChanges; readonly signed: boolean }
  | { readonly kind: "extend"; readonly expires_at: Timestamp }
  | { readonly kind: "rotate" }
  | { readonly kind: "archive" }
  | { readonly kind: "join"; readonly org: string; readonly group_id: string | null }
  | { readonly kind: "leave"; readonly org: string }
  | { readonly kind: "delete"; readonly signed_by: readonly string[] };

export interface WorkspaceChanges {
  readonly purpose?: string;
  readonly classification?: Classification;
  readonly mode?: Mode;
}

/** What the caller carries out in the same transaction, in order. */
export type WorkspaceEffect =
  /** Make DEK `version` and wrap it for every organisation named. */
  | { readonly kind: "mint_dek"; readonly version: number; readonly orgs: readonly string[] }
  /** Wrap every existing DEK version for an organisation that joined. */
  | { readonly kind: "wrap_deks"; readonly org: string }
  | { readonly kind: "drop_deks"; readonly org: string }
  | { readonly kind: "revoke_invitations" }
  | { readonly kind: "revoke_admissions"; readonly org: string }
  | { readonly kind: "destroy" };

export interface WorkspaceCreate {
  readonly id: string;
  readonly org: string;
  readonly by: string;
  readonly name: string;
  readonly classification: Classification;
  readonly mode: Mode;
  readonly purpose: string;
  readonly group_id: string | null;
  readonly crk_protected: boolean;
}

/**
 * A new workspace: active, owned by the caller's organisation, DEK version 1.
 *
 * @example
 * ```ts
 * import { createWorkspace } from "@seneschal/core/keys";
 * const input = { name: "merger", classification: "CONFIDENTIAL", mode: "standard", purpose: "", group_id: null, crk_protected: false } as const;
 * const { state: workspace } = createWorkspace({ id: "w1", org: "acme", by: "ada", ...input }, 0);
 * console.log(workspace.status, workspace.dek_version); // active 1
 * ```
 */
export function createWorkspace(input: WorkspaceCreate, now: number): Step<Workspace, WorkspaceEffect> {
  checkArgument("input", input, "object");
  checkArgument("now", now, "number");
  const at = timestamp(now);
  const state: Workspace = {
    id: input.id,
    org_id: input.org,
    name: input.name,
    classification: input.classification,
    mode: input.mode,
    purpose: input.purpose,
    group_bindings: input.group_id === null ? {} : { [input.org]: input.group_id },
    participants: [{ org_id: input.org, role: "owner", joined_at: at }],
    status: "active",
    crk_protected: input.crk_protected,
    dek_version: 1,
    dek_created_at: at,
    revision: 1,
    created_by: input.by,
    created_at: at,
    updated_at: at,
    expires_at: null,
  };
  return { state, effects: [{ kind: "mint_dek", version: 1, orgs: [input.org] }] };
}

/**
 * One step of a workspace. Throws `WORKSPACE_ARCHIVED`, `WORKSPACE_EXPIRED`, `SIGNATURE_REQUIRED`, `CONFLICT` or
 * `VALIDATION_ERROR`; archiving twice is no change.
 *
 * @example
 * ```ts
 * import { createWorkspace, stepWorkspace } from "@seneschal/core/keys";
 * const input = { name: "merger", classification: "CONFIDENTIAL", mode: "standard", purpose: "", group_id: null, crk_protected: false } as const;
 * const { state: workspace } = createWorkspace({ id: "w1", org: "acme", by: "ada", ...input }, 0);
 * const { state, effects } = stepWorkspace(workspace, { kind: "rotate" }, 1);
 * console.log(state.dek_version, effects); // 2 [ { kind: 'mint_dek', version: 2, orgs: [ 'acme' ] } ]
 * ```
 */
export function stepWorkspace(workspace: Workspace, input: WorkspaceInput, now: number): Step<Workspace, WorkspaceEffect> {
  checkArgument("workspace", workspace, "object");
  checkArgument("input", input, "object");
  checkArgument("now", now, "number");
  const changed = (changes: Partial<Workspace>): Workspace => ({
    ...workspace,
    ...changes,
    revision: workspace.revision + 1,
    updated_at: timestamp(now),
  });
  switch (input.kind) {
    case "update": {
      requireWorkspace(workspace, "update", now);
      if (lowersProtection(workspace, input.changes) && !input.signed) {
        throw refusal("SIGNATURE_REQUIRED", "lowering the protection of a workspace needs a signature", { field: "signature" });
      }
      return { state: changed(input.changes), effects: [] };
    }
    case "extend": {
      requireWorkspace(workspace, "extend", now);
      if (isPast(input.expires_at, now)) throw invalidField("expires_at", "must be in the future");
      if (workspace.expires_at !== null && milliseconds(input.expires_at) <= milliseconds(workspace.expires_at)) {
        throw invalidField("expires_at", "must be later than the current value");
      }
      return { state: changed({ expires_at: input.expires_at }), effects: [] };
    }
    case "rotate":
      requireWorkspace(workspace, "rotate", now);
      if (workspace.dek_version >= limits.keyVersions.rotate) {
        throw refusal("CONFLICT", `a workspace has at most ${limits.keyVersions.rotate} key versions: make a new one`, {
          limit: limits.keyVersions.rotate,
        });
      }
      return rotated(workspace, changed({}), now);
    case "archive":
      if (workspace.status === "archived") return { state: workspace, effects: [] };
      return { state: changed({ status: "archived" }), effects: [{ kind: "revoke_invitations" }] };
    case "join": {
      requireWorkspace(workspace, "accept", now);
      if (participates(workspace, input.org)) throw refusal("CONFLICT", "the organisation already takes part");
      const participant = { org_id: input.org, role: "participant" as const, joined_at: timestamp(now) };
      const bindings =
        input.group_id === null ? workspace.group_bindings : { ...workspace.group_bindings, [input.org]: input.group_id };
      return {
        state: changed({ participants: [...workspace.participants, participant], group_bindings: bindings }),
        effects: [{ kind: "wrap_deks", org: input.org }],
      };
    }
    case "leave": {
      if (!participates(workspace, input.org)) return { state: workspace, effects: [] };
      if (workspace.org_id === input.org) throw refusal("STATE_CONFLICT", "the owner cannot leave its workspace");
      const { [input.org]: _gone, ...group_bindings } = workspace.group_bindings;
      const rest = changed({
        participants: workspace.participants.filter((participant) => participant.org_id !== input.org),
        group_bindings,
      });
      const gone: readonly WorkspaceEffect[] = [
        { kind: "drop_deks", org: input.org },
        { kind: "revoke_admissions", org: input.org },
      ];
      // An organisation that left knows the old DEK: what is written from now on must not open with it.
      if (workspace.dek_version >= limits.keyVersions.max) return { state: { ...rest, status: "archived" }, effects: gone };
      const next = rotated(rest, rest, now);
      return { state: next.state, effects: [...gone, ...next.effects] };
    }
    case "delete": {
      requireWorkspace(workspace, "delete", now);
      const missing = workspace.participants.map((p) => p.org_id).filter((org) => !input.signed_by.includes(org));
      if (workspace.crk_protected && missing.length > 0) {
        throw refusal("SIGNATURE_REQUIRED", "every participating organisation must sign the deletion", {
          field: "signatures",
          missing,
        });
      }
      return { state: workspace, effects: [{ kind: "revoke_invitations" }, { kind: "destroy" }] };
    }
    default:
      return input satisfies never;
  }
}

/**
 * SECRET to CONFIDENTIAL and airgap to standard are steps down.
 *
 * @example
 * ```ts
 * import { createWorkspace, lowersProtection } from "@seneschal/core/keys";
 * const input = { name: "merger", classification: "CONFIDENTIAL", mode: "standard", purpose: "", group_id: null, crk_protected: false } as const;
 * const { state: workspace } = createWorkspace({ id: "w1", org: "acme", by: "ada", ...input }, 0);
 * console.log(lowersProtection(workspace, { classification: "SECRET" }), lowersProtection(workspace, { purpose: "new" })); // false false
 * ```
 */
export function lowersProtection(workspace: Workspace, changes: WorkspaceChanges): boolean {
  checkArgument("workspace", workspace, "object");
  checkArgument("changes", changes, "object");
  return (
    (workspace.classification === "SECRET" && changes.classification === "CONFIDENTIAL") ||
    (workspace.mode === "airgap" && changes.mode === "standard")
  );
}

function rotated(before: Workspace, base: Workspace, now: number): Step<Workspace, WorkspaceEffect> {
  const version = before.dek_version + 1;
  return {
    state: { ...base, dek_version: version, dek_created_at: timestamp(now) },
    effects: [{ kind: "mint_dek", version, orgs: base.participants.map((participant) => participant.org_id) }],
  };
}
