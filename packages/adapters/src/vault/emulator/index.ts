export type { EmulatorLogins } from "./auth-routes.ts";
export { startVaultEmulator, type VaultEmulator } from "./start-vault-emulator.ts";
