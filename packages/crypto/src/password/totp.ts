import { checkArgument, checkOptions } from "@seneschal/kernel";
import type { CryptoProvider } from "@seneschal/kernel/ports";
import { bytesEqual, utf8 } from "../bytes.ts";
import { cryptoError } from "../errors.ts";

/** How codes are made; both sides must agree. Defaults are what authenticator apps assume. */
export interface TotpParams {
  readonly algorithm?: "sha1" | "sha256" | "sha512";
  /** 6 to 8. */
  readonly digits?: number;
  /** Seconds of one step. */
  readonly period?: number;
}

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** The code of one step (RFC 4226 section 5.3, RFC 6238). `step` is the number of periods since the epoch. */
export function totpCode(
  provider: Pick<CryptoProvider, "hmac">,
  secret: Uint8Array,
  step: number,
  params: TotpParams = {},
): string {
  checkArgument("provider", provider, "object");
  checkArgument("secret", secret, "bytes");
  checkArgument("step", step, "number");
  const { algorithm = "sha1", digits = 6 } = params;
  if (secret.length < 16 || !Number.isSafeInteger(step) || step < 0 || !Number.isInteger(digits) || digits < 6 || digits > 8) {
    throw cryptoError("crypto_invalid", "TOTP needs a secret of 16 bytes, a step and 6 to 8 digits");
  }
  const counter = new Uint8Array(8);
  new DataView(counter.buffer).setBigUint64(0, BigInt(step));
  const mac = provider.hmac(algorithm, secret, counter);
  const offset = (mac[mac.length - 1] ?? 0) & 15;
  const binary = new DataView(mac.buffer, mac.byteOffset + offset, 4).getUint32(0) & 0x7fffffff;
  return String(binary % 10 ** digits).padStart(digits, "0");
}

/** On success the caller stores `step` as the last accepted one, in the same transaction as the login. */
export type TotpDecision =
  | { readonly valid: true; readonly step: number }
  | { readonly valid: false; readonly reason: "wrong" | "replayed" };

/**
 * Judges a code: the current step and `window` steps around it, each once. A step that is not later than `lastStep`, the
 * last accepted one, is refused as replayed. `now` is milliseconds. Compared in constant time; limiting attempts is the
 * caller's.
 *
 * @example
 * ```ts
 * import { nobleCrypto, totpCode, verifyTotp } from "@seneschal/crypto";
 * const secret = new Uint8Array(20).fill(9);
 * const code = totpCode(nobleCrypto, secret, 2);
 * console.log(verifyTotp(nobleCrypto, secret, code, { now: 75_000 })); // { valid: true, step: 2 }
 * console.log(verifyTotp(nobleCrypto, secret, code, { now: 75_000, lastStep: 2 })); // { valid: false, reason: 'replayed' }
 * ```
 */
export function verifyTotp(
  provider: Pick<CryptoProvider, "hmac">,
  secret: Uint8Array,
  code: string,
  options: TotpParams & { readonly now: number; readonly window?: number; readonly lastStep?: number },
): TotpDecision {
  checkOptions("options", options, {
    algorithm: ["sha1", "sha256", "sha512", undefined],
    digits: "number?",
    period: "number?",
    now: "number",
    window: "number?",
    lastStep: "number?",
  });
  checkArgument("provider", provider, "object");
  checkArgument("secret", secret, "bytes");
  checkArgument("code", code, "string");
  const { now, window = 1, lastStep = -1, period = 30 } = options;
  const current = Math.floor(now / 1000 / period);
  let matched = -1;
  for (let step = Math.max(0, current - window); step <= current + window; step++) {
    if (bytesEqual(utf8(totpCode(provider, secret, step, options)), utf8(code))) matched = Math.max(matched, step);
  }
  if (matched < 0) return { valid: false, reason: "wrong" };
  return matched > lastStep ? { valid: true, step: matched } : { valid: false, reason: "replayed" };
}

/** The `otpauth://` address that authenticator apps read from a QR code. */
export function totpUri(
  secret: Uint8Array,
  label: { readonly issuer: string; readonly account: string },
  params: TotpParams = {},
): string {
  checkArgument("secret", secret, "bytes");
  checkArgument("label", label, "object");
  const { algorithm = "sha1", digits = 6, period = 30 } = params;
  const path = `${encodeURIComponent(label.issuer)}:${encodeURIComponent(label.account)}`;
  const query = [
    `secret=${base32(secret)}`,
    `issuer=${encodeURIComponent(label.issuer)}`,
    `algorithm=${algorithm.toUpperCase()}`,
    `digits=${digits}`,
    `period=${period}`,
  ];
  return `otpauth://totp/${path}?${query.join("&")}`;
}

/** Base32 without padding (RFC 4648 section 6), as people type secrets into apps. */
export function base32(bytes: Uint8Array): string {
  checkArgument("bytes", bytes, "bytes");
  let out = "";
  let bits = 0;
  let word = 0;
  for (const byte of bytes) {
    word = (word << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      out += BASE32.charAt((word >> bits) & 31);
    }
    word &= (1 << bits) - 1;
  }
  return bits > 0 ? out + BASE32.charAt((word << (5 - bits)) & 31) : out;
}
