export { backups } from "./backups/collections.ts";
export { readBackupFile } from "./backups/vessel.ts";
export { oversightCollections, oversightHandlers } from "./resources.ts";
export { type RotationScheduler, rotationScheduler } from "./rotation/scheduler.ts";
