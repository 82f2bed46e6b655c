import { ipText, parseIp, type SubjectAltName } from "@seneschal/crypto/x509";
import { isCoded } from "@seneschal/kernel";

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
export function commonNameAsAltName(text: string): SubjectAltName | undefined {
  return hostName(text) ?? (MAIL.test(text) ? { kind: "email", value: text } : undefined);
}
