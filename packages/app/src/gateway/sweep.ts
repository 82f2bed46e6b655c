import { lifetimes, type Replica, retireCredentials, timestamp } from "@seneschal/core/keys";
import type { Background } from "../platform/background.ts";
import {
  ceremonies,
  custodyCeremonies,
  endCeremony,
  endCustodyCeremony,
  endGeneration,
  expireRecovery,
  generationCeremonies,
  recoveries,
} from "./custody/index.ts";
import { type Collection, forgetEnded, type GatewayUnit, signingRequests, spentNonces, systemCall } from "./ground/index.ts";
import { destroyReplica, purgeMessages, replicaId, replicas } from "./partners/index.ts";
import { emergencies, expireEmergency, saveService, serviceIdentities, writeLastUse } from "./people/index.ts";
import type { GatewayServices } from "./services.ts";

/**
 * Ends what time has ended: ceremonies that were left open (their held shares and keys are erased), nonces that protect
 * nothing any more, signing requests that nobody can use. A resource with deadlines adds its step here; each step, and each resource of a step, fails alone. Running it
 * twice, or on two processes, does no harm.
 */
export async function sweep(services: GatewayServices, background: Background, now: number): Promise<void> {
  const due = { to: [timestamp(now)], limit: 100 };
  /** Ends what an index of times has due, each in a transaction of its organisation that looks at it again. */
  const expire = <T extends { readonly org_id: string }>(
    name: string,
    [from, index, idOf]: readonly [from: Collection<T>, index: string, idOf: (found: T) => string],
    work: (unit: GatewayUnit, current: T) => Promise<void>,
  ): Promise<void> =>
    background.each(name, services.read.list(from, index, [], due), (found) =>
      services.transact(systemCall("system:expiry", found.org_id, now), async (unit) => {
        const current = await unit.get(from, idOf(found));
        if (current !== undefined) await work(unit, current);
      }),
    );
  const own = ({ id }: { readonly id: string }): string => id;
  await expire("open ceremonies", [ceremonies, "open_until", own], async (unit, ceremony) => {
    if (ceremony.status === "pending") await endCeremony(services, unit, ceremony, { kind: "expire" });
  });
  await expire("open generation ceremonies", [generationCeremonies, "open_until", own], async (unit, ceremony) => {
    const open = ceremony.status === "pending" || ceremony.status === "seeded";
    if (open) await endGeneration(services, unit, ceremony, { kind: "expire" });
  });
  await expire("open custody ceremonies", [custodyCeremonies, "open_until", own], async (unit, ceremony) => {
    if (ceremony.status === "open") await endCustodyCeremony(unit, ceremony, "expired");
  });
  await expire("emergency access", [emergencies, "open_until", own], (unit, { id }) => expireEmergency(unit, id));
  await expire("account recovery", [recoveries, "open_until", own], (unit, { id }) => expireRecovery(services, unit, id));
  await expire("retired credentials", [serviceIdentities, "retire_at", own], (unit, service) =>
    saveService(unit, retireCredentials(service, now)),
  );
  const replicaOf = ({ workspace_id, org_id }: Replica): string => replicaId(workspace_id, org_id);
  await expire("offered replicas", [replicas, "offered_until", replicaOf], async (unit, replica) => {
    if (replica.stage === "offered") await destroyReplica(services, unit, replica, "expired");
  });
  await background.step("last use", () => writeLastUse(services, now));
  await background.step("old messages", () => purgeMessages(services, now));
  await background.step("spent nonces", () =>
    forgetEnded(services, spentNonces, { index: "by_expiry", until: timestamp(now), now }),
  );
  // Who signs too late hears why for a while.
  const late = { index: "by_expiry", until: timestamp(now - lifetimes.tidyBuffer), now };
  await background.step("signing requests", () => forgetEnded(services, signingRequests, late));
}
