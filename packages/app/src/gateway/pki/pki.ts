import { isCoded } from "@seneschal/core";
import { refusal, timestamp } from "@seneschal/core/keys";
import {
  certificatePem,
  encodePem,
  encodePrivateKey,
  fingerprint,
  type Issuer,
  issueCertificate,
  newPrivateKey,
  newSerial,
  type PublicKey,
  parseRequest,
  publicKeyOf,
  type SubjectAltName,
  verifyRequest,
} from "@seneschal/crypto/x509";
import type { GatewayUnit } from "../call.ts";
import { type CertificateRecord, certificates } from "../certificates/collections.ts";
import { type AuthorityNeeds, organizationAuthority, rootAuthority } from "./authority.ts";

/** Whom a certificate is for. */
interface Bearer {
  /** Whose CA issues it, and whose record it becomes. */
  readonly org: string;
  /** The organisation in the subject, when it is another one: a federated partner. */
  readonly subjectOrganization?: string;
  readonly commonName: string;
  readonly subject: { readonly type: CertificateRecord["subject_type"]; readonly id: string };
  /** Milliseconds. */
  readonly ttl: number;
  readonly altNames?: readonly SubjectAltName[];
  /** Default: client authentication only. */
  readonly purposes?: readonly string[];
}

/** The organisation CAs of the gateway. Every certificate issued is recorded in the transaction of its cause. */
export interface Pki {
  /** For callers: which keys a request may be for. */
  readonly keyAlgorithms: readonly string[];
  /** PEM of the root: the trust anchor of servers and clients. */
  trustAnchor(unit: GatewayUnit): Promise<string>;
  /** The organisation's CA with its key, for revocation lists and status answers. */
  issuer(unit: GatewayUnit, org: string): Promise<Issuer>;
  /** PEM, the organisation's CA first, then the root. */
  chain(unit: GatewayUnit, org: string): Promise<readonly string[]>;
  /** Certifies the key of a PKCS#10 request (PEM, or base64 of PEM); nothing else of the request counts. Throws `CSR_INVALID`. */
  issueFromRequest(unit: GatewayUnit, bearer: Bearer & { readonly request: string }): Promise<CertificateRecord>;
  /** Certifies a key that was checked elsewhere. */
  issueForKey(unit: GatewayUnit, bearer: Bearer, publicKey: PublicKey): Promise<CertificateRecord>;
  /** Makes a P-256 key as well; it is in the answer and nowhere else. PKCS#8 PEM. */
  issueWithKey(unit: GatewayUnit, bearer: Bearer): Promise<CertificateRecord & { readonly private_key: string }>;
}

/** Clocks of relying parties may be a little behind. */
const SKEW = 60_000;

/** A PKI whose keys the vault seals. */
export function pki(needs: AuthorityNeeds): Pki {
  const { crypto, random } = needs;

  const chain: Pki["chain"] = async (unit, org) => {
    const authority = await organizationAuthority(needs, unit, org);
    const root = await rootAuthority(needs, unit);
    return [certificatePem(authority.certificate), certificatePem(root.certificate)];
  };

  const issueForKey: Pki["issueForKey"] = async (unit, bearer, publicKey) => {
    const { now } = unit.call;
    const issuer = await organizationAuthority(needs, unit, bearer.org);
    const certificate = await issueCertificate(crypto, issuer, {
      serial: newSerial(random),
      subject: [
        { type: "O", value: bearer.subjectOrganization ?? bearer.org },
        { type: "CN", value: bearer.commonName },
      ],
      publicKey,
      notBefore: now - SKEW,
      notAfter: Math.min(now + bearer.ttl, issuer.certificate.notAfter),
      extensions: {
        keyUsage: ["digitalSignature"],
        extendedKeyUsage: [...(bearer.purposes ?? ["clientAuth"])],
        ...(bearer.altNames === undefined ? {} : { subjectAltNames: bearer.altNames }),
      },
    });
    const record: CertificateRecord = {
      serial_number: certificate.serialText,
      org_id: bearer.org,
      subject_type: bearer.subject.type,
      subject_id: bearer.subject.id,
      common_name: bearer.commonName,
      status: "active",
      fingerprint: Buffer.from(fingerprint(crypto, certificate)).toString("hex"),
      certificate: certificatePem(certificate),
      issuing_ca: certificatePem(issuer.certificate),
      ca_chain: await chain(unit, bearer.org),
      not_before: timestamp(certificate.notBefore),
      expiration: timestamp(certificate.notAfter),
      revoked_at: null,
      created_at: timestamp(now),
      updated_at: timestamp(now),
    };
    unit.insert(certificates, record.serial_number, record);
    return record;
  };

  return {
    issuer: (unit, org) => organizationAuthority(needs, unit, org),
    keyAlgorithms: ["ed25519", "p256", "p384", "rsa"],
    chain,
    issueForKey,
    async trustAnchor(unit) {
      return certificatePem((await rootAuthority(needs, unit)).certificate);
    },
    async issueFromRequest(unit, { request, ...bearer }) {
      return issueForKey(unit, bearer, provenKey(needs, request));
    },
    async issueWithKey(unit, bearer) {
      const key = newPrivateKey(crypto, "p256", random);
      const record = await issueForKey(unit, bearer, publicKeyOf(crypto, key));
      return { ...record, private_key: encodePem("PRIVATE KEY", encodePrivateKey(crypto, key)) };
    },
  };
}

/** The key of a request that its holder signed. Throws `CSR_INVALID`. */
function provenKey({ crypto }: AuthorityNeeds, text: string): PublicKey {
  const pem = text.includes("-----BEGIN") ? text : Buffer.from(text, "base64").toString("utf8");
  try {
    const request = parseRequest(pem);
    if (verifyRequest(crypto, request)) return request.publicKey;
  } catch (error) {
    if (!isCoded(error)) throw error;
    throw refusal("CSR_INVALID", "the certificate signing request cannot be read", { field: "csr" });
  }
  throw refusal("CSR_INVALID", "the certificate signing request is not signed by its own key", { field: "csr" });
}
