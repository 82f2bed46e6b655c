import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type BackupTarget, backupId, fileAbsent } from "./backup-target.ts";

/** Backups in a directory: `<directory>/<id>/<file>`, written beside, synced and renamed. */
export function directoryBackups(directory: string): BackupTarget {
  return {
    async write(id, file, bytes) {
      await mkdir(join(directory, id), { recursive: true, mode: 0o700 });
      const part = join(directory, id, `${file}.part`);
      await pipeline(Readable.from(bytes), createWriteStream(part, { flush: true }));
      await rename(part, join(directory, id, file));
      await sync(join(directory, id));
      await sync(directory);
    },
    async *read(id, file) {
      try {
        yield* createReadStream(join(directory, id, file));
      } catch (error) {
        throw (error as NodeJS.ErrnoException).code === "ENOENT" ? fileAbsent(id, file, error) : error;
      }
    },
    async list() {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      return (await readdir(directory)).filter((name) => backupId.test(name)).sort();
    },
    async remove(id) {
      // The manifest first: a backup without one is not a backup.
      await rm(join(directory, id, "manifest.json"), { force: true });
      await rm(join(directory, id), { recursive: true, force: true });
    },
  };
}

async function sync(directory: string): Promise<void> {
  const handle = await open(directory, "r");
  await handle.sync().finally(() => handle.close());
}
