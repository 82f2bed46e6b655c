import { checkArgument, type JsonObject } from "@seneschal/kernel";
import { refusal } from "./codes.ts";
import { type Timestamp, timestamp } from "./time.ts";
import { nextStatus, type TransitionTable, to, wrongState } from "./transition.ts";

export const backupStatuses = ["pending", "completed", "failed"] as const;
export type BackupStatus = (typeof backupStatuses)[number];

/** What is known of a backup; its payload lies outside the database. */
export interface Backup {
  readonly id: string;
  readonly org_id: string;
  readonly type: "full";
  readonly status: BackupStatus;
  readonly created_by: string;
  readonly completed_at: Timestamp | null;
  /** Bytes of the plaintext. */
  readonly size: number;
  /** Base64 SHA-256 of the plaintext; "" until completed. */
  readonly checksum: string;
  readonly restored_at: Timestamp | null;
  readonly error: string | null;
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
}

export type BackupInput =
  | { readonly kind: "complete"; readonly size: number; readonly checksum: string }
  | { readonly kind: "fail"; readonly error: string }
  | { readonly kind: "restore" };

export const backupTable: TransitionTable<BackupStatus, BackupInput["kind"]> = {
  pending: { complete: to("completed"), fail: to("failed"), restore: wrongState },
  completed: { complete: wrongState, fail: wrongState, restore: to("completed") },
  failed: { complete: wrongState, fail: wrongState, restore: wrongState },
};

/**
 * A pending backup.
 *
 * @example
 * ```ts
 * import { startBackup } from "@seneschal/core/keys";
 * console.log(startBackup({ id: "b1", org: "acme", by: "ada" }, 0).status); // pending
 * ```
 */
export function startBackup(input: { readonly id: string; readonly org: string; readonly by: string }, now: number): Backup {
  checkArgument("input", input, "object");
  checkArgument("now", now, "number");
  const at = timestamp(now);
  return {
    id: input.id,
    org_id: input.org,
    type: "full",
    status: "pending",
    created_by: input.by,
    completed_at: null,
    size: 0,
    checksum: "",
    restored_at: null,
    error: null,
    created_at: at,
    updated_at: at,
  };
}

/**
 * One step; only a completed backup restores (`STATE_CONFLICT`).
 *
 * @example
 * ```ts
 * import { startBackup, stepBackup } from "@seneschal/core/keys";
 * const backup = startBackup({ id: "b1", org: "acme", by: "ada" }, 0);
 * console.log(stepBackup(backup, { kind: "complete", size: 3, checksum: "00" }, 1).status); // completed
 * ```
 */
export function stepBackup(backup: Backup, input: BackupInput, now: number): Backup {
  checkArgument("backup", backup, "object");
  checkArgument("input", input, "object");
  checkArgument("now", now, "number");
  const status = nextStatus("backup", backupTable, backup.status, input.kind);
  const at = timestamp(now);
  switch (input.kind) {
    case "complete":
      return { ...backup, status, size: input.size, checksum: input.checksum, completed_at: at, updated_at: at };
    case "fail":
      return { ...backup, status, error: input.error, updated_at: at };
    case "restore":
      return { ...backup, restored_at: at, updated_at: at };
    default:
      return input satisfies never;
  }
}

/**
 * Into its own organisation, or into an instance without any; else `RESTORE_FORBIDDEN` (spec 1, "Backups").
 *
 * @example
 * ```ts
 * import { requireRestorable } from "@seneschal/core/keys";
 * requireRestorable("acme", "acme", false);
 * try {
 *   requireRestorable("acme", "globex", false);
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // RESTORE_FORBIDDEN
 * }
 * ```
 */
export function requireRestorable(backupOrg: string, callerOrg: string, instanceIsClean: boolean): void {
  if (backupOrg === callerOrg || instanceIsClean) return;
  throw refusal("RESTORE_FORBIDDEN", "a backup is restored by its own organisation, or into an instance without any");
}

/**
 * What a restore does to a document that is there: `replace` puts the saved one in its place unless what it stands for ended since; `keep` leaves it, as
 * what counts, remembers or is a key of an epoch; the others know their noun.
 */
export const restoreRules = ["replace", "keep", "organization", "workspace", "participation", "policy"] as const;
export type RestoreRule = (typeof restoreRules)[number];

/**
 * What stands in place of a document after a restore into `org`; `undefined`: what is there stays. Time goes on: what was revoked, disabled or removed since
 * stays so, keys and versions do not go back, and none is lost that either side has.
 *
 * @example
 * ```ts
 * import { restoreDocument } from "@seneschal/core/keys";
 * const revoked = restoreDocument("replace", { status: "active" }, { status: "revoked" }, "acme");
 * console.log(revoked, restoreDocument("policy", { version: 3 }, { version: 7 }, "acme")); // undefined { version: 8 }
 * ```
 */
export function restoreDocument(rule: RestoreRule, saved: JsonObject, current: JsonObject, org: string): JsonObject | undefined {
  checkArgument("rule", rule, "string");
  checkArgument("saved", saved, "object");
  checkArgument("current", current, "object");
  checkArgument("org", org, "string");
  switch (rule) {
    case "replace": {
      const over = current["status"] === "revoked" || current["enrollment_status"] === "disabled" || current["active"] === false;
      return over ? undefined : saved;
    }
    case "keep":
      return undefined;
    case "organization": {
      // One that was configured and has no root key yet takes the one of the backup.
      if (current["crk_id"] !== null) return undefined;
      const { crk_id: _none, ...rest } = current;
      return { ...saved, ...rest };
    }
    case "workspace": {
      // Of one's own; its key version does not go back, and signatures for an earlier revision stay worthless.
      if (saved["org_id"] !== org) return undefined;
      const newer = Number(current["dek_version"]) > Number(saved["dek_version"]);
      return {
        ...saved,
        ...(newer ? { dek_version: current["dek_version"], dek_created_at: current["dek_created_at"] } : {}),
        revision: Math.max(Number(current["revision"]), Number(saved["revision"])) + 1,
      } as JsonObject;
    }
    case "participation":
      return saved["org_id"] === org
        ? { ...saved, deks: { ...(saved["deks"] as JsonObject), ...(current["deks"] as JsonObject) } }
        : undefined;
    case "policy":
      // Compiled policies are known by id and version: a text never comes back under a number that stood for another.
      return { ...saved, version: Math.max(Number(saved["version"]), Number(current["version"])) + 1 };
    default:
      return rule satisfies never;
  }
}
