import { X509Certificate } from "node:crypto";
import { parseCertificate } from "@seneschal/crypto/x509";
import { CodedError, checkArgument } from "@seneschal/kernel";

/** The client certificate and the TLS layer's verdict on it. */
export interface PresentedCertificate {
  readonly der: Uint8Array;
  readonly authorized: boolean;
  readonly error?: string;
}

/** Who a certificate speaks for. */
export interface CertificateIdentity {
  readonly commonName: string;
  readonly organization: string;
  readonly units: readonly string[];
  /** Lower-case hex with colons, as in `0a:1b`. */
  readonly serial: string;
  /** SHA-256 over the DER, lower-case hex. */
  readonly fingerprint: string;
  /** The whole certificate: revocation is asked for it and for the CAs above it. */
  readonly der: Uint8Array;
  /** Milliseconds since the epoch. */
  readonly notAfter: number;
  /** The service's name, for a common name `{service}.internal.local`. */
  readonly service?: string;
}

export type CertificateErrorCode = "certificate_required" | "certificate_expired" | "certificate_untrusted";

const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";

/** OpenSSL's reasons as ours; anything else is an unknown CA. */
const REASONS: Readonly<Record<string, string>> = {
  CERT_NOT_YET_VALID: "not yet valid",
  INVALID_PURPOSE: "wrong extended key usage",
  CERT_REVOKED: "revoked",
};

interface Parsed {
  readonly identity: CertificateIdentity;
  readonly notBefore: number;
  readonly clientAuth: boolean;
}

const parsed = new WeakMap<Uint8Array, Parsed>();

/**
 * The identity that a presented certificate gives, or a refusal with the interface document's text: `certificate required`,
 * `certificate expired`, `untrusted certificate` (with a `reason`). The TLS layer's verdict is of the handshake, and may come from a
 * resumed session: times are checked again on every request. Revocation is the caller's to check.
 */
export function verifyPeer(peer: PresentedCertificate | undefined, now: number): CertificateIdentity {
  checkArgument("now", now, "number");
  if (peer === undefined) throw new CodedError<CertificateErrorCode>("certificate_required", "certificate required");
  if (peer.error === "CERT_HAS_EXPIRED") throw expired();
  if (!peer.authorized) throw untrusted(REASONS[peer.error ?? ""] ?? "unknown issuer");
  const { identity, notBefore, clientAuth } = parse(peer.der);
  if (now > identity.notAfter) throw expired();
  if (now < notBefore) throw untrusted("not yet valid");
  if (!clientAuth) throw untrusted("wrong extended key usage");
  if (identity.organization === "") throw untrusted("no organisation");
  if (identity.commonName === "") throw untrusted("no common name");
  return identity;
}

/** The refusal of a certificate, with its stable reason. */
export function untrusted(reason: string): CodedError<CertificateErrorCode> {
  return new CodedError("certificate_untrusted", "untrusted certificate", { reason });
}

function expired(): CodedError<CertificateErrorCode> {
  return new CodedError("certificate_expired", "certificate expired");
}

function parse(der: Uint8Array): Parsed {
  const known = parsed.get(der);
  if (known !== undefined) return known;
  let result: Parsed;
  try {
    result = read(der);
  } catch {
    throw untrusted("malformed");
  }
  parsed.set(der, result);
  return result;
}

function read(der: Uint8Array): Parsed {
  const certificate = new X509Certificate(der);
  const { subject } = certificate.toLegacyObject();
  const names = subject as unknown as Readonly<Record<string, string | readonly string[] | undefined>>;
  const commonName = only(names["CN"]);
  const service = /^([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)\.internal\.local$/.exec(commonName)?.[1];
  return {
    identity: {
      commonName,
      organization: only(names["O"]),
      units: [names["OU"] ?? []].flat(),
      serial: colons(certificate.serialNumber),
      fingerprint: certificate.fingerprint256.replaceAll(":", "").toLowerCase(),
      der: parseCertificate(der).der,
      notAfter: Date.parse(certificate.validTo),
      ...(service === undefined ? {} : { service }),
    },
    notBefore: Date.parse(certificate.validFrom),
    // Node calls the extended key usages `keyUsage`.
    clientAuth: (certificate.keyUsage as readonly string[] | undefined)?.includes(CLIENT_AUTH) === true,
  };
}

/** One value or none: a subject with two organisations speaks for neither. */
function only(value: string | readonly string[] | undefined): string {
  return typeof value === "string" ? value : "";
}

function colons(serial: string): string {
  const even = serial.length % 2 === 0 ? serial : `0${serial}`;
  return (even.match(/../g) ?? []).join(":").toLowerCase();
}
