import type { Admission } from "@seneschal/core/keys";
import { collection, type Reader } from "../../ground/index.ts";

export const admissions = collection<Admission>("workspace_admissions", {
  by_workspace: { key: (admission) => [admission.workspace_id, admission.created_at] },
  by_workspace_identity: {
    key: (admission) => [admission.workspace_id, admission.org_id, admission.identity_id, admission.created_at],
  },
  active: {
    key: (admission) =>
      admission.status === "active" ? [admission.workspace_id, admission.org_id, admission.identity_id] : undefined,
    unique: "the identity is already admitted",
  },
  by_identity: {
    key: (admission) =>
      admission.status === "active" ? [admission.org_id, admission.identity_id, admission.created_at] : undefined,
  },
});

/** The active admission of an identity, if there is one. */
export async function activeAdmission(
  read: Reader,
  workspace: string,
  org: string,
  identity: string,
): Promise<Admission | undefined> {
  const [admission] = await read.list(admissions, "active", [workspace, org, identity], { limit: 1 });
  return admission;
}
