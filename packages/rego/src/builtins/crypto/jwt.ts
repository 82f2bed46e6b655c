import { BuiltinError } from "../../errors.ts";
import { jsonText } from "../../value/format.ts";
import { compareNumbers, type Num, parseNumber, toDouble } from "../../value/number.ts";
import {
  getKey,
  isArray,
  isNumber,
  isObject,
  type PlainObject,
  type RegoObject,
  sortedKeys,
  type Value,
} from "../../value/value.ts";
import { type Builtin, type CallContext, define } from "../builtin.ts";
import { base64, bytesToText, fromBase64Url, hex, textToBytes } from "../bytes.ts";
import { unmarshal } from "../encoding.ts";
import { type PublicKey, privateJwk, TOKEN_ALGORITHMS, type VerificationKey, verificationKeys } from "./keys.ts";
import { signJws, verifyJws } from "./signatures.ts";

type AnyObject = PlainObject | RegoObject;

interface Token {
  readonly header: string;
  readonly payload: string;
  readonly signature: string;
}

function splitToken(text: Value): Token {
  if (typeof text !== "string") throw new BuiltinError("operand 1 must be string", "eval_type_error");
  if (!text.includes(".")) throw new BuiltinError("encoded JWT had no period separators");
  const parts = text.split(".");
  const [header, payload, signature] = parts;
  if (parts.length !== 3 || header === undefined || payload === undefined || signature === undefined) {
    throw new BuiltinError(`encoded JWT must have 3 sections, found ${parts.length}`);
  }
  return { header, payload, signature };
}

function decodePart(text: string, what: string): Uint8Array {
  const bytes = fromBase64Url(text);
  if (bytes !== undefined) return bytes;
  if (!text.endsWith("=") && text.length % 4 === 1 && /^[A-Za-z0-9_-]*$/.test(text)) {
    throw new BuiltinError(`${what} had invalid encoding: illegal base64url string: ${text}`);
  }
  const wrong = /[^A-Za-z0-9_-]/.exec(text)?.index ?? text.length;
  throw new BuiltinError(`${what} had invalid encoding: illegal base64 data at input byte ${wrong}`);
}

function objectOf(text: string): AnyObject {
  let value: Value;
  try {
    value = unmarshal(text);
  } catch (error) {
    if (error instanceof BuiltinError) throw new BuiltinError(`invalid JSON: ${error.message}`);
    throw error;
  }
  if (!isObject(value)) throw new BuiltinError("decoded JSON type was not an Object");
  return value;
}

function headerOf(token: Token): AnyObject {
  let header: AnyObject;
  const text = bytesToText(decodePart(token.header, "JWT header"));
  try {
    header = objectOf(text);
  } catch (error) {
    if (error instanceof BuiltinError) throw new BuiltinError(`bad JWT header: ${error.message}`);
    throw error;
  }
  if (getKey(header, "enc") !== undefined) throw new BuiltinError("JWT is a JWE object, which is not supported");
  return header;
}

function named(header: AnyObject, name: string): string {
  const value = getKey(header, name);
  if (value === undefined) return "";
  if (typeof value !== "string") throw new BuiltinError(`${name} header must be a string`);
  return value;
}

function isNested(header: AnyObject): boolean {
  const cty = getKey(header, "cty");
  return typeof cty === "string" && cty.toUpperCase() === "JWT";
}

