import { BuiltinError } from "../../errors.ts";
import { charge } from "../../value/meter.ts";
import { fromBigInt } from "../../value/number.ts";
import { RegoObject, type Value } from "../../value/value.ts";
import { type Builtin, type CallContext, define } from "../builtin.ts";
import { base64, bytesToText, fromBase64 } from "../bytes.ts";
import { civil, formatTime, parseTime } from "../go-time.ts";
import { bitsOf, type Der, inside, integerOf, oidOf, readDer, readPem } from "./der.ts";
import { type PrivateKey, type PublicKey, privateKeyOf, publicKeyOf } from "./keys.ts";
import { digestOf, type HashName, verifyEcdsaDer, verifyEd25519, verifyRsa } from "./signatures.ts";

/** Go's `x509.SignatureAlgorithm`, its number and how to verify it. */
const SIGNATURES: Readonly<Record<string, readonly [number, "rsa" | "pss" | "ecdsa" | "ed25519" | "none", HashName]>> = {
  "1.2.840.113549.1.1.4": [2, "none", "sha1"],
  "1.2.840.113549.1.1.5": [3, "rsa", "sha1"],
  "1.2.840.113549.1.1.11": [4, "rsa", "sha256"],
  "1.2.840.113549.1.1.12": [5, "rsa", "sha384"],
  "1.2.840.113549.1.1.13": [6, "rsa", "sha512"],
  "1.2.840.113549.1.1.10": [13, "pss", "sha256"],
  "1.2.840.10045.4.1": [9, "ecdsa", "sha1"],
  "1.2.840.10045.4.3.2": [10, "ecdsa", "sha256"],
  "1.2.840.10045.4.3.3": [11, "ecdsa", "sha384"],
  "1.2.840.10045.4.3.4": [12, "ecdsa", "sha512"],
  "1.3.101.112": [16, "ed25519", "sha512"],
};

const NAMES: Readonly<Record<string, string>> = {
  "2.5.4.3": "CommonName",
  "2.5.4.5": "SerialNumber",
  "2.5.4.6": "Country",
  "2.5.4.7": "Locality",
  "2.5.4.8": "Province",
  "2.5.4.9": "StreetAddress",
  "2.5.4.10": "Organization",
  "2.5.4.11": "OrganizationalUnit",
  "2.5.4.17": "PostalCode",
};

const USAGES = ["2.5.29.37.0", ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => `1.3.6.1.5.5.7.3.${n}`)];

interface Extension {
  readonly id: string;
  readonly critical: boolean;
  readonly value: Uint8Array;
}

/** What the builtins need of a certificate (RFC 5280). */
interface Certificate {
  readonly raw: Uint8Array;
  readonly tbs: Der;
  readonly signatureId: string;
  readonly signature: Uint8Array;
  readonly issuer: Der;
  readonly subject: Der;
  /** Seconds since the epoch. */
  readonly from: number;
  readonly to: number;
  readonly key: PublicKey;
  readonly keyInfo: Der;
  readonly version: number;
  readonly serial: bigint;
  readonly extensions: readonly Extension[];
}

function malformed(): never {
  throw new BuiltinError("x509: malformed certificate");
}

function secondsOf(time: Der | undefined): number {
  const text = bytesToText(time?.content ?? new Uint8Array());
  if (!/^\d{12}(\d\d)?Z$/.test(text)) return malformed();
  const year = time?.tag === 0x17 ? (Number(text.slice(0, 2)) >= 50 ? "19" : "20") : "";
  return Number(
    parseTime(
      "2006-01-02T15:04:05Z07:00",
      (year + text).replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"),
    ) / 1_000_000_000n,
  );
}

function extensionsOf(list: Der | undefined): Extension[] {
  return inside(list).map((extension) => {
    const parts = inside(extension);
    const critical = parts[1]?.tag === 1 && parts[1].content[0] === 0xff;
    return { id: oidOf(parts[0]), critical, value: parts.at(-1)?.content ?? new Uint8Array() };
  });
}

