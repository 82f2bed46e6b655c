import type { GatewayUnit } from "../../ground/index.ts";
import { revokeCertificatesOf } from "../certificates/revoke.ts";
import { forgetIdentity } from "../identities/forget.ts";
import type { PeopleServices } from "../services.ts";
import { serviceIdentities } from "./collections.ts";

/** Removes a service of the organisation with its certificates and all that it was let into; one that is gone stays gone. */
export async function removeService(services: PeopleServices, unit: GatewayUnit, org: string, id: string): Promise<void> {
  const service = await unit.get(serviceIdentities, id);
  if (service?.org_id !== org) return;
  await revokeCertificatesOf(unit, org, { subject_type: "service", subject_id: id });
  await forgetIdentity(services, unit, org, id);
  unit.delete(serviceIdentities, id);
  unit.record({ type: "service.delete", metadata: { service_id: id } });
}
