import { checkArgument } from "@seneschal/kernel";
import type { CryptoProvider } from "@seneschal/kernel/ports";
import { bytesEqual } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import type { Certificate } from "./certificate.ts";
import {
  DerReader,
  der,
  explicit,
  generalizedTime,
  implicit,
  octetString,
  oid,
  readChildren,
  readDer,
  readOid,
  readUnsigned,
  sequence,
  TAG,
} from "./der.ts";
import { eachExtension, extension } from "./extensions.ts";
import { OID } from "./oids.ts";
import { parsing } from "./pem.ts";
import { type RevocationReason, reasonCode } from "./revocation-list.ts";
import { signDer, type X509Signer } from "./signer.ts";

/** Which certificate is asked about: hashes of the issuer's name and key, and the serial (RFC 6960 4.1.1). */
export interface OcspCertificateId {
  readonly hash: "sha1" | "sha256";
  readonly issuerNameHash: Uint8Array;
  readonly issuerKeyHash: Uint8Array;
  readonly serial: Uint8Array;
  /** As received; it goes into the answer unchanged. */
  readonly der: Uint8Array;
}

export interface OcspRequest {
  readonly ids: readonly OcspCertificateId[];
  /** Value of the nonce extension, echoed in the answer. */
  readonly nonce?: Uint8Array;
}

export type OcspStatus =
  | { readonly kind: "good" }
  | { readonly kind: "unknown" }
  | { readonly kind: "revoked"; readonly revokedAt: number; readonly reason?: RevocationReason };

/** Answers that need no signature (RFC 6960 4.2.1). */
const ERRORS = { malformed_request: 1, internal_error: 2, try_later: 3, unauthorized: 6 } as const;

/** Most certificates that one request may ask about. */
const MAX_IDS = 100;

/** Reads a request. Throws `x509_invalid`: answer `ocspError("malformed_request")`. Signatures on requests are ignored. */
export function parseOcspRequest(bytes: Uint8Array): OcspRequest {
  checkArgument("bytes", bytes, "bytes");
  return parsing("OCSP request", () => {
    const outer = new DerReader(readDer(bytes), TAG.sequence);
    const body = new DerReader(outer.next(TAG.sequence));
    outer.optional(0xa0);
    outer.end();
    body.optional(0xa0);
    body.optional(0xa1);
    const list = readChildren(body.next(TAG.sequence));
    const extensions = body.optional(0xa2);
    body.end();
    if (list.length === 0 || list.length > MAX_IDS) throw cryptoError("x509_invalid", "between 1 and 100 certificates expected");
    const ids = list.map((item) => {
      const reader = new DerReader(item, TAG.sequence);
      const id = reader.next(TAG.sequence);
      return readId(id.encoded, new DerReader(id));
    });
    let nonce: Uint8Array | undefined;
    if (extensions !== undefined) {
      eachExtension(readDer(extensions.content), (dotted, value, critical) => {
        if (dotted === OID.ocspNonce) nonce = Uint8Array.from(value.content);
        else if (critical) throw cryptoError("x509_invalid", `critical extension ${dotted} is not understood`);
      });
    }
    if (nonce !== undefined && (nonce.length < 1 || nonce.length > 128))
      throw cryptoError("x509_invalid", "nonce of impossible length");
    return { ids, ...(nonce === undefined ? {} : { nonce }) };
  });
}

function readId(encoded: Uint8Array, reader: DerReader): OcspCertificateId {
  const algorithm = readOid(new DerReader(reader.next(TAG.sequence)).next());
  const hash = algorithm === OID.sha1 ? "sha1" : algorithm === OID.sha256 ? "sha256" : undefined;
  if (hash === undefined) throw cryptoError("x509_invalid", "hash algorithm is not supported");
  const issuerNameHash = reader.next(TAG.octetString).content;
  const issuerKeyHash = reader.next(TAG.octetString).content;
  const serial = Uint8Array.from(readUnsigned(reader.next()));
  reader.end();
  return { hash, issuerNameHash, issuerKeyHash, serial, der: Uint8Array.from(encoded) };
}

/** Whether an id asks about a certificate of this CA. */
export function isIssuedBy(provider: Pick<CryptoProvider, "hash">, id: OcspCertificateId, ca: Certificate): boolean {
  checkArgument("provider", provider, "object");
  checkArgument("id", id, "object");
  checkArgument("ca", ca, "object");
  return (
    bytesEqual(id.issuerNameHash, provider.hash(id.hash, ca.subjectDer)) &&
    bytesEqual(id.issuerKeyHash, provider.hash(id.hash, ca.publicKey.bits))
  );
}

/**
 * A signed answer, DER. The responder is the CA itself, or a certificate issued by it for `ocspSigning`, which then goes
 * along. Times are milliseconds.
 */
export async function createOcspResponse(
  provider: Pick<CryptoProvider, "hash">,
  responder: { readonly signer: X509Signer; readonly certificate?: Certificate },
  answer: {
    readonly statuses: readonly { readonly id: OcspCertificateId; readonly status: OcspStatus }[];
    readonly producedAt: number;
    readonly thisUpdate: number;
    readonly nextUpdate: number;
    readonly nonce?: Uint8Array;
  },
): Promise<Uint8Array> {
  checkArgument("provider", provider, "object");
  checkArgument("responder", responder, "object");
  checkArgument("answer", answer, "object");
  const keyHash = provider.hash("sha1", responder.signer.publicKey.bits);
  const responses = answer.statuses.map(({ id, status }) =>
    sequence(id.der, encodeStatus(status), generalizedTime(answer.thisUpdate), explicit(0, generalizedTime(answer.nextUpdate))),
  );
  const nonce =
    answer.nonce === undefined ? [] : [explicit(1, sequence(extension(OID.ocspNonce, false, octetString(answer.nonce))))];
  const body = sequence(explicit(2, octetString(keyHash)), generalizedTime(answer.producedAt), sequence(...responses), ...nonce);
  const signed = readDer(await signDer(responder.signer, body));
  const certificates = responder.certificate === undefined ? [] : [explicit(0, sequence(responder.certificate.der))];
  const basic = der(TAG.sequence, signed.content, ...certificates);
  return sequence(der(TAG.enumerated, Uint8Array.of(0)), explicit(0, sequence(oid(OID.ocspBasic), octetString(basic))));
}

/** An unsigned error answer. */
export function ocspError(error: keyof typeof ERRORS): Uint8Array {
  return sequence(der(TAG.enumerated, Uint8Array.of(ERRORS[error])));
}

function encodeStatus(status: OcspStatus): Uint8Array {
  switch (status.kind) {
    case "good":
      return implicit(0, new Uint8Array());
    case "unknown":
      return implicit(2, new Uint8Array());
    case "revoked": {
      const reason =
        status.reason === undefined || status.reason === "unspecified"
          ? []
          : [explicit(0, der(TAG.enumerated, Uint8Array.of(reasonCode(status.reason))))];
      return der(0xa1, generalizedTime(status.revokedAt), ...reason);
    }
  }
}
