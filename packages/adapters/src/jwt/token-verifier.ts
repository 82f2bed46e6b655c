import { createHash } from "node:crypto";
import { isOrganizationId } from "@seneschal/core/keys";
import { CodedError, checkOptions } from "@seneschal/kernel";
import { decodeJwt, errors, type JWTPayload, type JWTVerifyGetKey, type JWTVerifyOptions, jwtVerify } from "jose";

/** What a token says of its bearer, checked. Times in milliseconds since the epoch. */
export interface TokenClaims {
  readonly subject: string;
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly organization: string;
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
  readonly expiresAt: number;
  /** Of the person: only where the issuer says that it verified it (`email_verified` is the boolean `true`; OpenID Connect Core, section 5.1). */
  readonly email?: string;
  /** What the token says, verified or not: good for refusing its bearer, for nothing else. */
  readonly claimedEmail?: string;
  /** Identifies the token for revocation, where the issuer sets it. */
  readonly tokenId?: string;
}

export type TokenErrorCode = "invalid_token" | "token_expired" | "invalid_issuer" | "service_unavailable";

/** The algorithms of the interface document. No symmetric one: a public key must never serve as a shared secret. */
export const TOKEN_ALGORITHMS = ["RS256", "RS384", "RS512", "ES256", "ES384", "ES512"] as const;

export interface TokenVerifierOptions {
  readonly keys: JWTVerifyGetKey;
  readonly issuer: string;
  /** The token's audience must include one of them. */
  readonly audiences: readonly string[];
  readonly clockSkewMs: number;
  /** How long after its issue (`iat`, which it must then have) a token is taken, whatever its `exp` says. No limit without. */
  readonly maxAgeMs?: number;
  /** Where the issuer writes what we need, and in which words; default: `org`, `roles` and `email`, taken as they are. */
  readonly claims?: ClaimMapping;
  readonly now: () => number;
  /** Verified tokens remembered by hash; default 10,000. */
  readonly cacheSize?: number;
}

/** How claims of an issuer are read. A claim is a name or, where no claim has that name, a path such as `realm_access.roles`. */
export interface ClaimMapping {
  readonly organization: string;
  readonly roles: string;
  readonly email: string;
  /** From the issuer's word for an organisation to ours; when there is any, a word that is not among them is refused. */
  readonly organizations: Readonly<Record<string, string>>;
  /** From the issuer's roles or groups to ours; when there is any, others count for nothing. */
  readonly rolesOf: Readonly<Record<string, string>>;
}

const AS_THEY_ARE: ClaimMapping = { organization: "org", roles: "roles", email: "email", organizations: {}, rolesOf: {} };

/** Verifies bearer tokens of one issuer. */
export interface TokenVerifier {
  readonly issuer: string;
  /**
   * Throws `invalid_token`, `token_expired`, `invalid_issuer` with the texts of the interface document and a `reason` in the
   * details, or `service_unavailable` when the keys cannot be had. The token never appears in an error.
   */
  verify(token: string): Promise<TokenClaims>;
  /** Drops remembered tokens, when keys or bearers were revoked. */
  forget(predicate?: (claims: TokenClaims) => boolean): void;
}

/** A remembered token is verified afresh after this time, so that a withdrawn key stops working. */
const REMEMBER_MS = 300_000;

/**
 * A verifier by `jose`: signature and algorithm, then issuer, audience, times within the skew, and the claims that a bearer must
 * have. What it verified is remembered by hash in a bounded, least-recently-used cache until the token expires.
 */
export function tokenVerifier(options: TokenVerifierOptions): TokenVerifier {
  checkOptions("options", options, {
    keys: "function",
    issuer: "string",
    audiences: "array",
    clockSkewMs: "number",
    maxAgeMs: "number?",
    claims: "object?",
    now: "function",
    cacheSize: "number?",
  });
  const { keys, issuer, audiences, clockSkewMs, maxAgeMs, claims: mapping = AS_THEY_ARE, now, cacheSize = 10_000 } = options;
  const remembered = new Map<string, { readonly claims: TokenClaims; readonly until: number }>();

  async function verifyAfresh(token: string, at: number): Promise<TokenClaims> {
    const rules: JWTVerifyOptions = {
      issuer,
      audience: [...audiences],
      algorithms: [...TOKEN_ALGORITHMS],
      clockTolerance: clockSkewMs / 1000,
      currentDate: new Date(at),
      requiredClaims: ["sub", "iss", "aud", "exp", ...(mapping === AS_THEY_ARE ? ["org"] : [])],
      ...(maxAgeMs === undefined ? {} : { maxTokenAge: maxAgeMs / 1000 }),
    };
    let payload: JWTPayload;
    try {
      ({ payload } = await jwtVerify(token, keys, rules));
    } catch (error) {
      throw tokenRefusal(error);
    }
    const claims = claimsOf(payload, at + clockSkewMs, mapping);
    if (maxAgeMs === undefined) return claims;
    return { ...claims, expiresAt: Math.min(claims.expiresAt, Number(payload.iat) * 1000 + maxAgeMs) };
  }

  return {
    issuer,
    async verify(token) {
      const at = now();
      const hash = createHash("sha256").update(token).digest("base64");
      const known = remembered.get(hash);
      remembered.delete(hash);
      if (known !== undefined && known.until > at) {
        remembered.set(hash, known);
        return known.claims;
      }
      const claims = await verifyAfresh(token, at);
      remembered.set(hash, { claims, until: Math.min(claims.expiresAt + clockSkewMs, at + REMEMBER_MS) });
      if (remembered.size > cacheSize) remembered.delete(remembered.keys().next().value ?? "");
      return claims;
    },
    forget(predicate = () => true) {
      for (const [hash, { claims }] of remembered) if (predicate(claims)) remembered.delete(hash);
    },
  };
}

