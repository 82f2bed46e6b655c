import type { StoredFederation } from "./collections.ts";
import { pemBase64 } from "./pem.ts";

/** A federation as callers see it: the certificate that we signed for the partner, ready to be handed over. */
export function federationView(federation: StoredFederation) {
  const { certificate } = federation;
  return { ...federation, certificate: certificate === null ? null : pemBase64(certificate) };
}
