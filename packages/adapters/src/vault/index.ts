export { type EmbeddedVault, openEmbeddedVault, vaultCollections } from "./open-embedded-vault.ts";
export type { Unseal } from "./vault-seal.ts";
