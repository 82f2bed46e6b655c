import { type GenerationCeremony, type GenerationInput, stepGeneration } from "@seneschal/core/keys";
import type { GatewayUnit } from "../../ground/index.ts";
import { recordAct } from "../dealt-transcripts/record.ts";
import type { CustodyServices } from "../services.ts";
import { generationCeremonies, heldKeyId, heldKeys } from "./collections.ts";

/** Cancels or expires a generation ceremony; the derived keys are erased. */
export async function endGeneration(
  services: CustodyServices,
  unit: GatewayUnit,
  ceremony: GenerationCeremony,
  input: Extract<GenerationInput, { readonly kind: "cancel" | "expire" }>,
): Promise<void> {
  const at = input.kind === "expire" ? Date.parse(ceremony.expires_at) - 1 : unit.call.now;
  const { state } = stepGeneration(ceremony, input, at);
  unit.put(generationCeremonies, ceremony.id, state);
  eraseHeldKeys(unit, ceremony);
  const reason = input.kind === "cancel" ? "cancelled" : "expired";
  const recorded = await recordAct(services, unit, ceremony.id, { type: "end", reason });
  unit.record({
    type: "crk.ceremony",
    org: ceremony.org_id,
    metadata: { ceremony_id: ceremony.id, operation: "generate", event: state.status, ...recorded },
  });
}

/** Carries out `erase_keys`. */
export function eraseHeldKeys(unit: GatewayUnit, ceremony: GenerationCeremony): void {
  for (const entry of ceremony.seed_entries) unit.delete(heldKeys, heldKeyId(ceremony.id, entry.index));
}
