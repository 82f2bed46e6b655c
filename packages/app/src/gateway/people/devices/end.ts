import { revokeDevice } from "@seneschal/core/keys";
import type { GatewayUnit } from "../../ground/index.ts";
import { revokeCertificate } from "../certificates/revoke.ts";
import { forgetIdentity } from "../identities/forget.ts";
import type { PeopleServices } from "../services.ts";
import { devices } from "./collections.ts";

/** Revokes a device of the organisation with its certificate; one that is revoked stays so. */
export async function endDevice(services: PeopleServices, unit: GatewayUnit, org: string, id: string): Promise<void> {
  const device = await unit.get(devices, id);
  if (device?.org_id !== org || device.status === "revoked") return;
  const { state, effects } = revokeDevice(device, unit.call.now);
  for (const { serial } of effects) await revokeCertificate(unit, serial);
  await forgetIdentity(services, unit, org, id);
  unit.put(devices, id, state);
  unit.record({ type: "device.revoke", metadata: { device_id: id, serial_number: device.cert_serial } });
}
