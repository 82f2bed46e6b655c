import { rotatesShares, stepCrk, timestamp } from "@seneschal/core/keys";
import { crks, type GatewayUnit } from "../../ground/index.ts";
import { custodyCeremonies, type StoredCustodyCeremony } from "./collections.ts";

/** The gateway relays no more entries of an open ceremony; a key that was to have new shares keeps those that it has. */
export async function endCustodyCeremony(
  unit: GatewayUnit,
  ceremony: StoredCustodyCeremony,
  status: "cancelled" | "expired",
): Promise<void> {
  unit.put(custodyCeremonies, ceremony.id, { ...ceremony, status, updated_at: timestamp(unit.call.now) });
  await abandonRotation(unit, ceremony);
  unit.record({
    type: "crk.ceremony",
    org: ceremony.org_id,
    metadata: { ceremony_id: ceremony.id, operation: ceremony.kind, event: status },
  });
}

/** A key whose refresh or reshare came to nothing has the shares that it had. */
export async function abandonRotation(unit: GatewayUnit, { kind, crk_id }: StoredCustodyCeremony): Promise<void> {
  const crk = rotatesShares(kind) && crk_id !== null ? await unit.get(crks, crk_id) : undefined;
  if (crk?.status !== "rotating") return;
  unit.put(crks, crk.id, { ...crk, ...stepCrk(crk, { kind: "abandon_rotation" }, unit.call.now) });
}
