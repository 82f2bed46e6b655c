import { createHash } from "node:crypto";

/**
 * Text as part of an id or an index key, which together have at most 1 KiB: what takes more bytes of UTF-8 than `longest` is replaced by its digest.
 * Equal iff equal.
 */
export function keyText(text: string, longest = 200): string {
  return Buffer.byteLength(text) <= longest ? text : `sha256:${createHash("sha256").update(text).digest("hex")}`;
}
