import { bytesEqual, fromUtf8 } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import {
  boolean,
  type DerElement,
  DerReader,
  der,
  explicit,
  ia5,
  implicit,
  integer,
  namedBits,
  octetString,
  oid,
  readBoolean,
  readChildren,
  readDer,
  readInteger,
  readNamedBits,
  readOid,
  sequence,
  TAG,
} from "./der.ts";
import { ipText, parseIp } from "./ip-address.ts";
import { decodeNameConstraints, encodeNameConstraints, type NameConstraints } from "./name-constraints.ts";
import { OID } from "./oids.ts";

/** Names of the KeyUsage bits, in their order (RFC 5280 4.2.1.3). */
const KEY_USAGES = [
  "digitalSignature",
  "nonRepudiation",
  "keyEncipherment",
  "dataEncipherment",
  "keyAgreement",
  "keyCertSign",
  "cRLSign",
  "encipherOnly",
  "decipherOnly",
] as const;
export type KeyUsage = (typeof KEY_USAGES)[number];

const PURPOSES = { serverAuth: OID.serverAuth, clientAuth: OID.clientAuth, ocspSigning: OID.ocspSigning } as const;
/** Extended key usages by name; others appear as dotted identifiers. */
export type Purpose = keyof typeof PURPOSES;
const PURPOSE_NAMES = new Map<string, Purpose>(
  (Object.entries(PURPOSES) as [Purpose, string][]).map(([name, dotted]) => [dotted, name]),
);

/** A subject alternative name. DNS names and URIs are ASCII; `ip` is text. */
export interface SubjectAltName {
  readonly kind: "dns" | "ip" | "uri" | "email";
  readonly value: string;
}

/** What a certificate says beyond names, key and time. */
export interface CertificateExtensions {
  /** Present on CAs only. */
  readonly ca?: { readonly pathLength?: number };
  readonly keyUsage?: readonly KeyUsage[];
  /** Named purposes or dotted identifiers. */
  readonly extendedKeyUsage?: readonly string[];
  readonly subjectAltNames?: readonly SubjectAltName[];
  /** On CAs only: the names that certificates below may have. */
  readonly nameConstraints?: NameConstraints;
  readonly subjectKeyId?: Uint8Array;
  readonly authorityKeyId?: Uint8Array;
  readonly crlUrls?: readonly string[];
  readonly ocspUrls?: readonly string[];
  readonly issuerUrls?: readonly string[];
  /** Marks a delegated OCSP responder whose own revocation is not checked. */
  readonly ocspNoCheck?: boolean;
}

const SAN_TAGS = { email: 1, dns: 2, uri: 6, ip: 7 } as const;

/** One extension: identifier, DEFAULT FALSE critical flag, value. */
export function extension(dotted: string, critical: boolean, value: Uint8Array): Uint8Array {
  return sequence(oid(dotted), ...(critical ? [boolean(true)] : []), octetString(value));
}

/** The extensions of a certificate, in a fixed order. `emptySubject` makes the alternative names critical (RFC 5280 4.2.1.6). */
export function encodeExtensions(e: CertificateExtensions, emptySubject: boolean): Uint8Array[] {
  const out: Uint8Array[] = [];
  if (e.ca !== undefined) {
    const { pathLength } = e.ca;
    out.push(
      extension(OID.basicConstraints, true, sequence(boolean(true), ...(pathLength === undefined ? [] : [integer(pathLength)]))),
    );
  }
  if (e.keyUsage !== undefined) {
    out.push(extension(OID.keyUsage, true, namedBits(e.keyUsage.map((usage) => KEY_USAGES.indexOf(usage)))));
  }
  if (e.extendedKeyUsage !== undefined && e.extendedKeyUsage.length > 0) {
    const purposes = e.extendedKeyUsage.map((purpose) => oid((PURPOSES as Readonly<Record<string, string>>)[purpose] ?? purpose));
    out.push(extension(OID.extendedKeyUsage, false, sequence(...purposes)));
  }
  if (e.subjectKeyId !== undefined) out.push(extension(OID.subjectKeyId, false, octetString(e.subjectKeyId)));
  if (e.authorityKeyId !== undefined) out.push(extension(OID.authorityKeyId, false, sequence(implicit(0, e.authorityKeyId))));
  if (e.subjectAltNames !== undefined && e.subjectAltNames.length > 0) {
    out.push(extension(OID.subjectAltName, emptySubject, encodeAltNames(e.subjectAltNames)));
  }
  if (e.nameConstraints !== undefined) {
    out.push(extension(OID.nameConstraints, true, encodeNameConstraints(e.nameConstraints)));
  }
  if (e.crlUrls !== undefined && e.crlUrls.length > 0) {
    const points = e.crlUrls.map((url) => sequence(explicit(0, explicit(0, implicit(SAN_TAGS.uri, ia5(url))))));
    out.push(extension(OID.crlDistributionPoints, false, sequence(...points)));
  }
  const access = [
    ...(e.ocspUrls ?? []).map((url) => sequence(oid(OID.ocsp), implicit(SAN_TAGS.uri, ia5(url)))),
    ...(e.issuerUrls ?? []).map((url) => sequence(oid(OID.caIssuers), implicit(SAN_TAGS.uri, ia5(url)))),
  ];
  if (access.length > 0) out.push(extension(OID.authorityInfoAccess, false, sequence(...access)));
  if (e.ocspNoCheck === true) out.push(extension(OID.ocspNoCheck, false, der(TAG.null)));
  return out;
}

