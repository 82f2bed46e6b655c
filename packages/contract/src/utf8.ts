interface Codec {
  readonly TextEncoder: new () => { encode(text: string): Uint8Array<ArrayBuffer> };
  readonly TextDecoder: new (label: "utf-8", options: { readonly fatal: true }) => { decode(bytes: Uint8Array): string };
}

// Every host has the codec; the pure packages' types have no host.
const { TextEncoder, TextDecoder } = globalThis as unknown as Codec;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

export function utf8Encode(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

/** Throws `TypeError` for bytes that are not UTF-8. A byte order mark is dropped. */
export function utf8Decode(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}
