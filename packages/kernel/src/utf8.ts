import { checkArgument } from "./argument.ts";

interface Codec {
  readonly TextEncoder: new () => { encode(text: string): Uint8Array<ArrayBuffer> };
  readonly TextDecoder: new (label: "utf-8", options: object) => { decode(bytes: Uint8Array): string };
}

// Every host has the codec; the pure packages' types have no host.
const { TextEncoder, TextDecoder } = globalThis as unknown as Codec;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The UTF-8 of a text. Lone surrogates become U+FFFD: refuse them first where it matters. */
export function utf8Encode(text: string): Uint8Array<ArrayBuffer> {
  checkArgument("text", text, "string");
  return encoder.encode(text);
}

/** The text whose UTF-8 these bytes are, with its byte order mark if it has one. Throws `TypeError` for bytes that are not UTF-8. */
export function utf8Decode(bytes: Uint8Array): string {
  checkArgument("bytes", bytes, "bytes");
  return decoder.decode(bytes);
}
