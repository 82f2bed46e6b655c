import { CodedError, checkArgument, checkOptions } from "@seneschal/kernel";
import { createRemoteJWKSet, type JWTVerifyGetKey, customFetch as joseFetch } from "jose";
import type { Configuration, CustomFetch } from "openid-client";
import { backEnd } from "../back-end.ts";
import { mtlsFetch } from "../http/index.ts";

export interface OidcOptions {
  readonly issuerUrl: string;
  readonly clientId: string;
  /** Keys are fetched again after this time, and at once for an unknown key id (at most every 30 s). */
  readonly jwksRefreshMs: number;
  /** An issuer without TLS; for development. */
  readonly allowHttp: boolean;
  /** Whom to trust about the provider, PEM, in place of the public authorities. */
  readonly ca?: string;
}

/** What the provider says of itself. */
export interface OidcProvider {
  readonly issuer: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly endSessionEndpoint: string;
}

export interface OidcKeys {
  readonly keys: JWTVerifyGetKey;
  /** Throws `service_unavailable`. */
  provider(): Promise<OidcProvider>;
}

const openidClient = backEnd<typeof import("openid-client")>("openid-client");

/** A discovery that failed is not repeated for this long: a provider that is down must not slow every request. */
const RETRY_MS = 5000;

/**
 * The keys of an OpenID provider, found by discovery (OpenID Connect Discovery 1.0) on first use, so that a provider that is down
 * keeps nobody from starting. What cannot be fetched is `service_unavailable`.
 */
export function oidcKeys(options: OidcOptions, now: () => number): OidcKeys {
  checkOptions("options", options, {
    issuerUrl: "string",
    clientId: "string",
    jwksRefreshMs: "number",
    allowHttp: "boolean",
    ca: "string?",
  });
  checkArgument("now", now, "function");
  const { issuerUrl, clientId, jwksRefreshMs, allowHttp, ca } = options;
  const { allowInsecureRequests, customFetch, discovery, None } = openidClient();
  const own = ca === undefined ? undefined : mtlsFetch({ ca }).fetch;
  let found: Promise<{ readonly provider: OidcProvider; readonly keys: JWTVerifyGetKey }> | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;

  async function discover() {
    let configuration: Configuration;
    try {
      const execute = allowHttp ? [allowInsecureRequests] : [];
      configuration = await discovery(new URL(issuerUrl), clientId, undefined, None(), {
        execute,
        timeout: 5,
        ...(own && { [customFetch]: own as CustomFetch }),
      });
    } catch (error) {
      throw new CodedError("service_unavailable", "the identity provider cannot be reached", { retry_after: 5 }, error);
    }
    const metadata = configuration.serverMetadata();
    if (metadata.jwks_uri === undefined) {
      throw new CodedError("service_unavailable", "the identity provider publishes no keys", { retry_after: 5 });
    }
    const keys = createRemoteJWKSet(new URL(metadata.jwks_uri), {
      cooldownDuration: 30_000,
      cacheMaxAge: jwksRefreshMs,
      timeoutDuration: 5000,
      ...(own && { [joseFetch]: own }),
    });
    const provider = {
      issuer: metadata.issuer,
      authorizationEndpoint: metadata.authorization_endpoint ?? "",
      tokenEndpoint: metadata.token_endpoint ?? "",
      endSessionEndpoint: metadata.end_session_endpoint ?? "",
    };
    return { provider, keys };
  }

  function discovered() {
    if (found !== undefined) return found;
    if (now() - failedAt < RETRY_MS) {
      return Promise.reject(new CodedError("service_unavailable", "the identity provider cannot be reached", { retry_after: 5 }));
    }
    found = discover();
    found.catch(() => {
      failedAt = now();
      found = undefined;
    });
    return found;
  }

  return {
    provider: async () => (await discovered()).provider,
    keys: async (header, token) => (await discovered()).keys(header, token),
  };
}
