/**
 * The name of an organisation's key-encryption key in the vault. Organisation ids are opaque; vault key names are not:
 * every character that is not a letter, digit or `-` is written as `_` and the hex of its UTF-8 bytes.
 */
export function kekName(org: string): string {
  return `org-kek-${vaultName(org)}`;
}

/** A reversible, collision-free spelling of any text as a vault key name. */
export function vaultName(text: string): string {
  return Array.from(Buffer.from(text, "utf8"), (byte) => {
    const char = String.fromCharCode(byte);
    return /[A-Za-z0-9-]/.test(char) ? char : `_${byte.toString(16).padStart(2, "0")}`;
  }).join("");
}
