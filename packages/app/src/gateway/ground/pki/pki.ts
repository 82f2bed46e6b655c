import { createPublicKey } from "node:crypto";
import { refusal, timestamp } from "@seneschal/core/keys";
import {
  certificatePem,
  encodePem,
  encodePrivateKey,
  fingerprint,
  type Issuer,
  ipText,
  issueCertificate,
  newPrivateKey,
  newSerial,
  type PublicKey,
  parseIp,
  parseRequest,
  publicKeyOf,
  type SubjectAltName,
  verifyRequest,
} from "@seneschal/crypto/x509";
import { isCoded } from "@seneschal/kernel";
import type { GatewayUnit } from "../call.ts";
import { type AuthorityNeeds, instanceAuthority, organizationAuthority, presentedChain } from "./authority.ts";
import { type CertificateRecord, certificates, instanceAuthorities } from "./collections.ts";
import { type CrossSigning, crossSigning } from "./cross-signing.ts";

const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const DNS = new RegExp(`^(?:\\*\\.)?(?:${LABEL}\\.)*${LABEL}$`, "i");
const MAIL = new RegExp(`^[!#$%&'*+/=?^_\`{|}~.a-z0-9-]+@(?:${LABEL}\\.)*${LABEL}$`, "i");

/** A host as a certificate names it; `undefined` for what is neither a DNS name nor an address. Addresses get their one spelling. */
export function hostName(text: string): SubjectAltName | undefined {
  const address = addressOf(text);
  if (address !== undefined) return { kind: "ip", value: ipText(address) };
  return text.length <= 253 && DNS.test(text) ? { kind: "dns", value: text } : undefined;
}

function addressOf(text: string): Uint8Array | undefined {
  try {
    return parseIp(text);
  } catch (error) {
    if (isCoded(error, "x509_invalid")) return undefined;
    throw error;
  }
}

/**
 * The common name among the alternative names, which are what verifiers look at (RFC 9525): a host or a mail address. Another
 * text, such as a title with spaces, has no form there.
 */
function commonNameAsAltName(text: string): SubjectAltName | undefined {
  return hostName(text) ?? (MAIL.test(text) ? { kind: "email", value: text } : undefined);
}

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
  /** Beside the common name, which is always among them when it is a name that a certificate can hold. */
  readonly altNames?: readonly SubjectAltName[];
}

/** What a server certificate is for. The names were judged by whoever asks. */
type ServerBearer = Omit<Bearer, "subjectOrganization" | "altNames"> & { readonly altNames: readonly SubjectAltName[] };

/**
 * The certificate authorities of the gateway. An organisation's CA signs its clients, the server CA signs servers, and neither
 * signs the other's kind. Every certificate issued is recorded in the transaction of its cause.
 */
export interface Pki {
  /** For callers: which keys a request may be for. */
  readonly keyAlgorithms: readonly string[];
  /** PEM of the trust anchors: of `servers`, for those who connect, and of `clients`, for those who listen. */
  trustAnchor(unit: GatewayUnit, of: "servers" | "clients"): Promise<string>;
  /** PEM, what a server presents behind its certificate: the server CA, or its certificate of another CA and those up to that one's root. */
  serverChain(unit: GatewayUnit): Promise<readonly string[]>;
  /** One of the instance's own authorities below another CA. */
  readonly crossSigning: CrossSigning;
  /** An authority with its key, for revocation lists and status answers: an organisation's, or one of the instance's own by its id. */
  issuer(unit: GatewayUnit, authority: string): Promise<Issuer>;
  /** PEM, the organisation's CA first, then the root for clients, or its certificate of another CA and those up to that one's root. */
  chain(unit: GatewayUnit, org: string): Promise<readonly string[]>;
  /** Certifies the key of a PKCS#10 request (PEM, or base64 of PEM); nothing else of the request counts. Throws `CSR_INVALID`. */
  issueFromRequest(unit: GatewayUnit, bearer: Bearer & { readonly request: string }): Promise<CertificateRecord>;
  /** Certifies a key that was checked elsewhere. */
  issueForKey(unit: GatewayUnit, bearer: Bearer, publicKey: PublicKey): Promise<CertificateRecord>;
  /** Makes a P-256 key as well; it is in the answer and nowhere else. PKCS#8 PEM. */
  issueWithKey(unit: GatewayUnit, bearer: Bearer): Promise<CertificateRecord & { readonly private_key: string }>;
  /** Certifies a server's key, from the server CA. */
  issueServerForKey(unit: GatewayUnit, bearer: ServerBearer, publicKey: PublicKey): Promise<CertificateRecord>;
  /** The same with a key that is made for it. */
  issueServer(unit: GatewayUnit, bearer: ServerBearer): Promise<CertificateRecord & { readonly private_key: string }>;
}

/** Clocks of relying parties may be a little behind. */
const SKEW = 60_000;

