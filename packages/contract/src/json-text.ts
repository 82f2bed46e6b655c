import { utf8Decode } from "@seneschal/kernel";

/** The text of JSON's bytes; a byte order mark before it is passed over (RFC 8259 section 8.1). Throws `TypeError` for bytes that are not UTF-8. */
export function jsonText(bytes: Uint8Array): string {
  const text = utf8Decode(bytes);
  return text.startsWith("\ufeff") ? text.slice(1) : text;
}
