import { checkArgument } from "@seneschal/kernel";
import type { CryptoProvider } from "@seneschal/kernel/ports";
import { bytesEqual } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import {
  DerReader,
  explicit,
  integer,
  readDer,
  readInteger,
  readTime,
  readUnsigned,
  sequence,
  TAG,
  time,
  unsignedInteger,
} from "./der.ts";
import { type CertificateExtensions, decodeExtensions, encodeExtensions, type ParsedExtensions } from "./extensions.ts";
import { decodeName, encodeName, type Name } from "./name.ts";
import { decodePem, derOf, encodePem, parsing } from "./pem.ts";
import { algorithmIdentifier, keyIdentifier, type PublicKey, parsePublicKey, readSigned, verifySignature } from "./public-key.ts";
import { serialText } from "./serial.ts";
import { signDer, type X509Signer } from "./signer.ts";

/** A parsed certificate. Times are milliseconds since the epoch. */
export interface Certificate {
  readonly der: Uint8Array;
  readonly serial: Uint8Array;
  /** Colon-separated lower-case hex. */
  readonly serialText: string;
  readonly subject: Name;
  readonly issuer: Name;
  /** Encoded names, for exact comparison. */
  readonly subjectDer: Uint8Array;
  readonly issuerDer: Uint8Array;
  readonly notBefore: number;
  readonly notAfter: number;
  readonly publicKey: PublicKey;
  readonly extensions: ParsedExtensions;
  readonly tbs: Uint8Array;
  readonly signatureAlgorithm: Uint8Array;
  readonly signature: Uint8Array;
}

