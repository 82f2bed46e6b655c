import { utf8 } from "@seneschal/crypto";
import type { Vault } from "@seneschal/kernel/ports";
import type { KeyWrapper } from "./vault-seal.ts";

const AAD = utf8("seneschal/unseal-key/v1");

/**
 * Wraps unseal keys by a transit key of another vault, for auto-unseal: who closes that vault, or takes the key away there, keeps this
 * one from opening. The key must be there: it is not made here, where a mistyped name would make another.
 */
export function openTransitWrapper(vault: Pick<Vault, "encrypt" | "decrypt">, keyName: string): KeyWrapper {
  return {
    wrap: (key) => vault.encrypt(keyName, key, AAD),
    unwrap: (wrapped) => vault.decrypt(keyName, wrapped, AAD),
  };
}
