import { checkArgument } from "@seneschal/kernel";
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

/** A pending backup. */
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

/** One step; only a completed backup restores (`STATE_CONFLICT`). */
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

/** Into its own organisation, or into an instance without any; else `RESTORE_FORBIDDEN` (spec 1, "Backups"). */
export function requireRestorable(backupOrg: string, callerOrg: string, instanceIsClean: boolean): void {
  if (backupOrg === callerOrg || instanceIsClean) return;
  throw refusal("RESTORE_FORBIDDEN", "a backup is restored by its own organisation, or into an instance without any");
}
