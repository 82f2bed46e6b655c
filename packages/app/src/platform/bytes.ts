import { utf8Encode } from "@seneschal/kernel";

/** Bytes of base64 text that the contract has checked; padding may be missing. */
export function bytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "base64"));
}

/** Padded base64. */
export function base64(data: Uint8Array): string {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");
}

export const utf8: (text: string) => Uint8Array = utf8Encode;
