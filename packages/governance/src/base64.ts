const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const STANDARD = `${LETTERS}+/`;
const URL_SAFE = `${LETTERS}-_`;

/** Bytes as base64url without padding (RFC 4648, section 5). */
export function base64url(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += 3) {
    const [a = 0, b = 0, c = 0] = bytes.subarray(i, i + 3);
    const n = (a << 16) | (b << 8) | c;
    const digits = [n >> 18, (n >> 12) & 63, (n >> 6) & 63, n & 63].slice(0, Math.min(3, bytes.length - i) + 1);
    for (const digit of digits) text += URL_SAFE[digit];
  }
  return text;
}

/** The bytes of base64url; `undefined` for what {@link base64url} does not write, unused bits included. */
export function fromBase64url(text: string): Uint8Array | undefined {
  const bytes = decoded(text, URL_SAFE);
  return bytes !== undefined && base64url(bytes) === text ? bytes : undefined;
}

/** The bytes of base64 (RFC 4648, section 4), with or without padding, whatever its unused bits; `undefined` for other letters. */
export function fromBase64(text: string): Uint8Array | undefined {
  return decoded(text.replace(/={1,2}$/, ""), STANDARD);
}

function decoded(text: string, alphabet: string): Uint8Array | undefined {
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  let bits = 0;
  let held = 0;
  let at = 0;
  for (const c of text) {
    const digit = alphabet.indexOf(c);
    if (digit < 0) return undefined;
    held = ((held << 6) | digit) & 0xffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = (held >> bits) & 0xff;
    }
  }
  return bytes;
}
