import { stepFederation, stepWorkspace } from "@seneschal/core/keys";
import type { GatewayUnit } from "../call.ts";
import { certificates } from "../certificates/collections.ts";
import { revokeCertificate } from "../certificates/revoke.ts";
import type { GatewayServices } from "../services.ts";
import { carryOut } from "../workspaces/carry-out.ts";
import { seats, workspaces } from "../workspaces/collections.ts";
import { federations, type StoredFederation } from "./collections.ts";

/**
 * Ends a federation for good: the partner's next call is refused, it leaves every workspace of the organisation, and their
 * keys rotate, because it knows the old ones.
 */
export async function endFederation(
  services: GatewayServices,
  unit: GatewayUnit,
  federation: StoredFederation,
  { revokeCertificates }: { readonly revokeCertificates: boolean },
): Promise<StoredFederation> {
  const { now } = unit.call;
  const { org_id: org, partner_org_id: partner } = federation;
  const { state } = stepFederation(federation, { kind: "revoke" }, now);
  const ended: StoredFederation = { ...federation, ...state };
  unit.put(federations, ended.id, ended);
  if (revokeCertificates) {
    for (const { serial_number } of await unit.list(certificates, "by_subject", [org, "partner", federation.id])) {
      await revokeCertificate(unit, serial_number);
    }
  }
  for (const { workspace_id: id } of await unit.list(seats, "by_org", [partner])) {
    const workspace = await unit.get(workspaces, id);
    if (workspace?.org_id !== org) continue;
    const { state: left, effects } = stepWorkspace(workspace, { kind: "leave", org: partner }, now);
    unit.put(workspaces, id, left);
    await carryOut(services, unit, left, effects);
    unit.record({ type: "workspace.leave", org, workspace: id, metadata: { org_id: partner } });
    unit.record({ type: "key.rotate", org, workspace: id, metadata: { version: left.dek_version } });
  }
  unit.record({ type: "federation.revoke", org, metadata: { federation_id: federation.id, partner_org_id: partner } });
  return ended;
}
