import { admit } from "@seneschal/core/keys";
import type { GatewayUnit } from "../../ground/index.ts";
import { identityTypeOf } from "../../people/index.ts";
import type { WorkspaceServices } from "../services.ts";
import { activeAdmission, admissions } from "./collections.ts";

/** Admits who brings a workspace to its organisation, by accepting an invitation or importing a bundle, unless it is admitted. */
export async function admitCaller(services: WorkspaceServices, unit: GatewayUnit, workspace: string): Promise<void> {
  const { principal, now } = unit.call;
  const { id: identity_id, org } = principal;
  if ((await activeAdmission(unit, workspace, org, identity_id)) !== undefined) return;
  const of = { workspace_id: workspace, org, identity_id, identity_type: identityTypeOf(principal), by: identity_id };
  const admission = admit({ id: services.newId(now), ...of }, now);
  unit.insert(admissions, admission.id, admission);
}
