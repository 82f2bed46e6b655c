import { readText } from "@seneschal/adapters/files";
import { claimedIssuer, type ServiceAccountVerifier, serviceAccountVerifier, staticKeys } from "@seneschal/adapters/jwt";
import type { GatewayConfig } from "../../ground/index.ts";

/** Tells the orchestrator's tokens from others, and verifies them. */
export interface Orchestrator extends ServiceAccountVerifier {
  /** By the issuer that the token claims: nothing is trusted yet. */
  issued(token: string): boolean;
}

/**
 * The orchestrator that the configuration names, `undefined` without one. Throws `config_invalid` for an unusable key, and
 * what reading its file throws.
 */
export async function openOrchestrator({ services, auth }: GatewayConfig, now: () => number): Promise<Orchestrator | undefined> {
  const { orchestrator } = services;
  if (orchestrator === undefined) return undefined;
  const { issuer, audience, public_key } = orchestrator;
  const keys = staticKeys(await readText(public_key));
  return {
    ...serviceAccountVerifier({ keys, issuer, audience, clockSkewMs: auth.jwt.clock_skew, now }),
    issued: (token) => claimedIssuer(token) === issuer,
  };
}
