import { createPublicKey, type KeyObject } from "node:crypto";
import { CodedError, checkArgument } from "@seneschal/kernel";
import { createLocalJWKSet, type JWTVerifyGetKey } from "jose";
import { invalidToken } from "./token-verifier.ts";

/** The algorithm of each curve; an EC key takes no other (RFC 7518 section 3.4). */
const CURVES: Readonly<Record<string, string>> = { prime256v1: "ES256", secp384r1: "ES384", secp521r1: "ES512" };

/**
 * Keys from a file: a PEM public key, a PEM certificate, or a JWK set. Throws `config_invalid` for what is neither, for a key of
 * another kind, and for RSA below 2048 bits. Symmetric keys in a set are refused.
 */
export function staticKeys(text: string): JWTVerifyGetKey {
  checkArgument("text", text, "string");
  const trimmed = text.trim();
  return trimmed.startsWith("{") ? keySet(trimmed) : singleKey(trimmed);
}

function singleKey(pem: string): JWTVerifyGetKey {
  if (pem.includes("PRIVATE KEY")) throw unusable("it is a private key");
  let key: KeyObject;
  try {
    key = createPublicKey(pem);
  } catch {
    throw unusable("expected a PEM public key or certificate, or a JWK set");
  }
  const { modulusLength, namedCurve } = key.asymmetricKeyDetails ?? {};
  const fits = (algorithm: string): boolean =>
    key.asymmetricKeyType === "rsa" ? algorithm.startsWith("RS") : CURVES[namedCurve ?? ""] === algorithm;
  if (key.asymmetricKeyType === "rsa" && (modulusLength ?? 0) < 2048) throw unusable("RSA keys have at least 2048 bits");
  if (key.asymmetricKeyType !== "rsa" && CURVES[namedCurve ?? ""] === undefined) {
    throw unusable("expected RSA or an EC key on P-256, P-384 or P-521");
  }
  return async ({ alg }) => {
    if (!fits(alg)) throw invalidToken("algorithm");
    return key;
  };
}

function keySet(text: string): JWTVerifyGetKey {
  let set: Parameters<typeof createLocalJWKSet>[0];
  try {
    set = JSON.parse(text) as typeof set;
  } catch {
    throw unusable("the JWK set is not JSON");
  }
  if (!Array.isArray(set.keys) || set.keys.length === 0) throw unusable("the JWK set has no keys");
  if (set.keys.some((key) => key.kty !== "RSA" && key.kty !== "EC")) throw unusable("a JWK set holds RSA and EC keys only");
  if (set.keys.some((key) => "d" in key)) throw unusable("the JWK set holds a private key");
  return createLocalJWKSet(set);
}

function unusable(reason: string): CodedError {
  return new CodedError("config_invalid", `auth.jwt.public_key: ${reason}`);
}