function parseCertificate(der: Der): Certificate {
  charge(der.raw.length);
  const [tbs, algorithm, signature] = inside(der);
  const parts = [...inside(tbs)];
  const version = parts[0]?.tag === 0xa0 ? Number(integerOf(inside(parts.shift())[0] ?? malformed())) + 1 : 1;
  const [serial, , issuer, validity, subject, keyInfo] = parts;
  if (
    tbs === undefined ||
    serial?.tag !== 2 ||
    issuer === undefined ||
    subject === undefined ||
    keyInfo === undefined ||
    signature === undefined
  ) {
    return malformed();
  }
  const [from, to] = inside(validity);
  return {
    raw: der.raw,
    tbs,
    signatureId: oidOf(inside(algorithm)[0]),
    signature: bitsOf(signature),
    issuer,
    subject,
    from: secondsOf(from),
    to: secondsOf(to),
    key: publicKeyOf(keyInfo),
    keyInfo,
    version,
    serial: integerOf(serial),
    extensions: extensionsOf(inside(parts.find((part) => part.tag === 0xa3))[0]),
  };
}

/** DER from PEM text or base64 of PEM or DER. */
function derOf(text: string, label: string): readonly Uint8Array[] {
  const pem = (source: string): readonly Uint8Array[] | undefined => {
    const { blocks } = readPem(source, fromBase64);
    if (blocks.length === 0) return undefined;
    for (const block of blocks)
      if (block.label !== label) throw new BuiltinError(`PEM data contains '${block.label}' and not '${label}'`);
    return blocks.map((block) => block.bytes);
  };
  const direct = text.includes("-----BEGIN") ? pem(text) : undefined;
  if (direct !== undefined) return direct;
  const bytes = fromBase64(text.trim());
  if (bytes === undefined) {
    const wrong = /[^A-Za-z0-9+/=\s]/.exec(text)?.index ?? text.length;
    throw new BuiltinError(`illegal base64 data at input byte ${wrong}`);
  }
  return pem(bytesToText(bytes)) ?? [bytes];
}

function certificatesOf(text: string): readonly Certificate[] {
  return derOf(text, "CERTIFICATE").flatMap((bytes) => {
    const list = readDer(bytes);
    if (list === undefined || list.length === 0) return malformed();
    return list.map(parseCertificate);
  });
}

// --- Go-shaped output ------------------------------------------------------------------------------------------------------

function b64(bytes: Uint8Array): string {
  return base64(bytes);
}

function oidValue(id: string): Value {
  return id.split(".").map(Number);
}

function textOf(element: Der): string {
  if (element.tag === 0x1e) {
    let out = "";
    for (let i = 0; i + 1 < element.content.length; i += 2)
      out += String.fromCharCode(((element.content[i] as number) << 8) | (element.content[i + 1] as number));
    return out;
  }
  return bytesToText(element.content);
}

function attributesOf(name: Der): (readonly [string, string])[] {
  return inside(name).flatMap((set) =>
    inside(set).map((pair) => {
      const [id, value] = inside(pair);
      return [oidOf(id), value === undefined ? "" : textOf(value)] as const;
    }),
  );
}

function nameValue(name: Der): Value {
  const found: Record<string, string[]> = {};
  const attributes = attributesOf(name);
  for (const [id, text] of attributes) {
    const key = NAMES[id];
    if (key !== undefined) found[key] = [...(found[key] ?? []), text];
  }
  const many = ["Country", "Organization", "OrganizationalUnit", "Locality", "Province", "StreetAddress", "PostalCode"];
  return object({
    ...Object.fromEntries(many.map((key) => [key, found[key] ?? null])),
    SerialNumber: found["SerialNumber"]?.at(-1) ?? "",
    CommonName: found["CommonName"]?.at(-1) ?? "",
    Names: attributes.length === 0 ? null : attributes.map(([id, text]) => object({ Type: oidValue(id), Value: text })),
    ExtraNames: null,
  });
}

function object(members: Readonly<Record<string, Value>>): Value {
  return RegoObject.of(Object.entries(members));
}

