import { readText } from "@seneschal/adapters/files";
import { type ClaimMapping, oidcKeys, staticKeys, type TokenVerifier, tokenVerifier } from "@seneschal/adapters/jwt";
import { checkArgument } from "@seneschal/kernel";
import type { AuthSettings } from "../config/schema.ts";

/** A verifier of bearer tokens, with the way it stands for and what a token must be scoped for. */
export type ConfiguredVerifier = TokenVerifier & {
  readonly method: "jwt" | "oidc";
  readonly requiredScopes?: readonly string[];
};

/** The verifiers in force, while the process runs. */
export interface LiveVerifiers {
  /** The same list always, with the verifiers in force in it. */
  readonly list: readonly ConfiguredVerifier[];
  /**
   * Makes those of another configuration; what comes back puts them in force. Where neither settings nor files changed all stays, with the keys
   * of providers that are known. Throws as {@link tokenVerifiers}.
   */
  prepare(auth: AuthSettings): Promise<() => void>;
}

/** Opens the verifiers of a configuration for reloads. */
export async function liveVerifiers(auth: AuthSettings, now: () => number): Promise<LiveVerifiers> {
  checkArgument("auth", auth, "object");
  checkArgument("now", now, "function");
  const list = [...(await tokenVerifiers(auth, now))];
  let known = await contentOf(auth);
  return {
    list,
    async prepare(next) {
      const content = await contentOf(next);
      if (content === known) return () => undefined;
      const verifiers = await tokenVerifiers(next, now);
      return () => {
        list.splice(0, list.length, ...verifiers);
        known = content;
      };
    },
  };
}

/** All that verifiers are made of. */
async function contentOf({ jwt, oidc }: AuthSettings): Promise<string> {
  const files = [jwt.enabled ? jwt.public_key : undefined, oidc.enabled ? oidc.ca_file : undefined];
  const texts = await Promise.all(files.map((path) => (path === undefined ? null : readText(path))));
  return JSON.stringify([jwt, oidc, texts]);
}

/** The verifiers of a configuration, JWT before OIDC. Throws `config_invalid` for an unusable key, and what reading its file throws. */
export async function tokenVerifiers(given: AuthSettings, now: () => number): Promise<readonly ConfiguredVerifier[]> {
  checkArgument("given", given, "object");
  checkArgument("now", now, "function");
  const { jwt, oidc } = given;
  const verifiers: ConfiguredVerifier[] = [];
  const clockSkewMs = jwt.clock_skew;
  const limit = (max_age: number) => (max_age === 0 ? {} : { maxAgeMs: max_age });
  if (jwt.enabled && jwt.public_key !== undefined) {
    const keys = staticKeys(await readText(jwt.public_key));
    verifiers.push({
      ...tokenVerifier({ keys, issuer: jwt.issuer ?? "", audiences: jwt.audiences, clockSkewMs, ...limit(jwt.max_age), now }),
      method: "jwt",
    });
  }
  if (oidc.enabled && oidc.issuer_url !== undefined && oidc.client_id !== undefined) {
    const ca = oidc.ca_file === undefined ? undefined : await readText(oidc.ca_file);
    const { keys } = oidcKeys(
      {
        ...(ca && { ca }),
        issuerUrl: oidc.issuer_url,
        clientId: oidc.client_id,
        jwksRefreshMs: oidc.jwks_refresh,
        allowHttp: oidc.allow_http,
      },
      now,
    );
    verifiers.push({
      ...tokenVerifier({
        keys,
        issuer: oidc.issuer_url,
        audiences: [oidc.client_id],
        clockSkewMs,
        ...limit(oidc.max_age),
        claims: mappingOf(oidc.claims),
        now,
      }),
      method: "oidc",
      requiredScopes: oidc.required_scopes,
    });
  }
  return verifiers;
}

function mappingOf({
  organization,
  roles,
  email,
  organizations,
  role_names: rolesOf,
}: AuthSettings["oidc"]["claims"]): ClaimMapping {
  return { organization, roles, email, organizations, rolesOf };
}
