import { createCipheriv, createHash, createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { customerKeyBytes, type ObjectEncryption, objectError } from "@seneschal/core/storage";
import type { Random } from "@seneschal/kernel/ports";
import type { ObjectDoc } from "../schema.ts";

const blockBytes = 16;

/** What is kept of an object under a client's key: enough to tell the key, not to have it. */
export function customerEncryption(key: Uint8Array, random: Random): ObjectEncryption & { readonly kind: "customer" } {
  const salt = newSalt(random);
  return { kind: "customer", salt, check: checkOf(key, salt) };
}

/** What the key stream of a body is derived from, besides the key: new for each body. */
export function newSalt(random: Random): string {
  return Buffer.from(random(32)).toString("base64");
}

/**
 * The key for what is encrypted so, or `undefined` for what is under none. Throws `InvalidRequest` when a key is missing, is another
 * one, or is given for what has none.
 */
export function customerKeyFor(
  { encryption }: Pick<ObjectDoc, "encryption">,
  key: Uint8Array | undefined,
): Uint8Array | undefined {
  if (encryption?.kind !== "customer") {
    if (key === undefined) return undefined;
    throw objectError("InvalidRequest", "The encryption parameters are not applicable to this object.");
  }
  if (key === undefined)
    throw objectError(
      "InvalidRequest",
      "The object was stored using a form of Server Side Encryption. The correct parameters must be provided to retrieve the object.",
    );
  const [own, given] = [Buffer.from(encryption.check, "base64"), Buffer.from(checkOf(key, encryption.salt), "base64")];
  if (own.length !== given.length || !timingSafeEqual(own, given))
    throw objectError("InvalidRequest", "The provided encryption parameters did not match the ones used originally.");
  return key;
}

function checkOf(key: Uint8Array, salt: string): string {
  return createHmac("sha256", derive(key, salt, "check", 32))
    .update("seneschal/storage/customer-key/v1")
    .digest("base64");
}

function derive(key: Uint8Array, salt: string, use: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync("sha256", key, Buffer.from(salt, "base64"), `seneschal/storage/customer-key/v1/${use}`, bytes));
}

/** A body on its way under a client's key, and what it is called once it has ended. */
export interface CustomerBody {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Equal for equal bytes under one key and salt, and tells nothing of them without the key. */
  etag(): string;
}

/** Encrypts a body under a client's key; `salt` is this body's alone, `etagSalt` the object's. */
export function encryptBody(source: AsyncIterable<Uint8Array>, key: Uint8Array, salt: string, etagSalt: string): CustomerBody {
  const hash = createHash("md5");
  async function* watched(): AsyncGenerator<Uint8Array> {
    for await (const piece of source) {
      hash.update(piece);
      yield piece;
    }
  }
  let etag: string | undefined;
  return {
    bytes: customerCipher(watched(), key, salt),
    etag() {
      etag ??= createHmac("sha256", derive(key, etagSalt, "etag", 32))
        .update(hash.digest())
        .digest("hex")
        .slice(0, 32);
      return etag;
    },
  };
}

/**
 * Encrypts or decrypts the bytes of a body from `offset` on: AES-256-CTR under a key and a counter that are of this body alone. What is
 * stored is sealed once more, so that a changed byte is found there.
 */
export async function* customerCipher(
  bytes: AsyncIterable<Uint8Array>,
  key: Uint8Array,
  salt: string,
  offset = 0,
): AsyncGenerator<Uint8Array> {
  const counter = derive(key, salt, "counter", blockBytes);
  let carry = Math.floor(offset / blockBytes);
  for (let i = blockBytes - 1; i >= 0 && carry > 0; i--) {
    const sum = (counter[i] as number) + (carry % 256);
    counter[i] = sum % 256;
    carry = Math.floor(carry / 256) + Math.floor(sum / 256);
  }
  const cipher = createCipheriv("aes-256-ctr", derive(key, salt, "stream", customerKeyBytes), counter);
  cipher.update(new Uint8Array(offset % blockBytes));
  for await (const piece of bytes) yield cipher.update(piece);
}
