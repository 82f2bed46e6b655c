/** The one host class that every runtime has and lib ES2023 does not name. */
declare class TextDecoder {
  constructor(label: "utf-8", options: { readonly fatal: boolean });
  decode(bytes: Uint8Array): string;
}
