import { createHash } from "node:crypto";
import { maxKeyBytes, objectError } from "@seneschal/core/storage";

/** The document id of an object: a hash, since keys may be longer than ids. */
export function objectId(bucket: string, key: string): string {
  return createHash("sha256").update(`${bucket}/${key}`).digest("base64url");
}

/** Keys are opaque: 1 to {@link maxKeyBytes} of UTF-8, without U+0000 and lone surrogates, which no store keeps. */
export function checkKey(key: string): void {
  if (key.length === 0) throw objectError("InvalidArgument", "the key is empty");
  if (Buffer.byteLength(key) > maxKeyBytes) throw objectError("KeyTooLongError", `a key has at most ${maxKeyBytes} bytes`);
  if (key.includes("\0") || /\p{Surrogate}/u.test(key))
    throw objectError("InvalidArgument", "the key holds a character that is not allowed");
}
