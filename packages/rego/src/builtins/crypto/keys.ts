import { BuiltinError } from "../../errors.ts";
import { getKey, isArray, isObject, type Value } from "../../value/value.ts";
import { fromBase64, fromBase64Url } from "../bytes.ts";
import { unmarshal } from "../encoding.ts";
import { bitsOf, type Der, inside, integerOf, oidOf, readDer, readPem, unsigned } from "./der.ts";

export type Curve = "P-256" | "P-384" | "P-521";

export type PublicKey =
  | { readonly kind: "rsa"; readonly n: bigint; readonly e: bigint }
  | { readonly kind: "ec"; readonly curve: Curve; readonly point: Uint8Array }
  | { readonly kind: "ed25519"; readonly key: Uint8Array }
  | { readonly kind: "secret"; readonly key: Uint8Array }
  | { readonly kind: "unknown" };

export type PrivateKey =
  | { readonly kind: "rsa"; readonly n: bigint; readonly e: bigint; readonly d: bigint; readonly p: bigint; readonly q: bigint }
  | { readonly kind: "ec"; readonly curve: Curve; readonly d: Uint8Array }
  | { readonly kind: "ed25519"; readonly seed: Uint8Array }
  | { readonly kind: "secret"; readonly key: Uint8Array };

export interface VerificationKey {
  readonly alg: string;
  readonly kid: string;
  readonly key: PublicKey;
}

const CURVES: Readonly<Record<string, Curve>> = {
  "1.2.840.10045.3.1.7": "P-256",
  "1.3.132.0.34": "P-384",
  "1.3.132.0.35": "P-521",
};
const CURVE_BYTES: Readonly<Record<Curve, number>> = { "P-256": 32, "P-384": 48, "P-521": 66 };
const MAX_RSA_BITS = 16_384n;

/** Algorithms of RFC 7518 and 8037 that tokens may use. */
export const TOKEN_ALGORITHMS: ReadonlySet<string> = new Set(
  "RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 HS256 HS384 HS512 EdDSA".split(" "),
);

function rsa(n: bigint, e: bigint): PublicKey {
  if (n <= 0n || n >> MAX_RSA_BITS !== 0n || e <= 1n || e >> 32n !== 0n) throw new BuiltinError("x509: invalid RSA key");
  return { kind: "rsa", n, e };
}

/** A SubjectPublicKeyInfo (RFC 5280). Throws {@link BuiltinError}. */
export function publicKeyOf(info: Der | undefined): PublicKey {
  const [algorithm, bits] = inside(info);
  const [id, parameters] = inside(algorithm);
  switch (oidOf(id)) {
    case "1.2.840.113549.1.1.1": {
      const [n, e] = inside(readDer(bitsOf(bits))?.[0]);
      if (n === undefined || e === undefined) throw new BuiltinError("x509: invalid RSA public key");
      return rsa(integerOf(n), integerOf(e));
    }
    case "1.2.840.10045.2.1": {
      const curve = CURVES[oidOf(parameters)];
      return curve === undefined ? { kind: "unknown" } : { kind: "ec", curve, point: bitsOf(bits) };
    }
    case "1.3.101.112":
      return { kind: "ed25519", key: bitsOf(bits) };
    default:
      return { kind: "unknown" };
  }
}

function member(jwk: Value, name: string): string {
  const value = isObject(jwk) ? getKey(jwk, name) : undefined;
  if (typeof value !== "string") throw new BuiltinError(`required field ${name} is missing`);
  return value;
}

function bytesOf(jwk: Value, name: string): Uint8Array {
  const bytes = fromBase64Url(member(jwk, name));
  if (bytes === undefined) throw new BuiltinError(`failed to decode field ${name}`);
  return bytes;
}

function padded(bytes: Uint8Array, length: number): Uint8Array {
  const out = new Uint8Array(length);
  out.set(bytes.subarray(Math.max(0, bytes.length - length)), Math.max(0, length - bytes.length));
  return out;
}

/** The public key of a JSON Web Key (RFC 7517). Throws {@link BuiltinError}. */
function publicJwk(jwk: Value): PublicKey {
  switch (member(jwk, "kty")) {
    case "RSA":
      return rsa(unsigned(bytesOf(jwk, "n")), unsigned(bytesOf(jwk, "e")));
    case "EC": {
      const curve = member(jwk, "crv") as Curve;
      const length = CURVE_BYTES[curve];
      if (length === undefined) throw new BuiltinError(`unsupported curve ${curve}`);
      return {
        kind: "ec",
        curve,
        point: Uint8Array.of(4, ...padded(bytesOf(jwk, "x"), length), ...padded(bytesOf(jwk, "y"), length)),
      };
    }
    case "OKP":
      return member(jwk, "crv") === "Ed25519" ? { kind: "ed25519", key: bytesOf(jwk, "x") } : { kind: "unknown" };
    case "oct":
      return { kind: "secret", key: bytesOf(jwk, "k") };
    default:
      throw new BuiltinError(`invalid key type ${member(jwk, "kty")}`);
  }
}

