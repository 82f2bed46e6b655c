import { createHash } from "node:crypto";

/** The name of an organisation's key-encryption key in the vault. */
export function kekName(org: string): string {
  return `org-kek-${vaultName(org)}`;
}

/** What is left of the 128 characters of a vault key name behind our prefixes. */
const LONGEST = 100;

/**
 * A collision-free spelling of any text as a vault key name: every byte of its UTF-8 that is not a letter, digit or `-`
 * becomes `_` and two hex digits; what would be too long becomes `sha256.` and its digest. No spelling holds a dot otherwise.
 */
export function vaultName(text: string): string {
  if (text.length <= LONGEST && /^[A-Za-z0-9-]*$/.test(text)) return text;
  const bytes = Buffer.from(text, "utf8");
  const spelled = Array.from(bytes, (byte) => {
    const char = String.fromCharCode(byte);
    return /[A-Za-z0-9-]/.test(char) ? char : `_${byte.toString(16).padStart(2, "0")}`;
  }).join("");
  return spelled.length <= LONGEST ? spelled : `sha256.${createHash("sha256").update(bytes).digest("hex")}`;
}
