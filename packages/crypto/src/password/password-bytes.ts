import { utf8 } from "../bytes.ts";

/** What is hashed of a password: UTF-8 of its NFKC form, so that the same password typed on another keyboard is the same bytes. */
export function passwordBytes(password: string): Uint8Array {
  return utf8(password.normalize("NFKC"));
}