function jwkList(text: string): readonly Value[] {
  let parsed: Value;
  try {
    parsed = unmarshal(text);
  } catch (error) {
    throw new BuiltinError(`failed to parse a JWK key (set): ${error instanceof Error ? error.message : ""}`);
  }
  if (!isObject(parsed)) throw new BuiltinError("failed to parse a JWK key (set): not an object");
  const keys = getKey(parsed, "keys");
  return keys !== undefined && isArray(keys) ? keys : [parsed];
}

/** Keys from a PEM certificate, a PEM public key, a JWK or a JWK set. Throws {@link BuiltinError}. */
export function verificationKeys(text: string): readonly VerificationKey[] {
  const { blocks, rest } = readPem(text, fromBase64);
  const [block] = blocks;
  if (block !== undefined) {
    if (rest !== "" || blocks.length > 1) throw new BuiltinError("extra data after a PEM certificate block");
    if (block.label === "CERTIFICATE") {
      const tbs = inside(inside(readDer(block.bytes)?.[0])[0]);
      if (tbs.length < 6) throw new BuiltinError("failed to parse a PEM certificate: x509: malformed certificate");
      return [{ alg: "", kid: "", key: publicKeyOf(tbs[tbs[0]?.tag === 0xa0 ? 6 : 5]) }];
    }
    if (block.label === "PUBLIC KEY") return [{ alg: "", kid: "", key: publicKeyOf(readDer(block.bytes)?.[0]) }];
    throw new BuiltinError("failed to extract a Key from the PEM certificate");
  }
  const out: VerificationKey[] = [];
  for (const jwk of jwkList(text)) {
    let key: PublicKey;
    try {
      key = publicJwk(jwk);
    } catch (error) {
      throw new BuiltinError(`failed to parse a JWK key (set): ${error instanceof Error ? error.message : ""}`);
    }
    const alg = isObject(jwk) ? getKey(jwk, "alg") : undefined;
    const kid = isObject(jwk) ? getKey(jwk, "kid") : undefined;
    if (typeof alg === "string" && alg !== "" && !TOKEN_ALGORITHMS.has(alg)) continue;
    out.push({ alg: typeof alg === "string" ? alg : "", kid: typeof kid === "string" ? kid : "", key });
  }
  return out;
}

/** The first private key of a JWK or a JWK set. Throws {@link BuiltinError}. */
export function privateJwk(text: string): PrivateKey {
  const [jwk] = jwkList(text);
  if (jwk === undefined) throw new BuiltinError("no keys found in JWK set");
  switch (member(jwk, "kty")) {
    case "RSA":
      return {
        kind: "rsa",
        n: unsigned(bytesOf(jwk, "n")),
        e: unsigned(bytesOf(jwk, "e")),
        d: unsigned(bytesOf(jwk, "d")),
        p: unsigned(bytesOf(jwk, "p")),
        q: unsigned(bytesOf(jwk, "q")),
      };
    case "EC": {
      const curve = member(jwk, "crv") as Curve;
      const length = CURVE_BYTES[curve];
      if (length === undefined) throw new BuiltinError(`unsupported curve ${curve}`);
      return { kind: "ec", curve, d: padded(bytesOf(jwk, "d"), length) };
    }
    case "OKP":
      return { kind: "ed25519", seed: bytesOf(jwk, "d") };
    case "oct":
      return { kind: "secret", key: bytesOf(jwk, "k") };
    default:
      throw new BuiltinError(`invalid key type ${member(jwk, "kty")}`);
  }
}

/** A PKCS #1, PKCS #8 or SEC 1 private key. Undefined if it is none. */
export function privateKeyOf(label: string, der: Uint8Array): PrivateKey | undefined {
  const parts = inside(readDer(der)?.[0]);
  if (label === "RSA PRIVATE KEY") {
    const [, n, e, d, p, q] = parts;
    if (n === undefined || e === undefined || d === undefined || p === undefined || q === undefined) return undefined;
    return { kind: "rsa", n: integerOf(n), e: integerOf(e), d: integerOf(d), p: integerOf(p), q: integerOf(q) };
  }
  if (label === "EC PRIVATE KEY") {
    const curve = CURVES[oidOf(inside(parts.find((part) => part.tag === 0xa0))[0])];
    const d = parts[1]?.content;
    return curve === undefined || d === undefined ? undefined : { kind: "ec", curve, d: padded(d, CURVE_BYTES[curve]) };
  }
  if (label !== "PRIVATE KEY") return undefined;
  const [id, parameters] = inside(parts[1]);
  const inner = parts[2]?.content;
  if (inner === undefined) return undefined;
  switch (oidOf(id)) {
    case "1.2.840.113549.1.1.1":
      return privateKeyOf("RSA PRIVATE KEY", inner);
    case "1.2.840.10045.2.1": {
      const curve = CURVES[oidOf(parameters)];
      const d = inside(readDer(inner)?.[0])[1]?.content;
      return curve === undefined || d === undefined ? undefined : { kind: "ec", curve, d: padded(d, CURVE_BYTES[curve]) };
    }
    case "1.3.101.112": {
      const seed = readDer(inner)?.[0]?.content;
      return seed === undefined ? undefined : { kind: "ed25519", seed };
    }
    default:
      return undefined;
  }
}
