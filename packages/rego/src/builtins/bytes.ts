/**
 * Strings that stand for bytes. Go strings are byte strings: what `base64.decode` yields need not be UTF-8. Bytes that
 * are not are kept as the lone surrogates U+DC80..U+DCFF, so that they survive until they are encoded or hashed; on
 * output each is U+FFFD.
 */
export function bytesToText(bytes: Uint8Array): string {
  const parts: string[] = [];
  // a text that grows by single characters takes a hundred times its memory
  const units = new Uint16Array(Math.min(bytes.length, PART) + 1);
  let n = 0;
  for (let i = 0; i < bytes.length; ) {
    if (n >= PART) {
      parts.push(String.fromCharCode(...units.subarray(0, n)));
      n = 0;
    }
    const b = bytes[i] as number;
    if (b < 0x80) {
      units[n++] = b;
      i++;
      continue;
    }
    const [length, least] = b >= 0xf0 && b < 0xf5 ? [4, 0x10000] : b >= 0xe0 ? [3, 0x800] : b >= 0xc2 ? [2, 0x80] : [0, 0];
    let point = length === 4 ? b & 7 : length === 3 ? b & 15 : b & 31;
    let valid = length > 0 && b < 0xf5 && i + length <= bytes.length;
    for (let j = 1; valid && j < length; j++) {
      const c = bytes[i + j] as number;
      valid = (c & 0xc0) === 0x80;
      point = (point << 6) | (c & 63);
    }
    valid &&= point >= least && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff);
    if (!valid) {
      units[n++] = 0xdc00 + b;
      i++;
    } else if (point < 0x10000) {
      units[n++] = point;
      i += length;
    } else {
      units[n++] = 0xd7c0 + (point >> 10);
      units[n++] = 0xdc00 + (point & 0x3ff);
      i += length;
    }
  }
  parts.push(String.fromCharCode(...units.subarray(0, n)));
  return parts.join("");
}

/** Code units that one call takes as arguments. */
const PART = 4096;

/** The bytes of a string: UTF-8, and those that {@link bytesToText} kept. */
export function textToBytes(text: string): Uint8Array {
  const out: number[] = [];
  for (let i = 0; i < text.length; i++) {
    const p = text.codePointAt(i) as number;
    if (p < 0x80) out.push(p);
    else if (p < 0x800) out.push(0xc0 | (p >> 6), 0x80 | (p & 63));
    else if (p >= 0xdc80 && p <= 0xdcff) out.push(p - 0xdc00);
    else if (p >= 0xd800 && p <= 0xdfff) out.push(0xef, 0xbf, 0xbd);
    else if (p < 0x10000) out.push(0xe0 | (p >> 12), 0x80 | ((p >> 6) & 63), 0x80 | (p & 63));
    else {
      i++;
      out.push(0xf0 | (p >> 18), 0x80 | ((p >> 12) & 63), 0x80 | ((p >> 6) & 63), 0x80 | (p & 63));
    }
  }
  return Uint8Array.from(out);
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Base64 of bytes in the standard or the URL alphabet. */
export function base64(bytes: Uint8Array, url = false, padded = true): string {
  const letters = ALPHABET + (url ? "-_" : "+/");
  let out = "";
  for (let i = 0; i < bytes.length; i += 3) {
    const n = ((bytes[i] as number) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    const have = bytes.length - i;
    out += letters[n >> 18] as string;
    out += letters[(n >> 12) & 63] as string;
    if (have > 1) out += letters[(n >> 6) & 63] as string;
    else if (padded) out += "=";
    if (have > 2) out += letters[n & 63] as string;
    else if (padded) out += "=";
  }
  return out;
}

/** The bytes of padded base64, line ends ignored as in Go; undefined if it is none. */
export function fromBase64(text: string, url = false): Uint8Array | undefined {
  const clean = text.replace(/[\r\n]/g, "");
  const pattern = url ? /^[A-Za-z0-9_-]*={0,2}$/ : /^[A-Za-z0-9+/]*={0,2}$/;
  if (clean.length % 4 !== 0 || !pattern.test(clean)) return undefined;
  const letters = ALPHABET + (url ? "-_" : "+/");
  const body = clean.replace(/=+$/, "");
  if (clean.length - body.length > 2 || body.length % 4 === 1) return undefined;
  const out = new Uint8Array(Math.floor((body.length * 3) / 4));
  let bits = 0;
  let held = 0;
  let at = 0;
  for (const c of body) {
    bits = ((bits << 6) | letters.indexOf(c)) & 0xffffff;
    held += 6;
    if (held >= 8) {
      held -= 8;
      out[at++] = (bits >> held) & 255;
    }
  }
  return out;
}

/** Base64 in the URL alphabet with or without padding; undefined if it is none. */
export function fromBase64Url(text: string): Uint8Array | undefined {
  if (text.endsWith("=")) return fromBase64(text, true);
  return fromBase64(text + ["", "x", "==", "="][text.length % 4], true);
}

export function hex(bytes: Uint8Array): string {
  let out = "";
  for (const b of bytes) out += b.toString(16).padStart(2, "0");
  return out;
}