function decode(text: Value, depth = 0): Value {
  if (depth > 16) throw new BuiltinError("JWT is nested too deeply");
  const token = splitToken(text);
  const header = headerOf(token);
  const payload = bytesToText(decodePart(token.payload, "JWT payload"));
  if (isNested(header)) return decode(payload.replace(/^["']+|["']+$/g, ""), depth + 1);
  return [header, objectOf(payload), hex(decodePart(token.signature, "JWT signature"))];
}

function holds(keys: readonly VerificationKey[], kid: string, alg: string, verify: (key: PublicKey) => boolean): boolean {
  const chosen = kid === "" ? undefined : keys.find((key) => key.kid === kid);
  if (chosen !== undefined) return verify(chosen.key);
  return keys.some((key) => (key.alg === "" || key.alg === alg) && verify(key.key));
}

function verifier(name: string, alg: string): Builtin {
  return define(name, "string, string -> boolean", ([text, certificate]) => {
    const token = splitToken(text as Value);
    const message = textToBytes(`${token.header}.${token.payload}`);
    if (alg.startsWith("HS")) {
      const key: PublicKey = { kind: "secret", key: textToBytes(certificate as string) };
      return verifyJws(alg, key, message, decodePart(token.signature, "JWT signature"));
    }
    const keys = verificationKeys(certificate as string);
    const signature = decodePart(token.signature, "JWT signature");
    const header = headerOf(token);
    return holds(keys, named(header, "kid"), named(header, "alg"), (key) => verifyJws(alg, key, message, signature));
  });
}

interface Constraints {
  readonly keys: readonly VerificationKey[] | undefined;
  readonly secret: string;
  readonly alg: string;
  readonly iss: string;
  readonly aud: string;
  /** Nanoseconds. */
  readonly time: number;
}

function constraintsOf(object: AnyObject, now: bigint): Constraints {
  const texts: Record<string, string> = { secret: "", alg: "", iss: "", aud: "" };
  let keys: readonly VerificationKey[] | undefined;
  let time = Number(now);
  for (const name of sortedKeys(object)) {
    const value = getKey(object, name) as Value;
    if (name === "cert") {
      if (typeof value !== "string") throw new BuiltinError("cert constraint: must be a string");
      keys = verificationKeys(value);
    } else if (name === "time") {
      if (!isNumber(value)) throw new BuiltinError("token time constraint: must be a number");
      time = toDouble(value);
      if (time < 0) throw new BuiltinError("token time constraint: must not be negative");
    } else if (typeof name === "string" && Object.hasOwn(texts, name)) {
      if (typeof value !== "string") throw new BuiltinError(`${name} constraint: must be a string`);
      texts[name] = value;
    } else throw new BuiltinError(`unknown token validation constraint: ${String(name)}`);
  }
  const { secret = "", alg = "", iss = "", aud = "" } = texts;
  if (keys !== undefined && secret !== "") throw new BuiltinError("duplicate key constraints");
  if (keys === undefined && secret === "") throw new BuiltinError("no key constraint");
  return { keys, secret, alg, iss, aud, time };
}

function decodeVerify(text: Value, object: AnyObject, context: CallContext): Value {
  const unverified: Value = [false, {}, {}];
  const constraints = constraintsOf(object, context.now);
  let encoded = text;
  let header: AnyObject;
  let payloadText: string;
  for (let depth = 0; ; depth++) {
    if (depth > 16) throw new BuiltinError("JWT is nested too deeply");
    const token = splitToken(encoded);
    header = headerOf(token);
    const alg = named(header, "alg");
    const kid = named(header, "kid");
    if (!TOKEN_ALGORITHMS.has(alg) || getKey(header, "crit") !== undefined) return unverified;
    if (constraints.alg !== "" && constraints.alg !== alg) return unverified;
    const signature = decodePart(token.signature, "JWT signature");
    const message = textToBytes(`${token.header}.${token.payload}`);
    const verify = (key: PublicKey): boolean => verifyJws(alg, key, message, signature);
    const valid =
      constraints.keys !== undefined
        ? holds(
            constraints.keys.filter(({ key }) => key.kind !== "secret" || alg.startsWith("HS")),
            kid,
            alg,
            verify,
          )
        : verify({ kind: "secret", key: textToBytes(constraints.secret) });
    if (!valid) return unverified;
    payloadText = bytesToText(decodePart(token.payload, "JWT payload"));
    if (!isNested(header)) break;
    encoded = payloadText;
  }
  const payload = objectOf(payloadText);
  if (constraints.iss !== "" && getKey(payload, "iss") !== constraints.iss) return unverified;
  const audience = getKey(payload, "aud");
  if (audience === undefined ? constraints.aud !== "" : !fits(audience, constraints.aud)) return unverified;
  const seconds = parseNumber(String(constraints.time / 1e9)) ?? 0;
  const claim = (name: string): Num | undefined => {
    const value = getKey(payload, name);
    if (value !== undefined && !isNumber(value)) throw new BuiltinError(`${name} value must be a number`);
    return value;
  };
  const expiry = claim("exp");
  if (expiry !== undefined && compareNumbers(seconds, expiry) >= 0) return unverified;
  const start = claim("nbf");
  if (start !== undefined && compareNumbers(seconds, start) < 0) return unverified;
  return [true, header, payload];
}

function fits(audience: Value, wanted: string): boolean {
  return typeof audience === "string" ? audience === wanted : isArray(audience) && audience.includes(wanted);
}

function encodeSign(headers: string, payload: string, jwk: string, context: CallContext): string {
  const key = privateJwk(jwk);
  const reject = (reason: string): never => {
    throw new BuiltinError(`missing or invalid 'alg' header: ${reason}`);
  };
  if (headers === "") reject("cannot parse JSON: cannot parse empty string");
  let header: Value;
  try {
    header = unmarshal(headers);
  } catch {
    return reject('jwsbb: header "alg" not found');
  }
  const alg = isObject(header) ? getKey(header, "alg") : undefined;
  if (typeof alg !== "string") return reject('jwsbb: header "alg" not found');
  if (!TOKEN_ALGORITHMS.has(alg)) throw new BuiltinError(`unknown JWS algorithm: ${alg}`);
  const type = isObject(header) ? getKey(header, "typ") : undefined;
  if (typeof type !== "string" || type === "JWT") {
    try {
      unmarshal(payload);
    } catch (error) {
      if (error instanceof BuiltinError) throw new BuiltinError("type is JWT but payload is not JSON");
      throw error;
    }
  }
  const message = `${base64(textToBytes(headers), true, false)}.${base64(textToBytes(payload), true, false)}`;
  const random = (length: number): Uint8Array => context.random(`jws:${message}`, length);
  return `${message}.${base64(signJws(alg, key, textToBytes(message), random), true, false)}`;
}

/** JSON Web Tokens (RFC 7519) in compact form. */
export const jwtBuiltins: readonly Builtin[] = [
  define("io.jwt.decode", "string -> [{any: any}, {any: any}, string]", ([text]) => decode(text as Value)),
  define("io.jwt.decode_verify", "string, {string: any} -> [boolean, {any: any}, {any: any}]", ([text, object], context) =>
    decodeVerify(text as Value, object as AnyObject, context),
  ),
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "HS256", "HS384", "HS512", "EdDSA"].map(
    (alg) => verifier(`io.jwt.verify_${alg.toLowerCase()}`, alg),
  ),
  define("io.jwt.encode_sign", "{string: any}, {string: any}, {string: any} -> string", ([headers, payload, key], context) =>
    encodeSign(jsonText(headers as Value), jsonText(payload as Value), jsonText(key as Value), context),
  ),
  define("io.jwt.encode_sign_raw", "string, string, string -> string", ([headers, payload, key], context) =>
    encodeSign(headers as string, payload as string, key as string, context),
  ),
];
