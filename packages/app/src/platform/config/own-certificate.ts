import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { checkArgument } from "@seneschal/kernel";

/** The certificates of a text, PEM each, by the labels that OpenSSL reads. */
export function certificatesIn(text: string): readonly string[] {
  checkArgument("text", text, "string");
  return text.match(/-----BEGIN (X509 |TRUSTED )?CERTIFICATE-----[^-]+-----END (X509 |TRUSTED )?CERTIFICATE-----/g) ?? [];
}

/**
 * What is wrong with a key beside the certificates of a port, all in PEM; `undefined` when nothing is. The key is that of the first certificate, those behind it
 * lead to its authority (RFC 8446, section 4.4.2). OpenSSL compares a key with a certificate of its own kind alone: one of another kind it takes, and no
 * handshake succeeds. When certificates end says nothing of their keys.
 */
export function keyProblem(certificates: string, key: string): string | undefined {
  checkArgument("certificates", certificates, "string");
  checkArgument("key", key, "string");
  let own: readonly X509Certificate[];
  try {
    own = certificatesIn(certificates).map((pem) => new X509Certificate(pem));
  } catch {
    return "stands beside a certificate that cannot be read";
  }
  let secret: KeyObject;
  try {
    secret = createPrivateKey(key);
  } catch {
    return "is no private key that can be read";
  }
  const [first, ...above] = own;
  if (first?.checkPrivateKey(secret) !== true)
    return above.some((certificate) => certificate.checkPrivateKey(secret))
      ? "is not the key of the first certificate, but of one behind it: the server's own stands first, its authorities follow"
      : "is not the key of the certificate";
  try {
    createSecureContext({ cert: certificates, key });
    return undefined;
  } catch (error) {
    return `and its certificate are refused by TLS: ${(error as NodeJS.ErrnoException).code ?? "unknown"}`;
  }
}
