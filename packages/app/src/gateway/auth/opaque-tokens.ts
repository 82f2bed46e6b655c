import type { Hooks } from "@seneschal/contract";
import { emergencyTokenPrefix, principalOfEmergencyToken } from "../emergency/token.ts";
import type { GatewayServices } from "../services.ts";
import { invalidToken } from "./invalid-token.ts";

type Authenticate = NonNullable<Hooks["authenticate"]>;

/**
 * Puts the gateway's own opaque bearer tokens before the authentication of certificates and JSON Web Tokens.
 *
 * An emergency token sent along with a certificate works for the requester's own certificate only; where the configuration
 * demands certificates, it does not work without. Every use is audited as `emergency.access`.
 */
export function opaqueTokens(services: GatewayServices, authenticate: Authenticate, now: () => number): Authenticate {
  const emergency = async (token: string, ...[wire, ref]: Parameters<Authenticate>) => {
    const bearer = wire.peer === undefined && !services.config.auth.mtls.required ? undefined : await authenticate(wire, ref);
    const at = now();
    const { principal, access } = await principalOfEmergencyToken(services, token, at);
    if (bearer !== undefined && (bearer.org !== principal.org || bearer.id !== principal.id)) {
      throw invalidToken("emergency token");
    }
    const call = { principal, now: at, requestId: wire.headers["x-request-id"] ?? "" };
    await services.transact(call, async (unit) => {
      unit.record({ type: "emergency.access", metadata: { emergency_id: access.id, route: ref.id } });
    });
    return bearer?.certSerial === undefined ? principal : { ...principal, certSerial: bearer.certSerial };
  };

  return async (wire, ref) => {
    const token = /^Bearer (sen[a-z]_[A-Za-z0-9_.-]+)$/i.exec(wire.headers["authorization"] ?? "")?.[1];
    if (token?.startsWith(emergencyTokenPrefix) === true) return emergency(token, wire, ref);
    return authenticate(wire, ref);
  };
}
