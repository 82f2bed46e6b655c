export { readBackupFile } from "./backups/backup-file.ts";
export { backups, oversightCollections } from "./collections.ts";
export { oversightHandlers } from "./resources.ts";
export { type RotationScheduler, rotationScheduler } from "./rotation.ts";
