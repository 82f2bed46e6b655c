import { base64, fromBase64, fromUtf8, utf8 } from "@seneschal/crypto";
import type { JsonObject } from "@seneschal/kernel";
import type { CryptoProvider, Random } from "@seneschal/kernel/ports";
import type { TransitKey } from "./transit-key.ts";
import { vaultError } from "./vault-error.ts";
import { openSeal, type Unseal } from "./vault-seal.ts";

const AAD = utf8("seneschal/vault-export/v1");

/** Keys as text: sealed under a vault's root key, beside the root key as its unseal key seals it. Names are inside. */
export function sealExport(
  crypto: CryptoProvider,
  random: Random,
  root: { readonly key: Uint8Array; readonly seal: JsonObject },
  keys: readonly TransitKey[],
): string {
  const nonce = random(12);
  const text = utf8(JSON.stringify(keys));
  const sealed = base64(Buffer.concat([nonce, crypto.seal(root.key, nonce, text, AAD)]));
  text.fill(0);
  return base64(utf8(JSON.stringify({ seal: root.seal, sealed })));
}

/** The root key of the vault that made an export, as its unseal key sealed it. Throws `vault_invalid` for anything else. */
export function sealOfExport(text: string): JsonObject {
  try {
    const { seal } = JSON.parse(fromUtf8(fromBase64(text))) as { readonly seal?: JsonObject };
    if (typeof seal?.["kind"] === "string") return seal;
  } catch {
    // Told below.
  }
  throw vaultError("vault_invalid", "these are no keys that a vault exported", { reason: "no_export" });
}

/**
 * Opens an export. Throws `decryption_failed` unless it is whole and was made under this root key, whatever sealed that then, or
 * under a root key that this unseal key opens.
 */
export async function openExport(
  crypto: CryptoProvider,
  own: { readonly root: Uint8Array; readonly unseal: Unseal },
  text: string,
): Promise<readonly TransitKey[]> {
  try {
    const { seal, sealed } = JSON.parse(fromUtf8(fromBase64(text))) as { readonly seal: JsonObject; readonly sealed: string };
    const bytes = fromBase64(sealed);
    const under = (root: Uint8Array): Uint8Array => crypto.open(root, bytes.subarray(0, 12), bytes.subarray(12), AAD);
    let plain: Uint8Array;
    try {
      plain = under(own.root);
    } catch {
      const root = await openSeal(crypto, own.unseal, seal);
      plain = under(root);
      root.fill(0);
    }
    return JSON.parse(fromUtf8(plain)) as readonly TransitKey[];
  } catch (cause) {
    throw vaultError("decryption_failed", "the exported keys do not open with this vault's unseal key", {}, cause);
  }
}
