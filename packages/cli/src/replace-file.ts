import { randomBytes } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { CodedError } from "@seneschal/core";

/**
 * Writes a file whole: beside the old one, durably, then in its place. After a crash, also of the machine, there is the one or the other.
 * Throws `file_unwritable` with `name`.
 */
export async function replaceFile(path: string, name: string, bytes: Uint8Array, mode = 0o600): Promise<void> {
  const beside = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    const file = await open(beside, "wx", mode);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(beside, path);
    const directory = await open(dirname(path), "r");
    await directory.sync().finally(() => directory.close());
  } catch (error) {
    await rm(beside, { force: true });
    throw new CodedError("file_unwritable", `${name} cannot be written`, {}, error);
  }
}
