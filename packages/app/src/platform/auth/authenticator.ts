import { claimedIssuer, type TokenClaims, type TokenVerifier } from "@seneschal/adapters/jwt";
import { type CertificateIdentity, untrusted, verifyPeer } from "@seneschal/adapters/tls";
import { type Hooks, type Principal, situation, type WireRequest } from "@seneschal/contract";
import { CodedError, checkOptions } from "@seneschal/kernel";

type Awaitable<T> = T | Promise<T>;

export interface AuthenticatorOptions {
  readonly now: () => number;
  readonly mtls?: {
    /** Tokens alone are not enough. */
    readonly required: boolean;
    /**
     * Asked on every request, also on connections that were open or sessions that were resumed when the certificate was
     * revoked. Throws when revocation is not known: that is a refusal too.
     */
    readonly isRevoked: (identity: CertificateIdentity) => Awaitable<boolean>;
    /** Who the certificate stands for; throws a coded error for somebody who is disabled or unknown. */
    readonly principalOf: (identity: CertificateIdentity) => Awaitable<Principal>;
  };
  readonly tokens?: {
    readonly verifiers: readonly (TokenVerifier & {
      readonly method: "jwt" | "oidc";
      readonly requiredScopes?: readonly string[];
    })[];
    readonly principalOf: (claims: TokenClaims, method: "jwt" | "oidc") => Awaitable<Principal>;
  };
}

/**
 * The authentication hook of the interface document: mTLS first, then JWT and OIDC. A certificate that is presented decides alone:
 * it gives the identity or the refusal, and a token sent along is not looked at. Without any credential a guarded route
 * answers `certificate required`, an optional one goes on without a principal.
 */
export function authenticator(options: AuthenticatorOptions): NonNullable<Hooks["authenticate"]> {
  checkOptions("options", options, { now: "function", mtls: "object?", tokens: "object?" });
  const { now, mtls, tokens } = options;
  async function byCertificate(wire: WireRequest, rules: NonNullable<typeof mtls>): Promise<Principal> {
    const identity = verifyPeer(wire.peer, now());
    if (await rules.isRevoked(identity)) throw untrusted("revoked");
    return rules.principalOf(identity);
  }

  async function byToken(header: string, rules: NonNullable<typeof tokens>): Promise<Principal> {
    const token = /^Bearer ([A-Za-z0-9._~+/=-]+)$/i.exec(header)?.[1];
    if (token === undefined) throw new CodedError("invalid_token", "invalid token", { reason: "not a bearer token" });
    const [first] = rules.verifiers;
    if (first === undefined) throw new CodedError("invalid_token", "invalid token", { reason: "tokens are not accepted" });
    // The claim is not trusted: it only chooses whose keys the signature must fit, or says that nobody here could check it.
    const issuer = claimedIssuer(token);
    const verifier = issuer === undefined ? first : rules.verifiers.find((other) => other.issuer === issuer);
    if (verifier === undefined) throw new CodedError("invalid_issuer", "invalid issuer");
    const claims = await verifier.verify(token);
    const missing = (verifier.requiredScopes ?? []).filter((scope) => !claims.scopes.includes(scope));
    if (missing.length > 0) throw situation("forbidden", "the token lacks a required scope", { missing });
    return rules.principalOf(claims, verifier.method);
  }

  return async (wire, { route }) => {
    if (mtls !== undefined && (wire.peer !== undefined || mtls.required)) {
      if (wire.peer === undefined && route.auth === "optional") return undefined;
      return byCertificate(wire, mtls);
    }
    const header = wire.headers["authorization"];
    if (header !== undefined && tokens !== undefined) return byToken(header, tokens);
    if (route.auth === "optional") return undefined;
    if (mtls === undefined) throw situation("unauthenticated", "authentication required");
    throw new CodedError("certificate_required", "certificate required");
  };
}
