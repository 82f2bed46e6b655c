export { abortVaultMigration, type ImportTarget, type MigratedKeys, migrateVault } from "./migrate-vault.ts";
export {
  type EmbeddedVault,
  openEmbeddedVault,
  type PortableKeys,
  vaultCollections,
} from "./open-embedded-vault.ts";
export { openHttpVault } from "./open-http-vault.ts";
export { openPkcs11Wrapper } from "./pkcs11-wrapper.ts";
export { openTransitWrapper } from "./transit-wrapper.ts";
export {
  connectVault,
  type VaultAnswer,
  type VaultAuth,
  type VaultConnection,
  type VaultConnectionOptions,
} from "./vault-connection.ts";
export { sealOfExport } from "./vault-export.ts";
export { type IssuedByVault, type VaultCertificateWish, type VaultPki, vaultPki } from "./vault-pki.ts";
export { initVault, initVaultAs, rekeyVault, stagedSeal, verifyRekey } from "./vault-rekey.ts";
export { type KeyWrapper, type NewSeal, openSeal, sealBelow, sharesOf, storedSeal, type Unseal } from "./vault-seal.ts";
