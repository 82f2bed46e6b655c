import { emergencyStatus, stepEmergency } from "@seneschal/core/keys";
import type { GatewayUnit } from "../../ground/index.ts";
import { emergencies } from "./collections.ts";

/** Ends a request that nobody decided, or a token that ran out. What is not due stays as it is. */
export async function expireEmergency(unit: GatewayUnit, id: string): Promise<void> {
  const access = await unit.get(emergencies, id);
  if (access === undefined || access.status === emergencyStatus(access, unit.call.now)) return;
  const until = access.status === "approved" ? access.token_expiry : access.expires_at;
  // Stepped at the last moment before its end, so that the transition table stays the only rule.
  const { state } = stepEmergency(access, { kind: "expire" }, Date.parse(until ?? access.expires_at) - 1);
  unit.put(emergencies, id, { ...access, ...state, token_hash: null });
  unit.record({
    type: "emergency.complete",
    org: access.org_id,
    metadata: { emergency_id: id, status: state.status, was: access.status },
  });
}
