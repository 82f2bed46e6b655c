import { type Ceremony, type CeremonyInput, stepCeremony, stepCrk } from "@seneschal/core/keys";
import { crks, type GatewayUnit } from "../../ground/index.ts";
import { recordAct } from "../dealt-transcripts/record.ts";
import type { CustodyServices } from "../services.ts";
import { ceremonies, sharesOfCeremony } from "./collections.ts";

/** Cancels or expires a ceremony: shares are erased, a key in rotation goes back to `active`. */
export async function endCeremony(
  services: CustodyServices,
  unit: GatewayUnit,
  ceremony: Ceremony,
  input: Extract<CeremonyInput, { readonly kind: "cancel" | "expire" }>,
): Promise<void> {
  // An expired ceremony is stepped at the moment it was still pending, so that the table stays the only rule.
  const at = input.kind === "expire" ? Date.parse(ceremony.expires_at) - 1 : unit.call.now;
  const { state } = stepCeremony(ceremony, input, at);
  unit.put(ceremonies, ceremony.id, state);
  sharesOfCeremony.erase(unit, ceremony);
  const crk = ceremony.operation === "rotate" && ceremony.crk_id !== null ? await unit.get(crks, ceremony.crk_id) : undefined;
  if (crk?.status === "rotating")
    unit.put(crks, crk.id, { ...crk, ...stepCrk(crk, { kind: "abandon_rotation" }, unit.call.now) });
  const reason = input.kind === "cancel" ? "cancelled" : "expired";
  const recorded = await recordAct(services, unit, ceremony.id, { type: "end", reason });
  unit.record({
    type: "crk.ceremony",
    org: ceremony.org_id,
    metadata: { ceremony_id: ceremony.id, operation: ceremony.operation, event: state.status, ...recorded },
  });
}
