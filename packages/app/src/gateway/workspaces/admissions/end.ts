import { revokeAdmission } from "@seneschal/core/keys";
import type { GatewayUnit } from "../../ground/index.ts";
import { admissions } from "./collections.ts";

/** Ends an admission with what gave it; one that is over stays so. */
export async function endAdmission(unit: GatewayUnit, id: string): Promise<void> {
  const { principal, now } = unit.call;
  const admission = await unit.get(admissions, id);
  if (admission?.status !== "active") return;
  const { org_id: org, workspace_id: workspace, identity_id } = admission;
  unit.put(admissions, id, revokeAdmission(admission, { id: principal.id, org, ownsWorkspace: false }, now));
  unit.record({ type: "workspace.admission.revoke", org, workspace, metadata: { admission_id: id, identity_id } });
}
