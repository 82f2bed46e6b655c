import { fromBase64 } from "@seneschal/crypto";
import { checkArgument, isCoded } from "@seneschal/kernel";

const ED25519_BYTES = 32;

/** Whether a text is the public half of a root key: the bytes of an Ed25519 key in base64. */
export function isAnchor(text: string): boolean {
  checkArgument("text", text, "string");
  try {
    return fromBase64(text).length === ED25519_BYTES;
  } catch (error) {
    if (isCoded(error)) return false;
    throw error;
  }
}
