import { lifetimes, retireCredentials, timestamp } from "@seneschal/core/keys";
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
import { forgetEnded, signingRequests, spentNonces, systemCall } from "./ground/index.ts";
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
  await background.each("open ceremonies", services.read.list(ceremonies, "open_until", [], due), async ({ id, org_id }) => {
    await services.transact(systemCall("system:expiry", org_id, now), async (unit) => {
      const ceremony = await unit.get(ceremonies, id);
      if (ceremony?.status === "pending") await endCeremony(services, unit, ceremony, { kind: "expire" });
    });
  });
  await background.each(
    "open generation ceremonies",
    services.read.list(generationCeremonies, "open_until", [], due),
    async ({ id, org_id }) => {
      await services.transact(systemCall("system:expiry", org_id, now), async (unit) => {
        const ceremony = await unit.get(generationCeremonies, id);
        const open = ceremony?.status === "pending" || ceremony?.status === "seeded";
        if (ceremony !== undefined && open) await endGeneration(services, unit, ceremony, { kind: "expire" });
      });
    },
  );
  await background.each(
    "open custody ceremonies",
    services.read.list(custodyCeremonies, "open_until", [], due),
    async ({ id, org_id }) => {
      await services.transact(systemCall("system:expiry", org_id, now), async (unit) => {
        const ceremony = await unit.get(custodyCeremonies, id);
        if (ceremony?.status === "open") await endCustodyCeremony(unit, ceremony, "expired");
      });
    },
  );
  await background.each("emergency access", services.read.list(emergencies, "open_until", [], due), async ({ id, org_id }) => {
    await services.transact(systemCall("system:expiry", org_id, now), (unit) => expireEmergency(unit, id));
  });
  await background.each("account recovery", services.read.list(recoveries, "open_until", [], due), async ({ id, org_id }) => {
    await services.transact(systemCall("system:expiry", org_id, now), (unit) => expireRecovery(services, unit, id));
  });
  await background.each(
    "retired credentials",
    services.read.list(serviceIdentities, "retire_at", [], due),
    async ({ id, org_id }) => {
      await services.transact(systemCall("system:expiry", org_id, now), async (unit) => {
        const service = await unit.get(serviceIdentities, id);
        if (service !== undefined) await saveService(unit, retireCredentials(service, now));
      });
    },
  );
  await background.each(
    "offered replicas",
    services.read.list(replicas, "offered_until", [], due),
    async ({ workspace_id, org_id }) => {
      await services.transact(systemCall("system:expiry", org_id, now), async (unit) => {
        const replica = await unit.get(replicas, replicaId(workspace_id, org_id));
        if (replica?.stage === "offered") await destroyReplica(services, unit, replica, "expired");
      });
    },
  );
  await background.step("last use", () => writeLastUse(services, now));
  await background.step("old messages", () => purgeMessages(services, now));
  await background.step("spent nonces", () =>
    forgetEnded(services, spentNonces, { index: "by_expiry", until: timestamp(now), now }),
  );
  // Who signs too late hears why for a while.
  const late = { index: "by_expiry", until: timestamp(now - lifetimes.tidyBuffer), now };
  await background.step("signing requests", () => forgetEnded(services, signingRequests, late));
}
