import { checkArgument } from "@seneschal/kernel";
import type { CryptoProvider } from "@seneschal/kernel/ports";
import { bytesEqual } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import type { Certificate, Issuer } from "./certificate.ts";
import {
  DerReader,
  der,
  explicit,
  implicit,
  integer,
  readChildren,
  readDer,
  readInteger,
  readTime,
  readUnsigned,
  sequence,
  TAG,
  time,
  unsignedInteger,
} from "./der.ts";
import { eachExtension, extension, keyIdsFit } from "./extensions.ts";
import { decodeName, type Name } from "./name.ts";
import { OID } from "./oids.ts";
import { derOf, encodePem, parsing } from "./pem.ts";
import { algorithmIdentifier, readSigned, verifySignature } from "./public-key.ts";
import { serialText } from "./serial.ts";
import { signDer } from "./signer.ts";

const REASONS = {
  unspecified: 0,
  key_compromise: 1,
  ca_compromise: 2,
  affiliation_changed: 3,
  superseded: 4,
  cessation_of_operation: 5,
  certificate_hold: 6,
  remove_from_crl: 8,
  privilege_withdrawn: 9,
  aa_compromise: 10,
} as const;
export type RevocationReason = keyof typeof REASONS;
const REASON_NAMES = new Map<number, RevocationReason>(
  (Object.entries(REASONS) as [RevocationReason, number][]).map(([n, c]) => [c, n]),
);

/** One revoked certificate. `revokedAt` is milliseconds. */
export interface Revocation {
  readonly serial: Uint8Array;
  readonly revokedAt: number;
  readonly reason?: RevocationReason;
}

/** A parsed list. `entries` is by serial text. */
export interface RevocationList {
  readonly der: Uint8Array;
  readonly issuer: Name;
  readonly issuerDer: Uint8Array;
  readonly number: number;
  /** The number of the full list that this delta builds on. */
  readonly deltaBase?: number;
  readonly thisUpdate: number;
  readonly nextUpdate?: number;
  readonly entries: ReadonlyMap<string, Revocation>;
  readonly authorityKeyId?: Uint8Array;
  readonly body: Uint8Array;
  readonly signatureAlgorithm: Uint8Array;
  readonly signature: Uint8Array;
}

export interface RevocationListSpec {
  readonly entries: Iterable<Revocation> | AsyncIterable<Revocation>;
  /** Grows with every list of the issuer. */
  readonly number: number;
  readonly thisUpdate: number;
  readonly nextUpdate: number;
  /** Makes a delta list on top of the full list with this number. */
  readonly deltaBase?: number;
  /**
   * Called after every 1,000 entries. Give the host's next turn of the event loop here, so that a big list does not hold
   * up requests; the default goes straight on.
   */
  readonly pause?: () => Promise<void>;
}

const SLICE = 1000;

/**
 * Builds and signs a CRL v2 with number, authority key identifier and reasons; DER. Throws `x509_invalid` for an issuer
 * that may not sign lists.
 */
export async function createRevocationList(issuer: Issuer, spec: RevocationListSpec): Promise<Uint8Array> {
  checkArgument("issuer", issuer, "object");
  checkArgument("spec", spec, "object");
  const { certificate, signer } = issuer;
  if (
    certificate.extensions.keyUsage?.includes("cRLSign") === false ||
    !bytesEqual(certificate.publicKey.spki, signer.publicKey.spki)
  ) {
    throw cryptoError("x509_invalid", "the issuer may not sign revocation lists");
  }
  const slices: Uint8Array[] = [];
  let slice: Uint8Array[] = [];
  for await (const entry of spec.entries) {
    slice.push(encodeEntry(entry));
    if (slice.length < SLICE) continue;
    slices.push(join(slice));
    slice = [];
    await spec.pause?.();
  }
  slices.push(join(slice));
  const { subjectKeyId } = certificate.extensions;
  const extensions = [
    ...(subjectKeyId === undefined ? [] : [extension(OID.authorityKeyId, false, sequence(implicit(0, subjectKeyId)))]),
    extension(OID.crlNumber, false, integer(spec.number)),
    ...(spec.deltaBase === undefined ? [] : [extension(OID.deltaCrl, true, integer(spec.deltaBase))]),
  ];
  const revoked = slices.some((s) => s.length > 0) ? [der(TAG.sequence, ...slices)] : [];
  const body = sequence(
    integer(1),
    algorithmIdentifier(signer.publicKey.kind),
    certificate.subjectDer,
    time(spec.thisUpdate),
    time(spec.nextUpdate),
    ...revoked,
    explicit(0, sequence(...extensions)),
  );
  return signDer(signer, body);
}

