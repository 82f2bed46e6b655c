import { timestamp } from "@seneschal/core/keys";
import type { StoredFederation } from "../collections.ts";
import { certificatesOf, pemBase64 } from "./pem.ts";

/** A federation as callers see it: the certificate that we signed for the partner, ready to be handed over. */
export function federationView(federation: StoredFederation) {
  const { certificate, outbound_certificate, outbound_expires_at } = federation;
  const ends = outbound_certificate === null ? null : (outbound_expires_at ?? endOf(outbound_certificate));
  return { ...federation, outbound_expires_at: ends, certificate: certificate === null ? null : pemBase64(certificate) };
}

/** When the first certificate of a bundle ends. */
function endOf(pem: string): string {
  return timestamp(certificatesOf("certificate", pem)[0].notAfter);
}
