import { checkArgument } from "./argument.ts";
import { CodedError } from "./errors.ts";

interface Codec {
  readonly TextEncoder: new () => { encode(text: string): Uint8Array<ArrayBuffer> };
  readonly TextDecoder: new (
    label: "utf-8",
    options: object,
  ) => { decode(bytes?: Uint8Array, options?: { readonly stream: boolean }): string };
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

/**
 * Decodes the pieces of a file as UTF-8, the last one without `goesOn`; a byte order mark stays. What it gives throws `file_invalid`, saying what `name` is called, for bytes that are no UTF-8, and for U+0000, which no text holds and
 * other encodings do: read as UTF-8 nothing would be found in them.
 *
 * @example
 * ```ts
 * import { textDecoder, utf8Encode } from "@seneschal/kernel";
 * const bytes = utf8Encode("Zürich");
 * const decode = textDecoder("towns.csv");
 * console.log(decode(bytes.subarray(0, 2), true) + decode(bytes.subarray(2))); // Zürich
 * ```
 */
export function textDecoder(name: string): (bytes?: Uint8Array, goesOn?: boolean) => string {
  checkArgument("name", name, "string");
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  return (bytes, goesOn = false) => {
    if (bytes !== undefined) checkArgument("bytes", bytes, "bytes");
    checkArgument("goesOn", goesOn, "boolean");
    let text: string;
    try {
      text = decoder.decode(bytes, { stream: goesOn });
    } catch (error) {
      throw new CodedError("file_invalid", `${name} is not text in UTF-8`, {}, error);
    }
    if (text.includes("\0")) throw new CodedError("file_invalid", `${name} is not text in UTF-8: it holds U+0000`);
    return text;
  };
}
