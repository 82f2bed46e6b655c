import { hmac } from "@noble/hashes/hmac.js";
import { md5, sha1 } from "@noble/hashes/legacy.js";
import { sha256, sha512 } from "@noble/hashes/sha2.js";
import { charge } from "../value/meter.ts";
import { type Builtin, define } from "./builtin.ts";
import { hex, textToBytes } from "./bytes.ts";

function hash(name: string, digest: (bytes: Uint8Array) => Uint8Array): Builtin {
  return define(name, "string -> string", ([s]) => {
    charge((s as string).length >> 2);
    return hex(digest(textToBytes(s as string)));
  });
}

function mac(name: string, algorithm: typeof sha256 | typeof sha512 | typeof md5 | typeof sha1): Builtin {
  return define(name, "string, string -> string", ([message, key]) => {
    charge(((message as string).length + (key as string).length) >> 2);
    return hex(hmac(algorithm, textToBytes(key as string), textToBytes(message as string)));
  });
}

/** Hashes and message authentication codes, in hexadecimal. */
export const hashBuiltins: readonly Builtin[] = [
  hash("crypto.md5", md5),
  hash("crypto.sha1", sha1),
  hash("crypto.sha256", sha256),
  mac("crypto.hmac.md5", md5),
  mac("crypto.hmac.sha1", sha1),
  mac("crypto.hmac.sha256", sha256),
  mac("crypto.hmac.sha512", sha512),
  define("crypto.hmac.equal", "string, string -> boolean", ([a, b]) => {
    const x = textToBytes(a as string);
    const y = textToBytes(b as string);
    let difference = x.length ^ y.length;
    for (let i = 0; i < Math.min(x.length, y.length); i++) difference |= (x[i] as number) ^ (y[i] as number);
    return difference === 0;
  }),
];
