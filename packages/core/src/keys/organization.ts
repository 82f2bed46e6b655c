import type { Timestamp } from "./time.ts";

/** An organisation as this instance knows it. Its id is opaque: 1 to 128 printable characters without `/`. */
export interface Organization {
  readonly id: string;
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
  /** How it came into being: never from authentication alone. */
  readonly origin: "configuration" | "crk" | "restore";
  /** Base64 of a CRK public key fixed in the configuration: the anchor of the first bootstrap. */
  readonly anchor_public_key: string | null;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const printable = /^[^\u0000-\u001f\u007f-\u009f/\ud800-\udfff]{1,128}$/u;

/**
 * True for an id that an organisation may have.
 *
 * @example
 * ```ts
 * import { isOrganizationId } from "@seneschal/core/keys";
 * console.log(isOrganizationId("acme"), isOrganizationId("../acme")); // true false
 * ```
 */
export function isOrganizationId(text: string): boolean {
  return printable.test(text);
}
