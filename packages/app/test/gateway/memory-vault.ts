import { randomBytes } from "node:crypto";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { CodedError } from "@seneschal/core";
import type { Vault } from "@seneschal/core/ports";

/** A transit vault in memory: real sealing, no durability. `state` can be handed to the next one, as if it were a disk. */
export function memoryVault(state: Map<string, Uint8Array[]> = new Map()): Vault {
  const versions = (name: string): Uint8Array[] => {
    const known = state.get(name);
    if (known === undefined) throw new CodedError("key_not_found", "no such key");
    return known;
  };
  const empty = new Uint8Array();
  const vault: Vault = {
    async createKey(name) {
      if (!state.has(name)) state.set(name, [randomBytes(32)]);
    },
    async keyInfo(name) {
      const known = state.get(name);
      if (known === undefined) return undefined;
      return { name, latestVersion: known.length, minDecryptionVersion: 1, minEncryptionVersion: 0, deletionAllowed: false };
    },
    listKeys: async () => [...state.keys()],
    rotateKey: async (name) => versions(name).push(randomBytes(32)),
    async configureKey() {},
    async deleteKey(name) {
      state.delete(name);
    },
    async encrypt(name, plaintext, aad = empty) {
      const all = versions(name);
      const nonce = randomBytes(12);
      const sealed = nodeCrypto.seal(all[all.length - 1] ?? empty, nonce, plaintext, aad);
      return `vault:v${all.length}:${Buffer.concat([nonce, sealed]).toString("base64")}`;
    },
    async decrypt(name, ciphertext, aad = empty) {
      const [, version = "", text = ""] = /^vault:v(\d+):(.*)$/.exec(ciphertext) ?? [];
      const key = versions(name)[Number(version) - 1];
      if (key === undefined) throw new CodedError("decryption_failed", "decryption failed");
      const bytes = Buffer.from(text, "base64");
      return nodeCrypto.open(key, bytes.subarray(0, 12), bytes.subarray(12), aad);
    },
    async rewrap(name, ciphertext, aad) {
      return vault.encrypt(name, await vault.decrypt(name, ciphertext, aad), aad);
    },
    health: async () => ({ sealed: false, initialized: true, version: "memory" }),
  };
  return vault;
}