/** A PKI whose keys the vault seals. */
export function pki(needs: AuthorityNeeds): Pki {
  const { crypto, random, addresses } = needs;

  const issuerOf: Pki["issuer"] = (unit, authority) => {
    if (authority === instanceAuthorities.clients) return instanceAuthority(needs, unit, "clients");
    if (authority === instanceAuthorities.servers) return instanceAuthority(needs, unit, "servers");
    return organizationAuthority(needs, unit, authority);
  };

  const chain: Pki["chain"] = async (unit, org) => {
    const { certificate } = await organizationAuthority(needs, unit, org);
    return [certificate, ...(await presentedChain(needs, unit, "clients"))].map(certificatePem);
  };

  const certify = async (
    unit: GatewayUnit,
    bearer: Bearer,
    publicKey: PublicKey,
    purpose: "clientAuth" | "serverAuth",
  ): Promise<CertificateRecord> => {
    const { now } = unit.call;
    const authority = purpose === "serverAuth" ? instanceAuthorities.servers : bearer.org;
    const issuer = await issuerOf(unit, authority);
    const own = commonNameAsAltName(bearer.commonName);
    const behind = await presentedChain(needs, unit, purpose === "serverAuth" ? "servers" : "clients");
    const others = (bearer.altNames ?? []).filter(({ kind, value }) => kind !== own?.kind || value !== own.value);
    const certificate = await issueCertificate(crypto, issuer, {
      serial: newSerial(random),
      subject: [
        { type: "O", value: bearer.subjectOrganization ?? bearer.org },
        { type: "CN", value: bearer.commonName },
      ],
      publicKey,
      notBefore: now - SKEW,
      notAfter: Math.min(now + bearer.ttl, issuer.certificate.notAfter, ...behind.map(({ notAfter }) => notAfter)),
      extensions: {
        keyUsage: ["digitalSignature"],
        extendedKeyUsage: [purpose],
        subjectAltNames: [...(own === undefined ? [] : [own]), ...others],
        ...addresses(authority),
      },
    });
    const above = purpose === "serverAuth" ? behind : [issuer.certificate, ...behind];
    const record: CertificateRecord = {
      serial_number: certificate.serialText,
      org_id: bearer.org,
      ...(authority === bearer.org ? {} : { authority }),
      subject_type: bearer.subject.type,
      subject_id: bearer.subject.id,
      common_name: bearer.commonName,
      status: "active",
      fingerprint: Buffer.from(fingerprint(crypto, certificate)).toString("hex"),
      certificate: certificatePem(certificate),
      issuing_ca: certificatePem(issuer.certificate),
      ca_chain: above.map(certificatePem),
      not_before: timestamp(certificate.notBefore),
      expiration: timestamp(certificate.notAfter),
      revoked_at: null,
      created_at: timestamp(now),
      updated_at: timestamp(now),
    };
    unit.insert(certificates, record.serial_number, record);
    return record;
  };

  const withKey = async (unit: GatewayUnit, bearer: Bearer, purpose: "clientAuth" | "serverAuth") => {
    const key = newPrivateKey(crypto, "p256", random);
    const record = await certify(unit, bearer, publicKeyOf(crypto, key), purpose);
    return { ...record, private_key: encodePem("PRIVATE KEY", encodePrivateKey(crypto, key)) };
  };

  const issueForKey: Pki["issueForKey"] = (unit, bearer, publicKey) => certify(unit, bearer, publicKey, "clientAuth");

  return {
    issuer: issuerOf,
    keyAlgorithms: ["ed25519", "p256", "p384", "rsa"],
    chain,
    serverChain: async (unit) => (await presentedChain(needs, unit, "servers")).map(certificatePem),
    crossSigning: crossSigning(needs),
    issueForKey,
    async trustAnchor(unit, of) {
      return certificatePem((await issuerOf(unit, instanceAuthorities[of])).certificate);
    },
    async issueFromRequest(unit, { request, ...bearer }) {
      return issueForKey(unit, bearer, provenKey(needs, request));
    },
    issueWithKey: (unit, bearer) => withKey(unit, bearer, "clientAuth"),
    issueServerForKey: (unit, bearer, publicKey) => certify(unit, bearer, publicKey, "serverAuth"),
    issueServer: (unit, bearer) => withKey(unit, bearer, "serverAuth"),
  };
}

/** Says of a small RSA key that it is small: its signature is not looked at. */
function requireStrong({ kind, spki }: PublicKey): void {
  if (kind !== "rsa") return;
  const key = createPublicKey({ key: Buffer.from(spki), format: "der", type: "spki" });
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  if (bits < 2048) throw refusal("CSR_INVALID", `an RSA key has at least 2048 bits, this one ${bits}`, { field: "csr" });
}

/** The key of a request that its holder signed. Throws `CSR_INVALID`. */
function provenKey({ crypto }: AuthorityNeeds, text: string): PublicKey {
  const pem = text.includes("-----BEGIN") ? text : Buffer.from(text, "base64").toString("utf8");
  try {
    const request = parseRequest(pem);
    requireStrong(request.publicKey);
    if (verifyRequest(crypto, request)) return request.publicKey;
  } catch (error) {
    if (!isCoded(error) || error.code === "CSR_INVALID") throw error;
    throw refusal("CSR_INVALID", "the certificate signing request cannot be read", { field: "csr" });
  }
  throw refusal("CSR_INVALID", "the certificate signing request is not signed by its own key", { field: "csr" });
}
