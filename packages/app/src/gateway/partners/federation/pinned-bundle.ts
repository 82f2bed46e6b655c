import { invalidField } from "@seneschal/core/keys";
import { type Certificate, isSignedBy, type Name } from "@seneschal/crypto/x509";
import type { CryptoProvider } from "@seneschal/kernel/ports";
import { bundlePem, certificatesOf } from "./pem.ts";

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
