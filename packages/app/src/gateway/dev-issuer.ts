import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { checkArgument } from "@seneschal/kernel";

/** What a development token says. */
export interface DevToken {
  readonly sub: string;
  readonly org: string;
  readonly roles?: readonly string[];
  readonly scope?: string;
  readonly email?: string;
  /** Only a verified address counts. */
  readonly email_verified?: boolean;
  /** Seconds; default 15 minutes. */
  readonly ttl?: number;
}

/** An issuer of bearer tokens for development and tests: ES256 with a key of its own. Never for production. */
export interface DevIssuer {
  readonly issuer: string;
  readonly audience: string;
  /** PEM, for `auth.jwt.public_key`. */
  readonly publicKey: string;
  /** PKCS#8 PEM, to keep the issuer across restarts. */
  readonly privateKey: string;
  /** A signed token; `now` is milliseconds. */
  token(claims: DevToken, now: number): string;
}

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/**
 * Opens the development issuer, with a new key unless one is given (PKCS#8 PEM, P-256).
 *
 * @example
 * ```ts
 * import { devIssuer } from "@seneschal/app/gateway";
 * const issuer = devIssuer();
 * const token = issuer.token({ sub: "ada", org: "acme", roles: ["super_admin"] }, Date.now());
 * console.log(token.split(".").length); // 3
 * ```
 */
export function devIssuer(privateKeyPem?: string, issuer = "https://dev.seneschal.local", audience = "seneschal"): DevIssuer {
  if (privateKeyPem !== undefined) checkArgument("privateKeyPem", privateKeyPem, "string");
  const key =
    privateKeyPem === undefined ? generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey : createPrivateKey(privateKeyPem);
  return {
    issuer,
    audience,
    publicKey: createPublicKey(key).export({ type: "spki", format: "pem" }).toString(),
    privateKey: key.export({ type: "pkcs8", format: "pem" }).toString(),
    token(said, now) {
      checkArgument("claims", said, "object");
      const { ttl = 900, ...claims } = said;
      const iat = Math.floor(now / 1000);
      const head = `${part({ alg: "ES256", typ: "JWT" })}.${part({ ...claims, iss: issuer, aud: audience, iat, exp: iat + ttl })}`;
      return `${head}.${sign("sha256", Buffer.from(head), { key, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
    },
  };
}
