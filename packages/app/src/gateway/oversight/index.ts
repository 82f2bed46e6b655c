export { readBackupFile } from "./backups/backup-file.ts";
export { backups } from "./collections.ts";
export { oversightCollections, oversightHandlers } from "./resources.ts";
export { type RotationScheduler, rotationScheduler } from "./rotation.ts";
