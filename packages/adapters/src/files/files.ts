import { mkdir, open, readdir, readFile, rename, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { checkArgument } from "@seneschal/kernel";

/** A file, whole. Rejects as the system does. */
export async function readBytes(path: string): Promise<Buffer> {
  checkArgument("path", path, "string");
  return readFile(path);
}

/** A file of text in UTF-8, whole. Rejects as the system does. */
export async function readText(path: string): Promise<string> {
  checkArgument("path", path, "string");
  return readFile(path, "utf8");
}

/** Makes a directory, and those above it, for its owner alone; one that is there stays as it is. */
export async function makeDirectory(path: string): Promise<void> {
  checkArgument("path", path, "string");
  await mkdir(path, { recursive: true, mode: 0o700 });
}

/** The names in a directory; none where it is not there. */
export async function listFiles(directory: string): Promise<readonly string[]> {
  checkArgument("directory", directory, "string");
  return readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
}

/** A file that lies beside its place, on the disk. */
export interface FileAside {
  /** Gives it its name in the directory, in place of what has that. */
  moveTo(name: string): Promise<void>;
}

/** Writes a file for its owner alone under a name beside its own: what is interrupted is never taken for whole. */
export async function writeAside(
  directory: string,
  name: string,
  pieces: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>,
): Promise<FileAside> {
  checkArgument("directory", directory, "string");
  checkArgument("name", name, "string");
  await makeDirectory(directory);
  const file = await open(join(directory, name), "w", 0o600);
  try {
    for await (const piece of pieces) await file.writeFile(piece);
    await file.sync();
  } finally {
    await file.close();
  }
  return { moveTo: (to) => rename(join(directory, name), join(directory, to)) };
}

/** What changes whenever a file does, or another one comes in its place. Rejects as the system does. */
export async function fileStamp(path: string): Promise<string> {
  checkArgument("path", path, "string");
  const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
  return [ino, size, mtimeNs, ctimeNs].join(":");
}

/** The disk on which a path lies: its blocks, those that are free, and those that an ordinary user may still write. */
interface Disk {
  readonly blocks: number;
  readonly bfree: number;
  readonly bavail: number;
  /** Bytes that an ordinary user may still write; without an end where the file system does not tell: its writes do. */
  readonly freeBytes: number;
}

/** What the disk has on which a path lies. Rejects as the system does. */
export async function diskOf(path: string): Promise<Disk> {
  checkArgument("path", path, "string");
  const { blocks, bfree, bavail, bsize } = await statfs(path);
  return { blocks, bfree, bavail, freeBytes: blocks === 0 ? Number.MAX_SAFE_INTEGER : bavail * bsize };
}

/** Which file system a path lies on, the same for all that do. Rejects as the system does. */
export async function fileSystemOf(path: string): Promise<string> {
  checkArgument("path", path, "string");
  return String((await stat(path)).dev);
}

/** The file system that a path lies on, or will lie on when it is made, and the bytes that an ordinary user may still write there. */
export async function roomAt(path: string): Promise<{ readonly filesystem: string; readonly freeBytes: number }> {
  checkArgument("path", path, "string");
  try {
    const [filesystem, { freeBytes }] = await Promise.all([fileSystemOf(path), diskOf(path)]);
    return { filesystem, freeBytes };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || path === dirname(path)) throw error;
    return roomAt(dirname(path));
  }
}
