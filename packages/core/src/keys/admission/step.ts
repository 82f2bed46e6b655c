import { refusal } from "../codes.ts";
import type { IdentityType } from "../enums.ts";
import { type Timestamp, timestamp } from "../time.ts";
import { nextStatus, type TransitionTable, to, wrongState } from "../transition.ts";

export const admissionStatuses = ["active", "revoked"] as const;
export type AdmissionStatus = (typeof admissionStatuses)[number];

/** One identity let into one workspace by its own organisation. Revoked is final; a new grant is a new record. */
export interface Admission {
  readonly id: string;
  readonly org_id: string;
  readonly workspace_id: string;
  readonly identity_id: string;
  readonly identity_type: IdentityType;
  readonly status: AdmissionStatus;
  readonly granted_by: string;
  readonly granted_at: Timestamp;
  readonly revoked_by: string | null;
  readonly revoked_at: Timestamp | null;
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
}

export const admissionTable: TransitionTable<AdmissionStatus, "revoke"> = {
  active: { revoke: to("revoked") },
  revoked: { revoke: wrongState },
};

export interface Grant {
  readonly id: string;
  readonly workspace_id: string;
  readonly org: string;
  readonly identity_id: string;
  readonly identity_type: IdentityType;
  readonly by: string;
}

/** An active admission. */
export function admit(grant: Grant, now: number): Admission {
  const at = timestamp(now);
  return {
    id: grant.id,
    org_id: grant.org,
    workspace_id: grant.workspace_id,
    identity_id: grant.identity_id,
    identity_type: grant.identity_type,
    status: "active",
    granted_by: grant.by,
    granted_at: at,
    revoked_by: null,
    revoked_at: null,
    created_at: at,
    updated_at: at,
  };
}

/** Ends an admission; the identity's own organisation or the workspace's owner may, another may not (`FORBIDDEN`). */
export function revokeAdmission(
  admission: Admission,
  by: { readonly id: string; readonly org: string; readonly ownsWorkspace: boolean },
  now: number,
): Admission {
  if (admission.org_id !== by.org && !by.ownsWorkspace) {
    throw refusal("FORBIDDEN", "only the identity's organisation or the owner may revoke an admission");
  }
  const at = timestamp(now);
  return {
    ...admission,
    status: nextStatus("admission", admissionTable, admission.status, "revoke"),
    revoked_by: by.id,
    revoked_at: at,
    updated_at: at,
  };
}
