import { expect, test } from "vitest";
import { backupSettings } from "../../src/storage/jobs/open-backups.ts";
import { storageSettings } from "../../src/storage/settings.ts";

const configured = storageSettings.parse({}).backup;

test("without the environment's names the configured backups stand, with seven days, metadata only and a daily clean-up", () => {
  expect(backupSettings(configured, {})).toEqual(configured);
  expect(configured).toMatchObject({ retention_days: 7, include_data: false, cleanup_interval: 86_400_000 });
});

test("every STORE_BACKUP_ name wins over the configuration", () => {
  const env = {
    STORE_BACKUP_BACKEND: "s3",
    STORE_BACKUP_DIR: "/backups",
    STORE_BACKUP_RETENTION_DAYS: "30",
    STORE_BACKUP_INCLUDE_DATA: "true",
    STORE_BACKUP_CLEANUP_INTERVAL_SECS: "60",
    STORE_BACKUP_S3_ENDPOINT: "http://127.0.0.1:9000",
    STORE_BACKUP_S3_REGION: "eu",
    STORE_BACKUP_S3_BUCKET: "b",
    STORE_BACKUP_S3_ACCESS_KEY: "a",
    STORE_BACKUP_S3_SECRET_KEY: "s",
  };
  expect(backupSettings({ ...configured, directory: "/other", retention_days: 1 }, env)).toMatchObject({
    backend: "s3",
    directory: "/backups",
    retention_days: 30,
    include_data: true,
    cleanup_interval: 60_000,
    s3: { endpoint: "http://127.0.0.1:9000", region: "eu", bucket: "b", access_key: "a" },
  });
});

test("a value that is none of its kind is refused by name, and so is half an S3 target", () => {
  for (const [name, value, field] of [
    ["BACKEND", "tape", "backend"],
    ["RETENTION_DAYS", "soon", "retention_days"],
    ["RETENTION_DAYS", "0", "retention_days"],
    ["INCLUDE_DATA", "maybe", "include_data"],
    ["CLEANUP_INTERVAL_SECS", "often", "cleanup_interval"],
    ["S3_BUCKET", "b", "endpoint"],
  ] as const)
    expect(() => backupSettings(configured, { [`STORE_BACKUP_${name}`]: value }), name).toThrow(field);
});
