import { checkArgument } from "@seneschal/kernel";
import type { CryptoProvider } from "@seneschal/kernel/ports";
import { bytesEqual } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import { DerReader, der, integer, oid, readChildren, readInteger, readOid, sequence, setOf, TAG } from "./der.ts";
import { type CertificateExtensions, decodeExtensions, encodeExtensions, type SubjectAltName } from "./extensions.ts";
import { decodeName, encodeName, type Name } from "./name.ts";
import { OID } from "./oids.ts";
import { derOf, encodePem, parsing } from "./pem.ts";
import { type PublicKey, parsePublicKey, readSigned, verifySignature } from "./public-key.ts";
import { signDer, type X509Signer } from "./signer.ts";

/** A parsed PKCS#10 request (RFC 2986). Everything in it but the key is a wish. */
export interface CertificateRequest {
  readonly der: Uint8Array;
  readonly subject: Name;
  readonly publicKey: PublicKey;
  readonly subjectAltNames: readonly SubjectAltName[];
  readonly body: Uint8Array;
  readonly signatureAlgorithm: Uint8Array;
  readonly signature: Uint8Array;
}

/** Makes a request for the signer's key, with the extensions that are wished for (RFC 2985, 5.4.2). Throws `x509_invalid`. */
export async function createRequest(
  signer: X509Signer,
  wish: { readonly subject: Name } & Omit<CertificateExtensions, "authorityKeyId">,
): Promise<CertificateRequest> {
  checkArgument("signer", signer, "object");
  checkArgument("wish", wish, "object");
  const { subject, ...wished } = wish;
  const extensions = encodeExtensions(wished, subject.length === 0);
  const attributes = extensions.length === 0 ? [] : [sequence(oid(OID.extensionRequest), setOf(sequence(...extensions)))];
  const body = sequence(integer(0), encodeName(subject), signer.publicKey.spki, der(0xa0, ...attributes));
  return parseRequest(await signDer(signer, body));
}

/** Reads a request, DER or PEM. Throws `x509_invalid`; check {@link verifyRequest} before use. */
export function parseRequest(input: Uint8Array | string): CertificateRequest {
  if (typeof input !== "string") checkArgument("input", input, "bytes");
  const bytes = Uint8Array.from(derOf("CERTIFICATE REQUEST", input));
  return parsing("certificate request", () => {
    const { body, algorithm, signature } = readSigned(bytes);
    const reader = new DerReader(body);
    if (readInteger(reader.next()) !== 0) throw cryptoError("x509_invalid", "unknown version");
    const subject = decodeName(reader.next(TAG.sequence));
    const publicKey = parsePublicKey(reader.next(TAG.sequence).encoded);
    const attributes = reader.optional(0xa0);
    reader.end();
    let subjectAltNames: readonly SubjectAltName[] = [];
    for (const attribute of attributes === undefined ? [] : readChildren(attributes)) {
      const parts = new DerReader(attribute, TAG.sequence);
      if (readOid(parts.next()) !== OID.extensionRequest) continue;
      const [list, ...more] = readChildren(parts.next(TAG.set));
      if (list === undefined || more.length > 0) throw cryptoError("x509_invalid", "one extension list expected");
      subjectAltNames = decodeExtensions(list).subjectAltNames ?? [];
    }
    return { der: bytes, subject, publicKey, subjectAltNames, body: body.encoded, signatureAlgorithm: algorithm, signature };
  });
}

export function requestPem(request: CertificateRequest): string {
  checkArgument("request", request, "object");
  return encodePem("CERTIFICATE REQUEST", request.der);
}

/** Proof of possession: whether the request is signed by the key that it names. */
export function verifyRequest(provider: CryptoProvider, request: CertificateRequest): boolean {
  checkArgument("provider", provider, "object");
  checkArgument("request", request, "object");
  return verifySignature(provider, request.publicKey, request.signatureAlgorithm, request.body, request.signature);
}

/** Whether two public keys are the same. */
export function samePublicKey(a: PublicKey, b: PublicKey): boolean {
  checkArgument("a", a, "object");
  checkArgument("b", b, "object");
  return bytesEqual(a.spki, b.spki);
}
