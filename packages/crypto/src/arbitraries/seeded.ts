import { sha256 } from "@noble/hashes/sha2.js";
import type { Random } from "@seneschal/kernel/ports";
import { utf8 } from "../bytes.ts";

/** Bytes that one label always gives: SHA-256 in counter mode over it. For tests, never for keys. */
export function seeded(label: string): Random {
  let counter = 0;
  return (length) => {
    const out = new Uint8Array(length);
    for (let at = 0; at < length; at += 32) out.set(sha256(utf8(`${label}/${counter++}`)).subarray(0, length - at), at);
    return out;
  };
}
