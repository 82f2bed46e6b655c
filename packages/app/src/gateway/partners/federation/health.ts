import { gatewayContract } from "@seneschal/contract/gateway";
import { type Federation, stepFederation, timestamp } from "@seneschal/core/keys";
import { isCoded } from "@seneschal/kernel";
import { type Call, every, systemCall } from "../../ground/index.ts";
import { federations } from "../collections.ts";
import type { PartnerServices } from "../services.ts";
import type { PartnerStatus } from "./partner-states.ts";

/** How a partner was found. */
export interface PartnerHealth {
  readonly healthy: boolean;
  readonly status: PartnerStatus;
  readonly last_check: string;
  readonly latency_ms: number;
  readonly certificate_expires_at?: string;
  readonly error?: string;
}

/** Really calls a partner. It is healthy when its gateway answers for the partner's organisation. Never throws for a partner's failure. */
export async function checkPartner(services: PartnerServices, federation: Federation, now: number): Promise<PartnerHealth> {
  const health = await check(services, federation, now);
  services.partners.note(federation.id, health.status);
  return health;
}

async function check(services: PartnerServices, federation: Federation, now: number): Promise<PartnerHealth> {
  const facts = {
    last_check: timestamp(now),
    ...(federation.certificate_expires_at === null ? {} : { certificate_expires_at: federation.certificate_expires_at }),
  };
  if (!federation.outbound_ready) {
    return { healthy: false, status: "not_ready", latency_ms: 0, error: "no certificate of the partner was imported", ...facts };
  }
  const started = process.hrtime.bigint();
  const error = await services.channels
    .demand(services.read, federation, { route: gatewayContract.peerHealth, probe: true })
    .then(({ body }) =>
      body?.org_id === federation.partner_org_id ? undefined : "the answer is not of the partner's organisation",
    )
    .catch((failure: unknown) => {
      if (isCoded(failure)) return failure.message;
      throw failure;
    });
  const latency_ms = Math.round(Number(process.hrtime.bigint() - started) / 1e6);
  await noteCheck(services, systemCall("system:federation", federation.org_id, now), federation.id, error === undefined);
  return error === undefined
    ? { healthy: true, status: "healthy", latency_ms, ...facts }
    : { healthy: false, status: "unhealthy", latency_ms, error, ...facts };
}

async function noteCheck(services: PartnerServices, call: Call, id: string, heard: boolean): Promise<void> {
  await services.transact(call, async (unit) => {
    const current = await unit.get(federations, id);
    if (current === undefined || current.status === "revoked") return;
    unit.put(federations, id, stepFederation(current, { kind: "check", heard }, call.now).state);
  });
}

const AT_ONCE = 8;

/** Calls every active partner of every organisation here. A partner's failure is a finding, not an error. */
export async function watchPartners(services: PartnerServices, now: number): Promise<void> {
  const all: Federation[] = [];
  for await (const federation of every(services, federations, "active", [])) all.push(federation);
  services.partners.keep(all.map(({ id }) => id));
  const reachable = all.filter(({ outbound_ready }) => outbound_ready);
  for (let i = 0; i < reachable.length; i += AT_ONCE) {
    await Promise.all(reachable.slice(i, i + AT_ONCE).map((federation) => checkPartner(services, federation, now)));
  }
}