/** What jose accepts and we do not: claims of the wrong type, a token from the future. */
function claimsOf(payload: JWTPayload, latestIssue: number, mapping: ClaimMapping): TokenClaims {
  const { sub, iss, aud, exp, iat, jti, scope, email_verified } = payload as Readonly<Record<string, unknown>>;
  const [org, roles, email] = [mapping.organization, mapping.roles, mapping.email].map((claim) => claimAt(payload, claim));
  const text = (claim: string, value: unknown): string => {
    if (!isText(value) || value === "") throw invalidToken(`claim ${claim}`);
    return value;
  };
  const list = (claim: string, value: unknown): readonly string[] => {
    if (Array.isArray(value) && value.every(isText)) return value;
    throw invalidToken(`claim ${claim}`);
  };
  const words = (claim: string, value: unknown): readonly string[] => list(claim, typeof value === "string" ? [value] : value);
  if (typeof iat === "number" && iat * 1000 > latestIssue) throw invalidToken("claim iat");
  const organization = translated(mapping.organizations, text(mapping.organization, org));
  if (organization === undefined || !isOrganizationId(organization)) throw invalidToken(`claim ${mapping.organization}`);
  const given = roles === undefined ? [] : words(mapping.roles, roles);
  const scopes = scope === undefined ? [] : words("scope", scope);
  return {
    subject: text("sub", sub),
    issuer: text("iss", iss),
    organization,
    audiences: words("aud", aud),
    roles: given.flatMap((role) => translated(mapping.rolesOf, role) ?? []),
    scopes: typeof scope === "string" ? scopes.flatMap((all) => all.split(" ").filter(Boolean)) : scopes,
    expiresAt: (exp as number) * 1000,
    ...(email === undefined ? {} : { claimedEmail: text(mapping.email, email) }),
    ...(email === undefined || email_verified !== true ? {} : { email: text(mapping.email, email) }),
    ...(jti === undefined ? {} : { tokenId: text("jti", jti) }),
  };
}

/** No control characters and no half of a surrogate pair: what every store, log and header can hold. */
function isText(value: unknown): value is string {
  return typeof value === "string" && !/[\p{Cc}\p{Cs}]/u.test(value);
}

function claimAt(payload: JWTPayload, claim: string): unknown {
  if (Object.hasOwn(payload, claim)) return payload[claim];
  return claim.split(".").reduce<unknown>((inner, key) => {
    return typeof inner === "object" && inner !== null && Object.hasOwn(inner, key)
      ? (inner as Record<string, unknown>)[key]
      : undefined;
  }, payload);
}

/** A word of the issuer in ours: as it is where nothing is mapped, nothing where it is not among what is. */
function translated(words: Readonly<Record<string, string>>, word: string): string | undefined {
  if (Object.keys(words).length === 0) return word;
  return Object.hasOwn(words, word) ? words[word] : undefined;
}

/** Whom a token claims to be from, unverified: good for choosing a verifier, for nothing else. */
export function claimedIssuer(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}

/** The refusal of a token, with its stable reason. */
export function invalidToken(reason: string): CodedError<TokenErrorCode> {
  return new CodedError("invalid_token", "invalid token", { reason });
}

/** What a failure of verification is called on the wire. */
export function tokenRefusal(error: unknown): CodedError {
  if (error instanceof CodedError) return error;
  if (error instanceof errors.JWTExpired) return new CodedError("token_expired", "token expired");
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === "iss" && error.reason === "check_failed") return new CodedError("invalid_issuer", "invalid issuer");
    return invalidToken(`claim ${error.claim}`);
  }
  if (error instanceof errors.JWTInvalid || error instanceof errors.JWSInvalid) return invalidToken("format");
  if (error instanceof errors.JWSSignatureVerificationFailed) return invalidToken("signature");
  if (error instanceof errors.JOSEAlgNotAllowed) return invalidToken("algorithm");
  if (error instanceof errors.JOSENotSupported) return invalidToken("not supported");
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) return invalidToken("key");
  if (error instanceof TypeError) return invalidToken("key");
  // What is left are the ways in which a key set cannot be fetched.
  return new CodedError("service_unavailable", "the issuer's keys cannot be fetched", { retry_after: 5 }, error);
}