/** What goes into a new certificate. The server decides all of it; a request only contributes the key. */
export interface CertificateSpec {
  readonly serial: Uint8Array;
  readonly subject: Name;
  readonly publicKey: PublicKey;
  /** Milliseconds; cut to seconds. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly extensions: Omit<CertificateExtensions, "subjectKeyId" | "authorityKeyId">;
}

/** A CA that can issue: its certificate and its key. */
export interface Issuer {
  readonly certificate: Certificate;
  readonly signer: X509Signer;
}

/**
 * A self-signed root CA with critical basic constraints and key usage. Throws `x509_invalid`.
 *
 * @example
 * ```ts
 * import { systemRandom } from "@seneschal/adapters/system";
 * import { nobleCrypto } from "@seneschal/crypto";
 * import { createRoot, localSigner, newPrivateKey, newSerial } from "@seneschal/crypto/x509";
 * const signer = localSigner(nobleCrypto, newPrivateKey(nobleCrypto, "ed25519", systemRandom));
 * const root = await createRoot(nobleCrypto, signer, {
 *   serial: newSerial(systemRandom), subject: [{ type: "CN", value: "Acme Root" }],
 *   notBefore: Date.UTC(2026, 0, 1), notAfter: Date.UTC(2036, 0, 1),
 * });
 * console.log(root.extensions.ca, root.subject[0]?.value); // {} Acme Root
 * ```
 */
export function createRoot(
  provider: CryptoProvider,
  signer: X509Signer,
  spec: Pick<CertificateSpec, "serial" | "subject" | "notBefore" | "notAfter"> & { readonly pathLength?: number },
): Promise<Certificate> {
  checkArgument("provider", provider, "object");
  checkArgument("signer", signer, "object");
  checkArgument("spec", spec, "object");
  const { pathLength } = spec;
  return build(provider, signer, spec.subject, undefined, {
    ...spec,
    publicKey: signer.publicKey,
    extensions: { ca: pathLength === undefined ? {} : { pathLength }, keyUsage: ["keyCertSign", "cRLSign"] },
  });
}

/**
 * Issues a certificate under a CA. Refused (`x509_invalid`): an issuer that is no CA, a lifetime outside the issuer's, a
 * CA below an issuer whose path length forbids it, purposes that the issuer's own do not hold, a serial that is not positive or longer than 20 bytes.
 */
export async function issueCertificate(provider: CryptoProvider, issuer: Issuer, spec: CertificateSpec): Promise<Certificate> {
  checkArgument("provider", provider, "object");
  checkArgument("issuer", issuer, "object");
  checkArgument("spec", spec, "object");
  const parent = issuer.certificate;
  if (!bytesEqual(parent.publicKey.spki, issuer.signer.publicKey.spki)) throw refuse("the signer's key is not the issuer's");
  if (parent.extensions.ca === undefined || parent.extensions.keyUsage?.includes("keyCertSign") === false) {
    throw refuse("the issuer is no certificate authority");
  }
  if (wholeSecond(spec.notBefore) < parent.notBefore || wholeSecond(spec.notAfter) > parent.notAfter)
    throw refuse("lifetime outside the issuer's");
  const purposes = parent.extensions.extendedKeyUsage;
  const wanted = spec.extensions.extendedKeyUsage ?? [];
  if (purposes !== undefined && (wanted.length === 0 || !wanted.every((purpose) => purposes.includes(purpose)))) {
    throw refuse("purposes beyond the issuer's");
  }
  const limit = parent.extensions.ca.pathLength;
  if (spec.extensions.ca !== undefined && limit !== undefined) {
    const own = spec.extensions.ca.pathLength;
    if (limit === 0 || own === undefined || own >= limit) throw refuse("path length beyond the issuer's");
  }
  return build(provider, issuer.signer, parent.subject, parent, spec);
}

async function build(
  provider: CryptoProvider,
  signer: X509Signer,
  issuerName: Name,
  parent: Certificate | undefined,
  spec: CertificateSpec,
): Promise<Certificate> {
  const first = spec.serial[0];
  if (first === undefined || first === 0 || first >= 0x80 || spec.serial.length > 20) {
    throw refuse("serial must be positive, minimal and at most 20 bytes");
  }
  if (!(wholeSecond(spec.notBefore) < wholeSecond(spec.notAfter))) throw refuse("lifetime is empty");
  if (spec.extensions.ca !== undefined && spec.extensions.keyUsage?.includes("keyCertSign") !== true) {
    throw refuse("a certificate authority needs the usage keyCertSign");
  }
  if (spec.extensions.ca === undefined && spec.extensions.nameConstraints !== undefined) {
    throw refuse("only a certificate authority has name constraints");
  }
  const subjectKeyId = keyIdentifier(provider, spec.publicKey);
  const authorityKeyId = parent === undefined ? subjectKeyId : parent.extensions.subjectKeyId;
  const extensions = encodeExtensions(
    { ...spec.extensions, subjectKeyId, ...(authorityKeyId === undefined ? {} : { authorityKeyId }) },
    spec.subject.length === 0,
  );
  const tbs = sequence(
    explicit(0, integer(2)),
    unsignedInteger(spec.serial),
    algorithmIdentifier(signer.publicKey.kind),
    parent?.subjectDer ?? encodeName(issuerName),
    sequence(time(spec.notBefore), time(spec.notAfter)),
    encodeName(spec.subject),
    spec.publicKey.spki,
    explicit(3, sequence(...extensions)),
  );
  return parseCertificate(await signDer(signer, tbs));
}

/** Reads a certificate, DER or PEM. Throws `x509_invalid`; the signature is not judged here. */
export function parseCertificate(input: Uint8Array | string): Certificate {
  if (typeof input !== "string") checkArgument("input", input, "bytes");
  const bytes = Uint8Array.from(derOf("CERTIFICATE", input));
  return parsing("certificate", () => {
    const { body, algorithm, signature } = readSigned(bytes);
    const reader = new DerReader(body);
    const version = reader.optional(0xa0);
    if (version !== undefined && readInteger(readDer(version.content)) !== 2) throw refuse("only version 3 is supported");
    const serial = Uint8Array.from(readUnsigned(reader.next()));
    if (!bytesEqual(reader.next(TAG.sequence).encoded, algorithm)) throw refuse("the two signature algorithms differ");
    const issuer = reader.next(TAG.sequence);
    const validity = new DerReader(reader.next(TAG.sequence));
    const [notBefore, notAfter] = [readTime(validity.next()), readTime(validity.next())];
    validity.end();
    const subject = reader.next(TAG.sequence);
    const publicKey = parsePublicKey(reader.next(TAG.sequence).encoded);
    reader.optional(0x81);
    reader.optional(0x82);
    const list = reader.optional(0xa3);
    reader.end();
    const extensions = list === undefined ? { unknownCritical: [] } : decodeExtensions(readDer(list.content));
    if (version === undefined && list !== undefined) throw refuse("extensions without version 3");
    return {
      der: bytes,
      serial,
      serialText: serialText(serial),
      subject: decodeName(subject),
      issuer: decodeName(issuer),
      subjectDer: subject.encoded,
      issuerDer: issuer.encoded,
      notBefore,
      notAfter,
      publicKey,
      extensions,
      tbs: body.encoded,
      signatureAlgorithm: algorithm,
      signature,
    };
  });
}

/** All certificates of a PEM text, in order. Throws `x509_invalid`. */
export function parseCertificates(pem: string): Certificate[] {
  checkArgument("pem", pem, "string");
  return decodePem("CERTIFICATE", pem).map(parseCertificate);
}

export function certificatePem(certificate: Certificate): string {
  checkArgument("certificate", certificate, "object");
  return encodePem("CERTIFICATE", certificate.der);
}

/** Whether the certificate's signature is by this key. */
export function isSignedBy(provider: CryptoProvider, certificate: Certificate, key: PublicKey): boolean {
  checkArgument("provider", provider, "object");
  checkArgument("certificate", certificate, "object");
  checkArgument("key", key, "object");
  return verifySignature(provider, key, certificate.signatureAlgorithm, certificate.tbs, certificate.signature);
}

/** SHA-256 of the whole certificate. */
export function fingerprint(provider: Pick<CryptoProvider, "hash">, certificate: Pick<Certificate, "der">): Uint8Array {
  checkArgument("provider", provider, "object");
  checkArgument("certificate", certificate, "object");
  return provider.hash("sha256", certificate.der);
}

/** Certificates hold whole seconds. */
function wholeSecond(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

function refuse(reason: string) {
  return cryptoError("x509_invalid", reason, { reason });
}