function encodeAltNames(names: readonly SubjectAltName[]): Uint8Array {
  return sequence(
    ...names.map(({ kind, value }) => {
      if (value === "" || value.includes("\0")) throw cryptoError("x509_invalid", `subject alternative name ${kind} is empty`);
      if (kind === "dns" && !/^(?:\*\.)?[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?$/.test(value)) {
        throw cryptoError("x509_invalid", "not a DNS name");
      }
      return implicit(SAN_TAGS[kind], kind === "ip" ? parseIp(value) : ia5(value));
    }),
  );
}

/** Extensions as read; `unknownCritical` lists what a verifier must refuse. */
export interface ParsedExtensions extends CertificateExtensions {
  readonly unknownCritical: readonly string[];
  /** The alternative names of every form, as encoded. */
  readonly generalNames?: readonly DerElement[];
}

/** Calls back with every extension once. Throws `x509_invalid` on repetition. */
export function eachExtension(list: DerElement, visit: (dotted: string, value: DerElement, critical: boolean) => void): void {
  const seen = new Set<string>();
  for (const item of readChildren(list, TAG.sequence)) {
    const reader = new DerReader(item, TAG.sequence);
    const dotted = readOid(reader.next());
    const flag = reader.optional(TAG.boolean);
    const critical = flag !== undefined && readBoolean(flag);
    const value = readDer(reader.next(TAG.octetString).content);
    reader.end();
    if (seen.has(dotted)) throw cryptoError("x509_invalid", `extension ${dotted} is repeated`);
    seen.add(dotted);
    visit(dotted, value, critical);
  }
}

export function decodeExtensions(list: DerElement): ParsedExtensions {
  const unknownCritical: string[] = [];
  let found: Omit<ParsedExtensions, "unknownCritical"> = {};
  eachExtension(list, (dotted, value, critical) => {
    const part = decodeExtension(dotted, value);
    if (part !== undefined) found = { ...found, ...part };
    else if (critical) unknownCritical.push(dotted);
  });
  return { ...found, unknownCritical };
}

function decodeExtension(dotted: string, value: DerElement): Omit<ParsedExtensions, "unknownCritical"> | undefined {
  switch (dotted) {
    case OID.basicConstraints: {
      const reader = new DerReader(value, TAG.sequence);
      const flag = reader.optional(TAG.boolean);
      const ca = flag !== undefined && readBoolean(flag);
      const length = reader.optional(TAG.integer);
      reader.end();
      if (!ca) return {};
      return { ca: length === undefined ? {} : { pathLength: readInteger(length) } };
    }
    case OID.keyUsage:
      return { keyUsage: readNamedBits(value).flatMap((bit) => KEY_USAGES[bit] ?? []) };
    case OID.extendedKeyUsage:
      return {
        extendedKeyUsage: readChildren(value, TAG.sequence).map((item) => PURPOSE_NAMES.get(readOid(item)) ?? readOid(item)),
      };
    case OID.subjectKeyId:
      return { subjectKeyId: Uint8Array.from(value.content) };
    case OID.authorityKeyId: {
      const id = readChildren(value, TAG.sequence).find((item) => item.tag === 0x80);
      return id === undefined ? {} : { authorityKeyId: Uint8Array.from(id.content) };
    }
    case OID.subjectAltName:
      return { subjectAltNames: decodeAltNames(value), generalNames: readChildren(value, TAG.sequence) };
    case OID.nameConstraints:
      return { nameConstraints: decodeNameConstraints(value) };
    case OID.crlDistributionPoints:
      return {
        crlUrls: readChildren(value, TAG.sequence).flatMap((point) =>
          readChildren(point, TAG.sequence)
            .filter((item) => item.tag === 0xa0)
            .flatMap((name) => readChildren(name))
            .filter((item) => item.tag === 0xa0)
            .flatMap((full) => readChildren(full))
            .filter((item) => item.tag === 0x86)
            .map((item) => fromUtf8(item.content)),
        ),
      };
    case OID.authorityInfoAccess: {
      const urls = (method: string) =>
        readChildren(value, TAG.sequence)
          .map((item) => readChildren(item, TAG.sequence))
          .flatMap(([kind, place]) =>
            kind !== undefined && place?.tag === 0x86 && readOid(kind) === method ? [fromUtf8(place.content)] : [],
          );
      return { ocspUrls: urls(OID.ocsp), issuerUrls: urls(OID.caIssuers) };
    }
    case OID.ocspNoCheck:
      return { ocspNoCheck: true };
    default:
      return undefined;
  }
}

function decodeAltNames(value: DerElement): readonly SubjectAltName[] {
  return readChildren(value, TAG.sequence).flatMap((item): SubjectAltName[] => {
    if (item.tag === 0x87) return [{ kind: "ip", value: ipText(item.content) }];
    const kind = ({ 129: "email", 130: "dns", 134: "uri" } as const)[item.tag as 0x81];
    return kind === undefined ? [] : [{ kind, value: asciiText(item) }];
  });
}

/** A zero byte in a name has fooled verifiers that stop at it. */
function asciiText(item: DerElement): string {
  const text = fromUtf8(item.content);
  if (/[^\u0020-\u007e]/.test(text)) throw cryptoError("x509_invalid", "alternative name is not printable ASCII");
  return text;
}

/** Whether two key identifiers point at each other; absent ones do not contradict. */
export function keyIdsFit(authority: Uint8Array | undefined, subject: Uint8Array | undefined): boolean {
  return authority === undefined || subject === undefined || bytesEqual(authority, subject);
}