function keyValue(key: PublicKey): readonly [number, Value] {
  switch (key.kind) {
    case "rsa":
      return [1, object({ N: fromBigInt(key.n), E: fromBigInt(key.e) })];
    case "ec": {
      const half = (key.point.length - 1) / 2;
      const [x, y] = [key.point.subarray(1, 1 + half), key.point.subarray(1 + half)];
      const number = (bytes: Uint8Array): Value => fromBigInt(bytes.reduce((n, b) => (n << 8n) | BigInt(b), 0n));
      return [3, object({ Curve: {}, X: number(x), Y: number(y) })];
    }
    case "ed25519":
      return [4, b64(key.key)];
    default:
      return [0, null];
  }
}

interface AlternativeNames {
  readonly dns: readonly string[];
  readonly email: readonly string[];
  readonly uri: readonly string[];
  readonly ip: readonly string[];
}

function alternativeNames(extensions: readonly Extension[]): AlternativeNames {
  const extension = extensions.find(({ id }) => id === "2.5.29.17");
  const names = extension === undefined ? [] : inside(readDer(extension.value)?.[0]);
  const of = (tag: number): string[] => names.filter((name) => name.tag === tag).map((name) => bytesToText(name.content));
  const ip = names
    .filter((name) => name.tag === 0x87)
    .map((name) => (name.content.length === 4 ? [...name.content].join(".") : b64(name.content)));
  return { dns: of(0x82), email: of(0x81), uri: of(0x86), ip };
}

function orNull(list: readonly Value[]): Value {
  return list.length === 0 ? null : list;
}

