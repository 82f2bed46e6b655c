import { invalidField } from "@seneschal/core/keys";
import { type Certificate, certificatePem, parseCertificates } from "@seneschal/crypto/x509";
import { isCoded } from "@seneschal/kernel";

/** PEM text from base64 of it; PEM itself is taken too. */
export function pemText(input: string): string {
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
