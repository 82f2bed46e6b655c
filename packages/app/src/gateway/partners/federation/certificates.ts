import { gatewayContract } from "@seneschal/contract/gateway";
import {
  type Federation,
  invalidField,
  refusal,
  requireRenewable,
  type SignedForPartner,
  stepFederation,
} from "@seneschal/core/keys";
import {
  type Certificate,
  certificatePem,
  isSignedBy,
  type Name,
  type PublicKey,
  parseCertificates,
  parseRequest,
  verifyRequest,
} from "@seneschal/crypto/x509";
import { isCoded } from "@seneschal/kernel";
import type { CryptoProvider } from "@seneschal/kernel/ports";
import type { Call, GatewayUnit } from "../../ground/index.ts";
import { revokeCertificate } from "../../people/index.ts";
import { federations } from "../collections.ts";
import type { PartnerServices } from "../services.ts";
import { federationName } from "./identity.ts";

/** PEM text from base64 of it; PEM itself is taken too. */
function pemText(input: string): string {
  return input.includes("-----BEGIN") ? input : Buffer.from(input, "base64").toString("utf8");
}

/** The base64 of PEM text, as the interface shows certificates of federations. */
export function pemBase64(pem: string): string {
  return Buffer.from(pem, "utf8").toString("base64");
}

/** One certificate or more, in order. Throws `VALIDATION_ERROR` naming the field. */
export function certificatesOf(field: string, input: string): readonly [Certificate, ...Certificate[]] {
  try {
    const [first, ...rest] = parseCertificates(pemText(input));
    if (first !== undefined) return [first, ...rest];
  } catch (error) {
    if (!isCoded(error)) throw error;
  }
  throw invalidField(field, "expected certificates in PEM");
}

export function bundlePem(certificates: readonly Certificate[]): string {
  return certificates.map(certificatePem).join("");
}

/** What an organisation pins of a partner. */
export interface PinnedBundle {
  /** The partner's own CA: what it signs for us must be issued by it, not merely under the same root. */
  readonly issuer: Certificate;
  /** PEM of everything that came: the trust anchors of the partner's server. */
  readonly pem: string;
}

const MAX_CERTIFICATES = 10;

/** The one organisation that a name names; a name with two names none. */
export function organizationOf(name: Name): string | undefined {
  const [first, ...others] = name.filter(({ type }) => type === "O");
  return others.length === 0 ? first?.value : undefined;
}

/**
 * Reads `partner_cert`: the partner's certificate, which names its organisation, and the CAs above it. A CA of the
 * organisation may also come first. Throws `VALIDATION_ERROR`.
 */
export function pinnedBundle(crypto: CryptoProvider, input: string, partner: string, now: number): PinnedBundle {
  const field = "partner_cert";
  const all = certificatesOf(field, input);
  const [leaf] = all;
  if (all.length > MAX_CERTIFICATES) throw invalidField(field, `expected at most ${MAX_CERTIFICATES} certificates`);
  if (organizationOf(leaf.subject) !== partner)
    throw invalidField(field, "the certificate does not name the partner's organisation");
  const dated = all.find(({ notBefore, notAfter }) => now < notBefore || now > notAfter);
  if (dated !== undefined)
    throw invalidField(field, now > dated.notAfter ? "a certificate is expired" : "a certificate is not yet valid");
  const issuer = issuerOf(crypto, all);
  if (issuer === undefined) throw invalidField(field, "expected the certificate of the issuing CA behind it");
  return { issuer, pem: bundlePem(all) };
}

/** The CA in a bundle that issued its first certificate; a CA that comes first stands for itself. */
function issuerOf(crypto: CryptoProvider, [leaf, ...rest]: readonly [Certificate, ...Certificate[]]): Certificate | undefined {
  if (leaf.extensions.ca !== undefined) return leaf;
  return [...rest, leaf].find(({ publicKey }) => isSignedBy(crypto, leaf, publicKey));
}

/** The CA of a partner from the bundle that was pinned; the certificate below it may have expired meanwhile. */
export function pinnedIssuer(crypto: CryptoProvider, pem: string): Certificate | undefined {
  return issuerOf(crypto, certificatesOf("partner_cert", pem));
}

/** The key of a partner's request, which its holder signed and which names the partner. Throws `CSR_INVALID`. */
export function partnerKey(crypto: CryptoProvider, csr: string, partner: string): PublicKey {
  const invalid = (reason: string) =>
    refusal("CSR_INVALID", `the certificate signing request ${reason}`, { field: "partner_csr" });
  try {
    const request = parseRequest(pemText(csr));
    if (!verifyRequest(crypto, request)) throw invalid("is not signed by its own key");
    if (organizationOf(request.subject) !== partner) throw invalid("does not name the partner's organisation");
    return request.publicKey;
  } catch (error) {
    if (!isCoded(error) || error.code === "CSR_INVALID") throw error;
    throw invalid("cannot be read");
  }
}

/** Certifies a partner's key under the organisation's own CA: subject, use and lifetime are ours to say. */
export async function signForPartner(
  { pki, config }: PartnerServices,
  unit: GatewayUnit,
  federation: { readonly id: string; readonly org_id: string; readonly partner_org_id: string },
  key: PublicKey,
): Promise<SignedForPartner> {
  const record = await pki.issueForKey(
    unit,
    {
      org: federation.org_id,
      subjectOrganization: federation.partner_org_id,
      commonName: federationName(federation.partner_org_id),
      subject: { type: "partner", id: federation.id },
      ttl: config.federation.certificate_ttl,
    },
    key,
  );
  return {
    certificate: record.certificate + record.issuing_ca,
    serial_number: record.serial_number,
    expires_at: record.expiration,
  };
}

/** A new certificate for the partner's key. The old one stays good until the partner has the new one. */
export async function renewForPartner(
  services: PartnerServices,
  unit: GatewayUnit,
  federation: Federation,
): Promise<{ readonly renewed: Federation; readonly replaced: readonly string[] }> {
  const { now } = unit.call;
  const { publicKey } = certificatesOf("certificate", requireRenewable(federation))[0];
  const signed = await signForPartner(services, unit, federation, publicKey);
  const { state: renewed, effects } = stepFederation(federation, { kind: "renew", signed }, now);
  unit.put(federations, renewed.id, renewed);
  const replaced = effects.flatMap((effect) => (effect.kind === "revoke_certificate" ? [effect.serial] : []));
  return { renewed, replaced };
}

/**
 * Brings a new certificate to the partner over the channel and, once it was taken, revokes the ones that it replaces. False
 * when the partner did not take it: the old one stays good, and the new one can be carried by hand.
 */
export async function bringRenewal(
  services: PartnerServices,
  call: Call,
  renewed: Federation,
  replaced: readonly string[],
): Promise<boolean> {
  if (!renewed.outbound_ready || renewed.certificate === null) return false;
  try {
    await services.channels.demand(services.read, renewed, {
      route: gatewayContract.peerCertificate,
      body: { certificate: pemBase64(renewed.certificate) },
    });
  } catch (error) {
    if (!isCoded(error, "FEDERATION_FAILED")) throw error;
    services.log.warn({ federation: renewed.id, reason: error.message }, "the partner did not take its new certificate");
    return false;
  }
  await services.transact(call, async (unit) => {
    for (const serial of replaced) await revokeCertificate(unit, serial);
  });
  return true;
}