/** A URI as Go's `url.URL` marshals. */
function urlValue(text: string): Value {
  const match = /^([A-Za-z][A-Za-z0-9+.-]*):(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/.exec(text);
  const [, scheme = "", host = "", path = "", query = "", fragment = ""] = match ?? [];
  return object({
    Scheme: scheme.toLowerCase(),
    Opaque: "",
    User: null,
    Host: host,
    Path: path,
    RawPath: "",
    OmitHost: false,
    ForceQuery: false,
    RawQuery: query,
    Fragment: fragment,
    RawFragment: "",
  });
}

function timeText(seconds: number): string {
  return formatTime(civil(seconds, 0, 0, "UTC"), "2006-01-02T15:04:05Z07:00");
}

function constraintsOf(c: Certificate): { readonly valid: boolean; readonly ca: boolean; readonly path: number | undefined } {
  const extension = c.extensions.find(({ id }) => id === "2.5.29.19");
  if (extension === undefined) return { valid: false, ca: false, path: undefined };
  const parts = inside(readDer(extension.value)?.[0]);
  const ca = parts[0]?.tag === 1 && parts[0].content[0] === 0xff;
  const path = parts.find((part) => part.tag === 2);
  return { valid: true, ca, path: path === undefined ? undefined : Number(integerOf(path)) };
}

function usageBits(c: Certificate): number {
  const extension = c.extensions.find(({ id }) => id === "2.5.29.15");
  const bits = bitsOf(extension === undefined ? undefined : readDer(extension.value)?.[0]);
  let out = 0;
  for (let i = 0; i < 9; i++) if ((((bits[i >> 3] ?? 0) >> (7 - (i & 7))) & 1) === 1) out |= 1 << i;
  return out;
}

function extendedUsages(c: Certificate): readonly string[] {
  const extension = c.extensions.find(({ id }) => id === "2.5.29.37");
  return extension === undefined ? [] : inside(readDer(extension.value)?.[0]).map(oidOf);
}

function certificateValue(c: Certificate): Value {
  const names = alternativeNames(c.extensions);
  const [algorithm, key] = keyValue(c.key);
  const { valid, ca, path } = constraintsOf(c);
  const extension = (id: string): Der | undefined => {
    const found = c.extensions.find((one) => one.id === id);
    return found === undefined ? undefined : readDer(found.value)?.[0];
  };
  const authority = inside(extension("2.5.29.35")).find((part) => part.tag === 0x80);
  const access = inside(extension("1.3.6.1.5.5.7.1.1")).map((part) => inside(part));
  const located = (id: string): Value =>
    orNull(access.filter(([method]) => oidOf(method) === id).map(([, place]) => bytesToText(place?.content ?? new Uint8Array())));
  const usages = extendedUsages(c);
  const known = usages.flatMap((id) => (USAGES.includes(id) ? [USAGES.indexOf(id)] : []));
  const unknown = usages.filter((id) => !USAGES.includes(id)).map(oidValue);
  const points = inside(extension("2.5.29.31")).flatMap((point) =>
    inside(inside(inside(point)[0])[0]).map((name) => bytesToText(name.content)),
  );
  const policies = inside(extension("2.5.29.32")).map((policy) => oidValue(oidOf(inside(policy)[0])));
  const subjectKey = extension("2.5.29.14");
  const none = Object.fromEntries(
    (
      "ExtraExtensions UnhandledCriticalExtensions PermittedDNSDomains ExcludedDNSDomains PermittedIPRanges ExcludedIPRanges " +
      "PermittedEmailAddresses ExcludedEmailAddresses PermittedURIDomains ExcludedURIDomains PolicyMappings"
    )
      .split(" ")
      .map((name) => [name, null]),
  );
  return object({
    ...none,
    Raw: b64(c.raw),
    RawTBSCertificate: b64(c.tbs.raw),
    RawSubjectPublicKeyInfo: b64(c.keyInfo.raw),
    RawSubject: b64(c.subject.raw),
    RawIssuer: b64(c.issuer.raw),
    Signature: b64(c.signature),
    SignatureAlgorithm: SIGNATURES[c.signatureId]?.[0] ?? 0,
    PublicKeyAlgorithm: algorithm,
    PublicKey: key,
    Version: c.version,
    SerialNumber: fromBigInt(c.serial),
    Issuer: nameValue(c.issuer),
    Subject: nameValue(c.subject),
    NotBefore: timeText(c.from),
    NotAfter: timeText(c.to),
    KeyUsage: usageBits(c),
    Extensions: orNull(
      c.extensions.map(({ id, critical, value }) => object({ Id: oidValue(id), Critical: critical, Value: b64(value) })),
    ),
    ExtKeyUsage: orNull(known),
    UnknownExtKeyUsage: orNull(unknown),
    BasicConstraintsValid: valid,
    IsCA: ca,
    MaxPathLen: path ?? (valid ? -1 : 0),
    MaxPathLenZero: path === 0,
    SubjectKeyId: subjectKey === undefined ? null : b64(subjectKey.content),
    AuthorityKeyId: authority === undefined ? null : b64(authority.content),
    OCSPServer: located("1.3.6.1.5.5.7.48.1"),
    IssuingCertificateURL: located("1.3.6.1.5.5.7.48.2"),
    DNSNames: orNull(names.dns),
    EmailAddresses: orNull(names.email),
    IPAddresses: orNull(names.ip),
    URIs: orNull(names.uri.map(urlValue)),
    URIStrings: orNull(names.uri),
    PermittedDNSDomainsCritical: false,
    CRLDistributionPoints: orNull(points),
    PolicyIdentifiers: orNull(policies),
    Policies: null,
  });
}

// --- chains -----------------------------------------------------------------------------------------------------------------

function signedBy(c: Certificate, issuer: Certificate): boolean {
  const [, scheme, hash] = SIGNATURES[c.signatureId] ?? [0, "none", "sha1"];
  switch (scheme) {
    case "rsa":
    case "pss":
      return hash !== "sha1" && verifyRsa(issuer.key, hash, digestOf(hash, c.tbs.raw), c.signature, scheme === "pss");
    case "ecdsa":
      return hash !== "sha1" && verifyEcdsaDer(issuer.key, digestOf(hash, c.tbs.raw), c.signature);
    case "ed25519":
      return verifyEd25519(issuer.key, c.tbs.raw, c.signature);
    default:
      return false;
  }
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/** Extensions whose meaning this verification knows; any other critical one is refused. */
const HANDLED = new Set(["2.5.29.14", "2.5.29.15", "2.5.29.17", "2.5.29.19", "2.5.29.31", "2.5.29.32", "2.5.29.35", "2.5.29.37"]);

/** A chain from the last certificate over the others to the first, the root; undefined if there is none. */
function verifiedChain(all: readonly Certificate[], now: number): readonly Certificate[] | undefined {
  const [root, ...others] = all;
  const leaf = others.pop();
  if (root === undefined || leaf === undefined) return undefined;
  const inDate = (c: Certificate): boolean => now >= c.from && now <= c.to;
  const handled = (c: Certificate): boolean => c.extensions.every(({ id, critical }) => !critical || HANDLED.has(id));
  const serves = (c: Certificate): boolean => {
    const usages = extendedUsages(c);
    return usages.length === 0 || usages.includes("1.3.6.1.5.5.7.3.1") || usages.includes("2.5.29.37.0");
  };
  const search = (chain: readonly Certificate[]): readonly Certificate[] | undefined => {
    const last = chain[chain.length - 1] as Certificate;
    if (!inDate(last) || !handled(last) || !serves(last)) return undefined;
    for (const issuer of [root, ...others]) {
      if (chain.includes(issuer) || !sameBytes(issuer.subject.raw, last.issuer.raw)) continue;
      const { valid, ca, path } = constraintsOf(issuer);
      if (issuer.version === 3 && (!valid || !ca)) continue;
      if (path !== undefined && chain.length - 1 > path) continue;
      const usage = usageBits(issuer);
      if (usage !== 0 && (usage & (1 << 5)) === 0) continue;
      if (!signedBy(last, issuer)) continue;
      if (issuer === root) return inDate(root) && handled(root) && serves(root) ? [...chain, root] : undefined;
      const longer = search([...chain, issuer]);
      if (longer !== undefined) return longer;
    }
    return undefined;
  };
  return all.length > 64 ? undefined : search([leaf]);
}

function parseAndVerify(text: string, context: CallContext): Value {
  const refused: Value = [false, []];
  let certificates: readonly Certificate[];
  try {
    certificates = certificatesOf(text);
  } catch (error) {
    if (error instanceof BuiltinError) return refused;
    throw error;
  }
  const chain = verifiedChain(certificates, Number(context.now / 1_000_000_000n));
  return chain === undefined ? refused : [true, chain.map(certificateValue)];
}

function requestValue(text: string): Value {
  const structure = (): never => {
    throw new BuiltinError("asn1: structure error: tags don't match");
  };
  const pem = text.includes("-----BEGIN") ? readPem(text, fromBase64).blocks[0]?.bytes : undefined;
  const decoded = pem ?? fromBase64(text.trim());
  if (decoded === undefined) throw new BuiltinError("illegal base64 data");
  const inner = pem === undefined ? readPem(bytesToText(decoded), fromBase64).blocks[0]?.bytes : undefined;
  const request = readDer(inner ?? decoded)?.[0];
  if (request?.tag !== 0x30) return structure();
  const [info, algorithm, signature] = inside(request);
  const [version, subject, keyInfo, attributes] = inside(info);
  if (info === undefined || version?.tag !== 2 || subject === undefined || keyInfo === undefined) return structure();
  const asked = inside(attributes).find((attribute) => oidOf(inside(attribute)[0]) === "1.2.840.113549.1.9.14");
  const extensions = asked === undefined ? [] : extensionsOf(inside(inside(asked)[1])[0]);
  const names = alternativeNames(extensions);
  const [algorithmNumber, key] = keyValue(publicKeyOf(keyInfo));
  return object({
    Raw: b64(request.raw),
    RawTBSCertificateRequest: b64(info.raw),
    RawSubjectPublicKeyInfo: b64(keyInfo.raw),
    RawSubject: b64(subject.raw),
    Version: Number(integerOf(version)),
    Signature: b64(bitsOf(signature)),
    SignatureAlgorithm: SIGNATURES[oidOf(inside(algorithm)[0])]?.[0] ?? 0,
    PublicKeyAlgorithm: algorithmNumber,
    PublicKey: key,
    Subject: nameValue(subject),
    Attributes: null,
    Extensions: orNull(
      extensions.map(({ id, critical, value }) => object({ Id: oidValue(id), Critical: critical, Value: b64(value) })),
    ),
    ExtraExtensions: null,
    DNSNames: orNull(names.dns),
    EmailAddresses: orNull(names.email),
    IPAddresses: orNull(names.ip),
    URIs: orNull(names.uri.map(urlValue)),
  });
}

// --- private keys -----------------------------------------------------------------------------------------------------------

function pemText(text: string): string {
  if (text.includes("-----BEGIN")) return text;
  const bytes = fromBase64(text.trim());
  if (bytes === undefined) throw new BuiltinError("illegal base64 data at input byte 0");
  return bytesToText(bytes);
}

function urlNumber(value: bigint): string {
  const digits = value.toString(16);
  const even = digits.length % 2 === 0 ? digits : `0${digits}`;
  return base64(
    Uint8Array.from(even.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)),
    true,
    false,
  );
}

function inverse(a: bigint, modulus: bigint): bigint {
  let [r0, r1, s0, s1] = [modulus, a % modulus, 0n, 1n];
  while (r1 !== 0n) {
    const q = r0 / r1;
    [r0, r1, s0, s1] = [r1, r0 - q * r1, s1, s0 - q * s1];
  }
  return ((s0 % modulus) + modulus) % modulus;
}

function rsaJwk(key: PrivateKey & { kind: "rsa" }): Value {
  const { n, e, d, p, q } = key;
  const numbers = { n, e, d, p, q, dp: d % (p - 1n), dq: d % (q - 1n), qi: inverse(q, p) };
  return object({ kty: "RSA", ...Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, urlNumber(value)])) });
}

