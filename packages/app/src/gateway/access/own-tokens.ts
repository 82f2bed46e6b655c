import type { Hooks } from "@seneschal/contract";
import {
  emergencyTokenPrefix,
  invalidToken,
  type Orchestrator,
  principalOfEmergencyToken,
  principalOfSecret,
  principalOfServiceAccount,
  serviceTokenPrefix,
} from "../people/index.ts";
import type { GatewayServices } from "../services.ts";

type Authenticate = NonNullable<Hooks["authenticate"]>;

interface Needs {
  readonly services: GatewayServices;
  /** Without one no service-account token is taken. */
  readonly orchestrator: Orchestrator | undefined;
  readonly now: () => number;
  /** The caller was let in before, for the same request: that is in the audit log. */
  readonly again: boolean;
}

/**
 * Puts the gateway's own bearer tokens before the authentication of certificates and users' tokens, and notes who was there.
 *
 * An emergency token sent along with a certificate works for the requester's own certificate only; every use of it is audited
 * as `emergency.access`. Tokens of services count where no certificate is presented; where the configuration demands
 * certificates, no token works without one.
 */
export function ownTokens({ services, orchestrator, now, again }: Needs, authenticate: Authenticate): Authenticate {
  const { required } = services.config.auth.mtls;

  const emergency = async (token: string, ...[wire, ref]: Parameters<Authenticate>) => {
    const bearer = wire.peer === undefined && !required ? undefined : await authenticate(wire, ref);
    const at = now();
    const { principal, access } = await principalOfEmergencyToken(services, token, at);
    if (bearer !== undefined && (bearer.org !== principal.org || bearer.id !== principal.id)) {
      throw invalidToken("emergency token");
    }
    const call = { principal, now: at, requestId: wire.headers["x-request-id"] ?? "" };
    if (!again)
      await services.transact(call, async (unit) => {
        unit.record({ type: "emergency.access", metadata: { emergency_id: access.id, route: ref.id } });
      });
    return bearer?.certSerial === undefined ? principal : { ...principal, certSerial: bearer.certSerial };
  };

  const identify: Authenticate = async (wire, ref) => {
    const token = /^Bearer ([A-Za-z0-9._~+/=-]+)$/i.exec(wire.headers["authorization"] ?? "")?.[1];
    if (token?.startsWith(emergencyTokenPrefix) === true) return emergency(token, wire, ref);
    if (token === undefined || wire.peer !== undefined || required) return authenticate(wire, ref);
    if (token.startsWith(serviceTokenPrefix)) return principalOfSecret(services, token, now());
    if (orchestrator?.issued(token) === true) {
      return principalOfServiceAccount(services, await orchestrator.verify(token), now());
    }
    return authenticate(wire, ref);
  };

  return async (wire, ref) => {
    const principal = await identify(wire, ref);
    if (principal !== undefined) services.lastUse.note(principal.type, principal.id, now());
    return principal;
  };
}
