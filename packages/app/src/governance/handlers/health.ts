import { type Handlers, withHeaders } from "@seneschal/contract";
import type { GovernanceContract } from "@seneschal/contract/governance";
import type { GovernanceServices } from "../services.ts";

type Routes = Pick<GovernanceContract, "health" | "healthV1" | "ready" | "readyV1" | "metrics">;

async function health({ health: check, version }: GovernanceServices) {
  const { status, components } = await check();
  return { status, version, components };
}

async function ready({ health: check }: GovernanceServices) {
  const { ready: isReady, components } = await check();
  const state = (name: string) => (components[name]?.status === "healthy" ? "connected" : "unavailable");
  const body = {
    ready: isReady,
    services: { database: state("database"), cache: state("cache"), policy_engine: state("policy_engine") },
  };
  return withHeaders({}, body, isReady ? 200 : 503);
}

export const healthHandlers: Handlers<Routes, GovernanceServices> = {
  health,
  healthV1: health,
  ready,
  readyV1: ready,
  metrics: async ({ metrics }) => ({ mediaType: metrics.contentType, body: await metrics.text() }),
};
