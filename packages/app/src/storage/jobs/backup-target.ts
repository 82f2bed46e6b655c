import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** A place that keeps backups: `<id>/manifest.json` and `<id>/snapshot.tar`. */
export interface BackupTarget {
  /** Streams one file; it is there whole, or not at all. */
  write(id: string, file: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  read(id: string, file: string): AsyncIterable<Uint8Array>;
  list(): Promise<readonly string[]>;
  remove(id: string): Promise<void>;
}

/** Backups in a directory. */
export function directoryBackups(directory: string): BackupTarget {
  return {
    async write(id, file, bytes) {
      await mkdir(join(directory, id), { recursive: true });
      const part = join(directory, id, `${file}.part`);
      await pipeline(Readable.from(bytes), createWriteStream(part));
      const handle = await open(part, "r+");
      await handle.sync().finally(() => handle.close());
      await rename(part, join(directory, id, file));
    },
    read: (id, file) => createReadStream(join(directory, id, file)),
    async list() {
      await mkdir(directory, { recursive: true });
      return (await readdir(directory)).filter((name) => /^[0-9A-Za-z-]+$/.test(name)).sort();
    },
    async remove(id) {
      // The manifest first: a backup without one is not a backup.
      await rm(join(directory, id, "manifest.json"), { force: true });
      await rm(join(directory, id), { recursive: true, force: true });
    },
  };
}

/** A whole small file as text. */
export async function readText(target: BackupTarget, id: string, file: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of target.read(id, file)) pieces.push(piece);
  return Buffer.concat(pieces).toString("utf8");
}