export function revocationListPem(list: Uint8Array): string {
  checkArgument("list", list, "bytes");
  return encodePem("X509 CRL", list);
}

/** Reads a list, DER or PEM. Throws `x509_invalid`; check {@link verifyRevocationList} before use. */
export function parseRevocationList(input: Uint8Array | string): RevocationList {
  if (typeof input !== "string") checkArgument("input", input, "bytes");
  const bytes = Uint8Array.from(derOf("X509 CRL", input));
  return parsing("revocation list", () => {
    const { body, algorithm, signature } = readSigned(bytes);
    const reader = new DerReader(body);
    if (readInteger(reader.next()) !== 1) throw cryptoError("x509_invalid", "only version 2 is supported");
    if (!bytesEqual(reader.next(TAG.sequence).encoded, algorithm))
      throw cryptoError("x509_invalid", "the two signature algorithms differ");
    const issuer = reader.next(TAG.sequence);
    const thisUpdate = readTime(reader.next());
    const next = reader.optional(TAG.utcTime) ?? reader.optional(TAG.generalizedTime);
    const revoked = reader.optional(TAG.sequence);
    const list = reader.optional(0xa0);
    reader.end();
    let number: number | undefined;
    let deltaBase: number | undefined;
    let authorityKeyId: Uint8Array | undefined;
    if (list !== undefined) {
      eachExtension(readDer(list.content), (dotted, value, critical) => {
        if (dotted === OID.crlNumber) number = readInteger(value);
        else if (dotted === OID.deltaCrl) deltaBase = readInteger(value);
        else if (dotted === OID.authorityKeyId) authorityKeyId = readChildren(value).find((item) => item.tag === 0x80)?.content;
        else if (critical) throw cryptoError("x509_invalid", `critical extension ${dotted} is not understood`);
      });
    }
    if (number === undefined) throw cryptoError("x509_invalid", "list without a number");
    const entries = new Map<string, Revocation>();
    for (const item of revoked === undefined ? [] : readChildren(revoked)) {
      const entry = decodeEntry(new DerReader(item, TAG.sequence));
      entries.set(serialText(entry.serial), entry);
    }
    return {
      der: bytes,
      issuer: decodeName(issuer),
      issuerDer: issuer.encoded,
      number,
      ...(deltaBase === undefined ? {} : { deltaBase }),
      thisUpdate,
      ...(next === undefined ? {} : { nextUpdate: readTime(next) }),
      entries,
      ...(authorityKeyId === undefined ? {} : { authorityKeyId }),
      body: body.encoded,
      signatureAlgorithm: algorithm,
      signature,
    };
  });
}

/** Whether the list is by this CA: its name, its key, its right to sign lists. Freshness is the caller's question. */
export function verifyRevocationList(provider: CryptoProvider, list: RevocationList, issuer: Certificate): boolean {
  checkArgument("provider", provider, "object");
  checkArgument("list", list, "object");
  checkArgument("issuer", issuer, "object");
  return (
    bytesEqual(list.issuerDer, issuer.subjectDer) &&
    keyIdsFit(list.authorityKeyId, issuer.extensions.subjectKeyId) &&
    issuer.extensions.keyUsage?.includes("cRLSign") !== false &&
    verifySignature(provider, issuer.publicKey, list.signatureAlgorithm, list.body, list.signature)
  );
}

function encodeEntry({ serial, revokedAt, reason }: Revocation): Uint8Array {
  const extensions =
    reason === undefined || reason === "unspecified"
      ? []
      : [sequence(extension(OID.crlReason, false, der(TAG.enumerated, Uint8Array.of(REASONS[reason]))))];
  return sequence(unsignedInteger(serial), time(revokedAt), ...extensions);
}

function decodeEntry(reader: DerReader): Revocation {
  const serial = Uint8Array.from(readUnsigned(reader.next()));
  const revokedAt = readTime(reader.next());
  const list = reader.optional(TAG.sequence);
  reader.end();
  let reason: RevocationReason | undefined;
  if (list !== undefined) {
    eachExtension(list, (dotted, value, critical) => {
      if (dotted === OID.crlReason) reason = REASON_NAMES.get(value.content[0] ?? -1);
      else if (critical) throw cryptoError("x509_invalid", `critical entry extension ${dotted} is not understood`);
    });
  }
  return { serial, revokedAt, ...(reason === undefined ? {} : { reason }) };
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** CRLReason code (RFC 5280 5.3.1), shared with OCSP. */
export function reasonCode(reason: RevocationReason): number {
  return REASONS[reason];
}
