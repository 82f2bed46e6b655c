export { acceptGap } from "./compose/accept-audit-gap.ts";
export {
  type ArchivedSegmentOf,
  archiveAudit,
  type MendedLog,
  mendAudit,
  verifyArchiveDirectory,
} from "./compose/archive-audit.ts";
export { type BootstrapOptions, type Bootstrapped, bootstrapInstance } from "./compose/bootstrap-instance.ts";
export { type CertificateFile, certificateFiles } from "./compose/certificate-files.ts";
export { type CheckOptions, checkConfig, type Finding } from "./compose/check-config.ts";
export { createOrganization } from "./compose/create-organization.ts";
export { requestAuthorityCertificate, setSignedAuthority } from "./compose/cross-sign.ts";
export { abortMigration, type MigratedPart, migrate } from "./compose/migration/migrate.ts";
export {
  type BringShares,
  type Dealing,
  type Dealt,
  initVaultByBackup,
  initVaultShares,
  rekeyServiceVault,
  type VaultService,
  vaultServices,
  verifyVaultRekey,
} from "./compose/operate-vault.ts";
export { type PreparedData, prepareData } from "./compose/prepare-data.ts";
export { type DevCredentialsFile, type DevIdentity, prepareDev } from "./compose/prepare-dev.ts";
export { type ProcessConfig, processSettings, type ServiceName, serviceNames } from "./compose/process-settings.ts";
export { type InstanceEvent, readInstanceLog } from "./compose/read-instance-log.ts";
export { type RunningDev, startDev } from "./compose/start-dev.ts";
export { type RunningProcess, startProcess } from "./compose/start-process.ts";
export { watchFiles } from "./compose/watch-files.ts";
export { type BuildOptions, buildService, type Service, type ServiceDefinition } from "./platform/index.ts";
