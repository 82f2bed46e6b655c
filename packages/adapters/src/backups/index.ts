export type { BackupTarget } from "./backup-target.ts";
export { directoryBackups } from "./directory-backups.ts";
export { openS3Backups, type S3BackupOptions } from "./s3-backups.ts";
