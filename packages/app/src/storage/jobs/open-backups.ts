import { type BackupTarget, directoryBackups, openS3Backups } from "@seneschal/adapters/backups";
import { type StorageConfig, storageSettings } from "../settings.ts";

type BackupSettings = StorageConfig["backup"];

/** The settings with the environment's `STORE_BACKUP_*` over them. Throws `ZodError` naming what is wrong or missing. */
export function backupSettings(settings: BackupSettings, env: Readonly<Record<string, string | undefined>>): BackupSettings {
  const given = (name: string) => env[`STORE_BACKUP_${name}`];
  const s3 = {
    ...settings.s3,
    ...(given("S3_ENDPOINT") && { endpoint: given("S3_ENDPOINT") }),
    ...(given("S3_REGION") && { region: given("S3_REGION") }),
    ...(given("S3_BUCKET") && { bucket: given("S3_BUCKET") }),
    ...(given("S3_ACCESS_KEY") && { access_key: given("S3_ACCESS_KEY") }),
    ...(given("S3_SECRET_KEY") && { secret_key: given("S3_SECRET_KEY") }),
  };
  const cleanUp = given("CLEANUP_INTERVAL_SECS");
  return storageSettings.shape.backup.parse({
    ...settings,
    ...(given("BACKEND") && { backend: given("BACKEND") }),
    ...(given("DIR") && { directory: given("DIR") }),
    ...(given("RETENTION_DAYS") && { retention_days: Number(given("RETENTION_DAYS")) }),
    ...(given("INCLUDE_DATA") && {
      include_data: { true: true, false: false }[given("INCLUDE_DATA") ?? ""] ?? given("INCLUDE_DATA"),
    }),
    cleanup_interval: cleanUp === undefined ? `${settings.cleanup_interval}ms` : `${cleanUp}s`,
    ...(Object.keys(s3).length > 0 && { s3 }),
  });
}

/** The configured targets by name, the default one first. */
export async function openBackups({ backend, directory, s3 }: BackupSettings): Promise<Readonly<Record<string, BackupTarget>>> {
  const targets: [string, BackupTarget][] = [];
  if (directory !== undefined) targets.push(["fs", directoryBackups(directory)]);
  if (s3 !== undefined) {
    const { endpoint, region, bucket, access_key: accessKey, secret_key: secretKey } = s3;
    targets.push(["s3", await openS3Backups({ endpoint, region, bucket, accessKey, secretKey })]);
  }
  return Object.fromEntries(targets.sort(([a], [b]) => Number(b === backend) - Number(a === backend)));
}
