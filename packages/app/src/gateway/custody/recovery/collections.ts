import type { Recovery } from "@seneschal/core/keys";
import { collection } from "../../ground/index.ts";

export const recoveries = collection<Recovery>("recoveries", {
  by_org: { key: (recovery) => [recovery.org_id, recovery.created_at] },
  /** One at a time for an admin. */
  open: {
    key: (recovery) => (isOpen(recovery) ? [recovery.org_id, recovery.admin_id] : undefined),
    unique: "a recovery of that admin is open already",
  },
  open_until: { key: (recovery) => (isOpen(recovery) ? [recovery.expires_at] : undefined) },
});

/** Undecided, as it is stored. */
function isOpen({ status }: Recovery): boolean {
  return status === "pending" || status === "shares_collected";
}

/** A submitted share, sealed by the vault for the life of its recovery and no longer. */
interface RecoveryShare {
  readonly recovery_id: string;
  readonly index: number;
  readonly submitted_by: string;
  readonly sealed: string;
}

export const recoveryShares = collection<RecoveryShare>("recovery_shares");

export const recoveryShareId = (recovery: string, index: number): string => `${recovery}/${index}`;
