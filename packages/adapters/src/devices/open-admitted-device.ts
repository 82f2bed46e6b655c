import { readdir, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { CodedError, checkOptions, isCoded } from "@seneschal/kernel";
import type { BlobDevice, BlobDeviceErrorCode } from "@seneschal/kernel/ports";
import { openDirectoryDevice } from "./open-directory-device.ts";
import { readSuperblock } from "./superblock.ts";

/** A device that was asked for while the node ran, not by its settings. */
export interface AdmittedDevice {
  readonly id: string;
  readonly directory: string;
  readonly capacityBytes: number;
  /** Directories of the settings: a device lies strictly below one of them, also where links lead. */
  readonly roots: readonly string[];
  /** Directories of other devices: none lies in another. */
  readonly taken: readonly string[];
  /** Asked about an allowed place, where links lead, before anything is written: throws what keeps a device from being made there. */
  readonly admit?: ((directory: string) => Promise<void>) | undefined;
  /** `true`: the device was opened before and must still be there; else its directory is new, empty, or was begun for it. */
  readonly known: boolean;
}

/**
 * Opens a directory as a device where the node's settings allow it.
 *
 * @throws CodedError `directory_not_allowed`, `directory_in_use`; else what {@link openDirectoryDevice} throws.
 */
export async function openAdmittedDevice(options: AdmittedDevice): Promise<BlobDevice> {
  checkOptions("options", options, {
    id: "string",
    directory: "string",
    capacityBytes: "number",
    roots: "array",
    taken: "array",
    admit: "function?",
    known: "boolean",
  });
  const { id, directory, capacityBytes, roots, taken, admit, known } = options;
  const refuse = (why: string, code: "directory_not_allowed" | "directory_in_use" = "directory_not_allowed") =>
    new CodedError(code, `device ${id}: ${directory} ${why}`, { field: "directory" });
  if (!isAbsolute(directory) || resolve(directory) !== directory || directory.includes("\0"))
    throw refuse("is not an absolute path without `.`, `..` and a slash at its end");
  // By its name first: of what lies elsewhere nothing is looked at, so that no answer tells what is there.
  if (!roots.some((root) => isBelow(resolve(root), directory)))
    throw refuse("is not below a directory that the node's settings allow");
  let real: string;
  let found: Awaited<ReturnType<typeof readSuperblock>>;
  try {
    real = await realPath(directory);
    const allowed = await Promise.all(roots.map(realPath));
    if (!allowed.some((root) => isBelow(root, real))) throw refuse("leads out of the directories that the node's settings allow");
    const others = await Promise.all(taken.map(realPath));
    if (others.some((other) => other === real || isBelow(other, real) || isBelow(real, other)))
      throw refuse("is, contains or lies in the directory of another device", "directory_in_use");
    found = await readSuperblock(real);
    const names = found === undefined || found === "damaged" ? await namesIn(real) : [];
    // What a start that was cut off leaves of a superblock is no content.
    if (!known && names.some((name) => name !== "superblock.new")) throw refuse("is not empty", "directory_in_use");
    await admit?.(real);
  } catch (error) {
    if (isCoded(error)) throw error;
    throw unavailable(`device ${id} does not open`, error);
  }
  return openDirectoryDevice({ id, directory: real, capacityBytes, known });
}

function isBelow(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Where a path leads, links followed, as far as it exists. */
async function realPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || dirname(path) === path) throw error;
    return join(await realPath(dirname(path)), basename(path));
  }
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

function unavailable(message: string, cause?: unknown): CodedError<BlobDeviceErrorCode> {
  return new CodedError<BlobDeviceErrorCode>("device_unavailable", message, {}, cause);
}
