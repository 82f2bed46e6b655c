import { type Recovery, type RecoveryEffect, recoveryStatus, stepAdmin, stepRecovery } from "@seneschal/core/keys";
import type { GatewayUnit } from "../../ground/index.ts";
import { admins, carryOutAdmin, countSuperAdmins, findAdmin, mfaFactors } from "../../people/index.ts";
import type { CustodyServices } from "../services.ts";
import { recoveries, sharesOfRecovery } from "./collections.ts";

/** Does what the end of a recovery asks for. Answers the enrolment token where one was issued; it is shown once. */
export async function carryOutRecovery(
  services: CustodyServices,
  unit: GatewayUnit,
  recovery: Recovery,
  effects: readonly RecoveryEffect[],
): Promise<string | undefined> {
  let token: string | undefined;
  for (const effect of effects) {
    switch (effect.kind) {
      case "hold_share":
        break;
      case "erase_shares":
        sharesOfRecovery.erase(unit, recovery);
        break;
      case "reset_credentials": {
        const admin = await findAdmin(unit, effect.admin_id, recovery.org_id);
        const supers = await countSuperAdmins(unit, recovery.org_id);
        const reset = stepAdmin(admin, { kind: "reset" }, supers, unit.call.now);
        token = await carryOutAdmin(services, unit, reset.state, reset.effects);
        unit.put(admins, admin.id, reset.state);
        if ((await unit.get(mfaFactors, admin.id)) !== undefined) unit.delete(mfaFactors, admin.id);
        break;
      }
      case "clear_lock": {
        const factor = await unit.get(mfaFactors, effect.admin_id);
        if (factor !== undefined) unit.put(mfaFactors, effect.admin_id, { ...factor, failures: 0, locked_until: null });
        break;
      }
      default:
        effect satisfies never;
    }
  }
  return token;
}

/** Ends a recovery whose time is over; its shares are erased. What is not due stays as it is. */
export async function expireRecovery(services: CustodyServices, unit: GatewayUnit, id: string): Promise<void> {
  const recovery = await unit.get(recoveries, id);
  if (recovery === undefined || recoveryStatus(recovery, unit.call.now) === recovery.status) return;
  // Stepped at the last moment before its end, so that the transition table stays the only rule.
  const { state, effects } = stepRecovery(recovery, { kind: "expire" }, Date.parse(recovery.expires_at) - 1);
  await carryOutRecovery(services, unit, recovery, effects);
  unit.put(recoveries, id, state);
  unit.record({
    type: "recovery.complete",
    org: recovery.org_id,
    result: "error",
    metadata: { recovery_id: id, admin_id: recovery.admin_id, status: state.status },
  });
}
