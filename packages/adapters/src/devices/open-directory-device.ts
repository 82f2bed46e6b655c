import { constants } from "node:fs";
import { access, link, mkdir, opendir, readdir, rm, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { CodedError, isCoded } from "@seneschal/core";
import type { BlobDevice, BlobDeviceErrorCode } from "@seneschal/core/ports";
import { createDirectorySync } from "./directory-sync.ts";
import { extentBytes, openExtent } from "./extent.ts";
import { readWhole, writeSynced } from "./files.ts";
import { readSuperblock, type Superblock, writeSuperblock } from "./superblock.ts";

const validName = /^[a-z0-9_-][a-z0-9._-]{0,199}$/;

/**
 * Opens a directory as a device, and makes it one when it is empty. Extents are files in `extents/`; a
 * write goes to `tmp/`, is synced, linked, and the directory synced, once for all writers that wait for it. Left-over
 * temporary files are removed.
 *
 * @throws CodedError `device_mismatch` when the directory belongs to another device, `device_unavailable`.
 */
export async function openDirectoryDevice(options: {
  readonly id: string;
  readonly directory: string;
  readonly capacityBytes: number;
}): Promise<BlobDevice> {
  const { id, directory, capacityBytes } = options;
  const extents = join(directory, "extents");
  const temporary = join(directory, "tmp");
  const superblock: Superblock = { format: "seneschal-device/1", id, capacity_bytes: capacityBytes };
  try {
    await mkdir(directory, { recursive: true });
    const found = await readSuperblock(directory);
    if (found !== undefined && found !== "damaged" && found.id !== id)
      throw failure("device_mismatch", `${directory} belongs to device ${found.id}, not ${id}`);
    if (found === undefined || (found !== "damaged" && found.capacity_bytes !== capacityBytes))
      await writeSuperblock(directory, superblock);
    await mkdir(extents, { recursive: true });
    await rm(temporary, { recursive: true, force: true });
    await mkdir(temporary);
  } catch (error) {
    throw isCoded(error) ? error : failure("device_unavailable", `device ${id} does not open`, error);
  }

  let usedBytes = await measure(extents);
  let serial = 0;
  const directorySync = createDirectorySync(extents);

  const pathOf = (extent: string) => join(extents, extent);
  const checkName = (extent: string) => {
    if (!validName.test(extent))
      throw failure("invalid_extent_name", "an extent name is [a-z0-9._-]{1,200}, not starting with a dot");
  };

  const answer = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (isCoded(error)) throw error;
      const full = ["ENOSPC", "EDQUOT", "EFBIG"].includes((error as NodeJS.ErrnoException).code ?? "");
      throw failure(full ? "device_full" : "device_unavailable", `device ${id} ${full ? "is full" : "does not answer"}`, error);
    }
  };

  /** `undefined` when the file is absent from a device that answers; an absent device is an error. */
  const orAbsent = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      await access(extents, constants.R_OK | constants.W_OK);
      return undefined;
    }
  };

  return {
    id,

    async write(extent, bytes) {
      checkName(extent);
      // Copied before the first await: the caller may change its bytes meanwhile.
      const stored = extentBytes(extent, bytes);
      const size = stored.length;
      if (usedBytes + size > capacityBytes) throw failure("device_full", `device ${id} is full`);
      // Reserved before the first await, so that concurrent writers cannot overshoot.
      usedBytes += size;
      const part = join(temporary, String(serial++));
      try {
        await answer(async () => {
          await writeSynced(part, stored);
          // Unlike a rename a link refuses a name that is there.
          await link(part, pathOf(extent));
          await Promise.all([directorySync.sync(), unlink(part)]);
        });
      } catch (error) {
        usedBytes -= size;
        await unlink(part).catch(() => undefined);
        if ((error as { cause?: NodeJS.ErrnoException }).cause?.code === "EEXIST")
          throw failure("extent_exists", `extent ${extent} exists on device ${id}`);
        throw error;
      }
    },

    async read(extent) {
      checkName(extent);
      const stored = await answer(() => orAbsent(() => readWhole(pathOf(extent))));
      return stored === undefined ? undefined : openExtent(extent, stored);
    },

    async has(extent) {
      checkName(extent);
      return (await answer(() => orAbsent(() => stat(pathOf(extent))))) !== undefined;
    },

    async delete(extent) {
      checkName(extent);
      await answer(() =>
        orAbsent(async () => {
          const { size } = await stat(pathOf(extent));
          await unlink(pathOf(extent));
          usedBytes -= size;
        }),
      );
    },

    async *list() {
      for await (const entry of await answer(() => opendir(extents))) yield entry.name;
    },

    async usage() {
      await answer(() => access(extents));
      return { capacityBytes, usedBytes };
    },

    async inspect() {
      return answer(async () => {
        const found = await readSuperblock(directory);
        if (found !== undefined && found !== "damaged" && found.id === id && found.capacity_bytes === capacityBytes) return [];
        await writeSuperblock(directory, superblock);
        return [`superblock ${found === undefined ? "missing" : "damaged"}, written again`];
      });
    },

    async close() {
      await directorySync.idle();
    },
  };
}

async function measure(extents: string): Promise<number> {
  let total = 0;
  for (const name of await readdir(extents)) total += (await stat(join(extents, name))).size;
  return total;
}

function failure(code: BlobDeviceErrorCode, message: string, cause?: unknown): CodedError<BlobDeviceErrorCode> {
  return new CodedError(code, message, {}, cause);
}
