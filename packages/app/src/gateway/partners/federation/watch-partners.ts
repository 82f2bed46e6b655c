import { every } from "../../ground/index.ts";
import { federations, type StoredFederation } from "../collections.ts";
import type { PartnerServices } from "../services.ts";
import { checkPartner } from "./check-health.ts";

const AT_ONCE = 8;

/** Calls every active partner of every organisation here. A partner's failure is a finding, not an error. */
export async function watchPartners(services: PartnerServices, now: number): Promise<void> {
  const all: StoredFederation[] = [];
  for await (const federation of every(services, federations, "active", [])) all.push(federation);
  services.partners.keep(all.map(({ id }) => id));
  const reachable = all.filter(({ outbound_ready }) => outbound_ready);
  for (let i = 0; i < reachable.length; i += AT_ONCE) {
    await Promise.all(reachable.slice(i, i + AT_ONCE).map((federation) => checkPartner(services, federation, now)));
  }
}
