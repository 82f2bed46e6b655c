import { isCoded } from "@seneschal/kernel";
import { every } from "../../ground/index.ts";
import { federations, type StoredFederation } from "../federation/collections.ts";
import type { PartnerServices } from "../services.ts";
import { askPartner } from "./ask-partner.ts";

const AT_ONCE = 8;

/**
 * Rounds in which every partner is asked to witness the audit log of the organisation that it is federated with. Who did not answer the last time is asked behind all
 * others, and one that is still being waited for is left alone: a partner keeps nobody waiting but itself.
 */
export function witnessRounds(): (services: PartnerServices, now: number) => Promise<void> {
  let silent = new Set<string>();
  return async (services, now) => {
    const all: StoredFederation[] = [];
    for await (const federation of every(services, federations, "active", []))
      if (federation.outbound_ready) all.push(federation);
    const waiting = [...all.filter(({ id }) => !silent.has(id)), ...all.filter(({ id }) => silent.has(id))].values();
    const failed = new Set<string>();
    const errors: unknown[] = [];
    const work = async (): Promise<void> => {
      for (const federation of waiting) {
        await askPartner(services, federation, now).catch((error: unknown) => {
          failed.add(federation.id);
          // Health and metrics tell of partners that do not answer.
          if (!isCoded(error, "FEDERATION_FAILED")) errors.push(error);
        });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    silent = failed;
    if (errors.length > 0) throw new AggregateError(errors, "audit logs were not witnessed");
  };
}
