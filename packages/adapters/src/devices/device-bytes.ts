import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { checkArgument } from "@seneschal/kernel";

/** What a device takes of the disk below it, with what was deleted and not cleared away yet; 0 for a directory that is none. Rejects as the system does. */
export async function deviceBytes(directory: string): Promise<number> {
  checkArgument("directory", directory, "string");
  const segments = join(directory, "segments");
  const absent = (error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  };
  let bytes = 0;
  // A segment that was cleared away meanwhile takes nothing.
  for (const name of (await readdir(segments).catch(absent)) ?? [])
    bytes += (await stat(join(segments, name)).catch(absent))?.size ?? 0;
  return bytes;
}
