import { randomBytes } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { CodedError } from "@seneschal/kernel";

/**
 * Writes a file whole: beside the old one, durably, then in its place. After a crash, also of the machine, there is the one or the other.
 * Throws `file_unwritable` with `name`.
 */
export async function replaceFile(path: string, name: string, bytes: Uint8Array, mode = 0o600): Promise<void> {
  const beside = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    await createFile(beside, bytes, mode);
    await rename(beside, path);
    await syncDirectoryOf(path);
  } catch (error) {
    await rm(beside, { force: true });
    throw new CodedError("file_unwritable", `${name} cannot be written`, {}, error);
  }
}

/** Writes a file that is not there yet, and its bytes through to the disk, or leaves none. Throws what the system says, `EEXIST` for one that is there. */
export async function createFile(path: string, bytes: Uint8Array, mode: number): Promise<void> {
  const file = await open(path, "wx", mode);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

/** Until then a new name is not sure to outlive the machine. */
export async function syncDirectoryOf(path: string): Promise<void> {
  const directory = await open(dirname(path), "r");
  await directory.sync().finally(() => directory.close());
}
