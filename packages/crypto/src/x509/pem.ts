import { checkArgument } from "@seneschal/kernel";
import { base64, fromBase64 } from "../bytes.ts";
import { cryptoError } from "../errors.ts";

export type PemLabel = "CERTIFICATE" | "CERTIFICATE REQUEST" | "X509 CRL" | "PUBLIC KEY" | "PRIVATE KEY";

/** PEM text (RFC 7468), lines of 64, always ending with a line break: joined blocks stay a chain. */
export function encodePem(label: PemLabel, der: Uint8Array): string {
  checkArgument("label", label, "string");
  checkArgument("der", der, "bytes");
  const lines = base64(der).match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}

/** The DER of every block with this label, in order; text around blocks is ignored. Throws `x509_invalid` without any. */
export function decodePem(label: PemLabel, text: string): Uint8Array[] {
  checkArgument("label", label, "string");
  checkArgument("text", text, "string");
  const blocks: Uint8Array[] = [];
  const begin = `-----BEGIN ${label}-----`;
  const end = `-----END ${label}-----`;
  for (let at = text.indexOf(begin); at >= 0; at = text.indexOf(begin, at)) {
    const stop = text.indexOf(end, at);
    if (stop < 0) throw cryptoError("x509_invalid", `PEM block ${label} has no end`);
    try {
      blocks.push(fromBase64(text.slice(at + begin.length, stop).replace(/\s+/g, "")));
    } catch (cause) {
      throw cryptoError("x509_invalid", `PEM block ${label} is not base64`, {}, cause);
    }
    at = stop + end.length;
  }
  if (blocks.length === 0) throw cryptoError("x509_invalid", `no PEM block ${label}`);
  return blocks;
}

/** DER as it is, or the single block of PEM text. */
export function derOf(label: PemLabel, input: Uint8Array | string): Uint8Array {
  if (typeof input !== "string") return input;
  const [first, ...more] = decodePem(label, input);
  if (first === undefined || more.length > 0) throw cryptoError("x509_invalid", `exactly one PEM block ${label} expected`);
  return first;
}

/** Runs a parser; DER errors become `x509_invalid` with the thing's name. */
export function parsing<T>(what: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : "unreadable";
    throw cryptoError("x509_invalid", `${what}: ${reason}`, { reason }, cause);
  }
}
