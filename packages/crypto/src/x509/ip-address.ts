import { checkArgument } from "@seneschal/kernel";
import { cryptoError } from "../errors.ts";

/** 4 or 16 bytes of an IP address in its usual text form. Throws `x509_invalid`. */
export function parseIp(text: string): Uint8Array {
  checkArgument("text", text, "string");
  const v4 = parseV4(text);
  if (v4 !== undefined) return Uint8Array.from(v4);
  const [head = "", tail, ...more] = text.split("::");
  const groups = (part: string): number[] | undefined => {
    if (part === "") return [];
    const out: number[] = [];
    const pieces = part.split(":");
    for (const [i, piece] of pieces.entries()) {
      const dotted = i === pieces.length - 1 ? parseV4(piece) : undefined;
      if (dotted !== undefined) out.push(...dotted);
      else if (/^[0-9a-fA-F]{1,4}$/.test(piece)) out.push(Number.parseInt(piece, 16) >> 8, Number.parseInt(piece, 16) & 255);
      else return undefined;
    }
    return out;
  };
  const left = groups(head);
  const right = tail === undefined ? [] : groups(tail);
  if (left !== undefined && right !== undefined && more.length === 0) {
    const zeros = 16 - left.length - right.length;
    if (tail === undefined ? zeros === 0 : zeros >= 2)
      return Uint8Array.from([...left, ...new Array<number>(zeros).fill(0), ...right]);
  }
  throw cryptoError("x509_invalid", "not an IP address");
}

/** Text of 4 or 16 bytes; IPv6 by RFC 5952. Throws `x509_invalid`. */
export function ipText(bytes: Uint8Array): string {
  checkArgument("bytes", bytes, "bytes");
  if (bytes.length === 4) return bytes.join(".");
  if (bytes.length !== 16) throw cryptoError("x509_invalid", "not an IP address");
  const groups = Array.from({ length: 8 }, (_, i) => ((bytes[2 * i] ?? 0) * 256 + (bytes[2 * i + 1] ?? 0)).toString(16));
  let best = { start: 0, length: 1 };
  for (let start = 0; start < 8; start++) {
    let length = 0;
    while (groups[start + length] === "0") length++;
    if (length > best.length) best = { start, length };
  }
  if (best.length < 2) return groups.join(":");
  return `${groups.slice(0, best.start).join(":")}::${groups.slice(best.start + best.length).join(":")}`;
}

function parseV4(text: string): number[] | undefined {
  if (!/^(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2})$/.test(text)) return undefined;
  const parts = text.split(".").map(Number);
  return parts.every((part) => part < 256) ? parts : undefined;
}
