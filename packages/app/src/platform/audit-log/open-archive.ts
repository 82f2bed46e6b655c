import { type BackupTarget, directoryBackups, openS3Backups } from "@seneschal/adapters/backups";
import { checkArgument } from "@seneschal/kernel";
import type { ArchiveSetting } from "./archive-setting.ts";

/** The place that `to` of an archive names. */
export async function openArchive(to: ArchiveSetting["to"]): Promise<BackupTarget> {
  checkArgument("to", to, "object");
  if (to.s3 === undefined) return directoryBackups(to.directory as string);
  const { endpoint, region, bucket, access_key: accessKey, secret_key: secretKey } = to.s3;
  return openS3Backups({ endpoint, region, bucket, accessKey, secretKey });
}

/** Writes to the place, reads that back and removes it. Rejects with what failed. */
export async function tryArchive(target: BackupTarget): Promise<void> {
  checkArgument("target", target, "object");
  const id = "probe";
  await target.write(id, "probe", one());
  let read = "";
  for await (const chunk of target.read(id, "probe")) read += Buffer.from(chunk).toString("utf8");
  await target.remove(id);
  if (read !== PROBE) throw new Error("it does not give back what was written");
}

const PROBE = "seneschal";

async function* one(): AsyncGenerator<Uint8Array> {
  yield Buffer.from(PROBE);
}
