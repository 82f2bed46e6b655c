import { concatBytes } from "@noble/hashes/utils.js";
import { checkArgument, utf8Decode, utf8Encode } from "@seneschal/kernel";
import type { CryptoProvider, Random } from "@seneschal/kernel/ports";
import { base64url, fromBase64url } from "../base64.ts";
import { governanceError } from "../errors.ts";

/** How a value is kept in a marker. */
type Kept = "hash" | "token" | "sealed";

/** What redaction does with a workspace's key. Equal values of an entity give equal hashes and tokens; sealed ones differ each time. */
export interface RedactionKeys {
  keep(form: Kept, entity: string, value: string): string;
  /** The value of a token or a sealed one; `undefined` for what this key did not make. */
  open(form: "token" | "sealed", entity: string, kept: string): string | undefined;
  /** True for a hash that this key made. */
  isHash(entity: string, kept: string): boolean;
}

const NONCE = 12;
const HASH = 12;
const CHECK = 6;
const LABEL = "seneschal redaction v1: ";

/**
 * Redaction under a workspace's key of 32 bytes. Hashes are HMAC-SHA-256 (96 bits, with a check by which they are known again); tokens AES-256-GCM
 * under a nonce made of the value (as in AES-GCM-SIV, RFC 8452: only equality shows); sealed values AES-256-GCM under a random nonce. Every use has a key of its own
 * (HKDF). Throws `validation_failed` for a key of another length.
 */
export function redactionKeys(provider: CryptoProvider, key: Uint8Array, random: Random): RedactionKeys {
  checkArgument("provider", provider, "object");
  checkArgument("key", key, "bytes");
  checkArgument("random", random, "function");
  if (key.length !== 32) throw governanceError("validation_failed", "a redaction key has 32 bytes");
  const derived = (use: string) => provider.hkdf("sha256", key, new Uint8Array(), utf8Encode(LABEL + use), 32);
  const [hashKey, checkKey, nonceKey, tokenKey, sealKey] = ["hash", "check", "nonce", "token", "seal"].map(derived) as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
    Uint8Array,
    Uint8Array,
  ];
  const named = (entity: string, rest: Uint8Array) => concatBytes(utf8Encode(`${entity}\n`), rest);
  const check = (entity: string, hash: Uint8Array) => provider.hmac("sha256", checkKey, named(entity, hash)).slice(0, CHECK);
  return {
    keep(form, entity, value) {
      const bytes = utf8Encode(value);
      if (form === "hash") {
        const hash = provider.hmac("sha256", hashKey, named(entity, bytes)).slice(0, HASH);
        return base64url(concatBytes(hash, check(entity, hash)));
      }
      const nonce = form === "token" ? provider.hmac("sha256", nonceKey, named(entity, bytes)).slice(0, NONCE) : random(NONCE);
      const sealed = provider.seal(form === "token" ? tokenKey : sealKey, nonce, bytes, utf8Encode(entity));
      return base64url(concatBytes(nonce, sealed));
    },
    open(form, entity, kept) {
      const bytes = fromBase64url(kept);
      if (bytes === undefined || bytes.length < NONCE + 16) return undefined;
      try {
        const key = form === "token" ? tokenKey : sealKey;
        return utf8Decode(provider.open(key, bytes.subarray(0, NONCE), bytes.subarray(NONCE), utf8Encode(entity)));
      } catch {
        return undefined;
      }
    },
    isHash(entity, kept) {
      const bytes = fromBase64url(kept);
      if (bytes?.length !== HASH + CHECK) return false;
      const wanted = check(entity, bytes.subarray(0, HASH));
      return wanted.every((byte, i) => byte === bytes[HASH + i]);
    },
  };
}
