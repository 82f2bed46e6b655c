import type { Recovery } from "@seneschal/core/keys";
import { collection } from "../../ground/index.ts";
import { type SealedShare, submittedShares } from "../submitted-shares.ts";

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

export const recoveryShares = collection<SealedShare & { readonly recovery_id: string }>("recovery_shares");

export const sharesOfRecovery = submittedShares("recovery", recoveryShares, (recovery_id) => ({ recovery_id }));