function privateKeyValue(key: PrivateKey): Value {
  switch (key.kind) {
    case "rsa": {
      const { n, e, d, p, q } = key;
      const precomputed = object({
        Dp: fromBigInt(d % (p - 1n)),
        Dq: fromBigInt(d % (q - 1n)),
        Qinv: fromBigInt(inverse(q, p)),
        CRTValues: [],
      });
      return object({
        N: fromBigInt(n),
        E: fromBigInt(e),
        D: fromBigInt(d),
        Primes: [fromBigInt(p), fromBigInt(q)],
        Precomputed: precomputed,
      });
    }
    case "ec":
      return object({ Curve: {}, D: fromBigInt(key.d.reduce((n, b) => (n << 8n) | BigInt(b), 0n)) });
    default:
      return b64(key.kind === "ed25519" ? key.seed : key.key);
  }
}

function privateKeys(text: string): readonly PrivateKey[] {
  return readPem(pemText(text), fromBase64).blocks.flatMap(({ label, bytes }) => privateKeyOf(label, bytes) ?? []);
}

/** X.509 (RFC 5280), certificate requests and private keys, in the shape of Go's structures. */
export const x509Builtins: readonly Builtin[] = [
  define("crypto.x509.parse_certificates", "string -> [{string: any}]", ([text]) =>
    certificatesOf(text as string).map(certificateValue),
  ),
  define("crypto.x509.parse_and_verify_certificates", "string -> [boolean, [{string: any}]]", ([text], context) =>
    parseAndVerify(text as string, context),
  ),
  define("crypto.x509.parse_certificate_request", "string -> {string: any}", ([text]) => requestValue(text as string)),
  define("crypto.x509.parse_rsa_private_key", "string -> {string: any}", ([text]) => {
    const key = privateKeys(text as string).find((one) => one.kind === "rsa");
    if (key?.kind !== "rsa") throw new BuiltinError("failed to find valid RSA private key");
    return rsaJwk(key);
  }),
  define("crypto.x509.parse_keypair", "string, string -> {string: any}", ([certificate, key]) => {
    const certificates = readPem(pemText(certificate as string), fromBase64).blocks.filter(
      ({ label }) => label === "CERTIFICATE",
    );
    const [found] = privateKeys(key as string);
    if (certificates.length === 0 || found === undefined)
      throw new BuiltinError("tls: failed to find PEM data in certificate or key input");
    return object({
      Certificate: certificates.map(({ bytes }) => b64(bytes)),
      PrivateKey: privateKeyValue(found),
      SupportedSignatureAlgorithms: null,
      OCSPStaple: null,
      SignedCertificateTimestamps: null,
      Leaf: null,
    });
  }),
  define("crypto.parse_private_keys", "string -> any", ([text]) => {
    if (text === "") return null;
    let keys: readonly PrivateKey[];
    try {
      keys = privateKeys(text as string);
    } catch (error) {
      if (error instanceof BuiltinError) return [];
      throw error;
    }
    return keys.map(privateKeyValue);
  }),
];
