import { constants } from "node:fs";
import { access, mkdir, open, opendir, readdir, readFile, rename, rm, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { CodedError, isCoded } from "@seneschal/core";
import type { BlobDevice, BlobDeviceErrorCode } from "@seneschal/core/ports";
import { extentHeader, extentOverhead, openExtent } from "./extent.ts";
import { readSuperblock, type Superblock, writeSuperblock } from "./superblock.ts";

const validName = /^[a-z0-9_-][a-z0-9._-]{0,199}$/;

/**
 * Opens a directory as a device, and makes it one when it is empty. Extents are files under `extents/<2 chars>/`; a
 * write goes to `tmp/`, is synced, renamed, and the directory synced. Left-over temporary files are removed.
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
  const syncs = new Map<string, Promise<void>>();
  const folders = new Set<string>();

  const folderOf = (extent: string) => join(extents, extent.slice(0, 2));
  const pathOf = (extent: string) => join(folderOf(extent), extent);
  const checkName = (extent: string) => {
    if (!validName.test(extent))
      throw failure("invalid_extent_name", "an extent name is [a-z0-9._-]{1,200}, not starting with a dot");
  };

  /** Callers that arrive while a sync of the folder runs share the next one. */
  const syncFolder = (folder: string): Promise<void> => {
    const waiting = syncs.get(folder);
    if (waiting !== undefined) return waiting;
    const next = (async () => {
      await Promise.resolve();
      const handle = await open(folder, "r");
      syncs.delete(folder);
      try {
        await handle.sync();
      } finally {
        await handle.close();
      }
    })();
    syncs.set(folder, next);
    return next.finally(() => {
      if (syncs.get(folder) === next) syncs.delete(folder);
    });
  };

  const ensureFolder = async (folder: string): Promise<void> => {
    if (folders.has(folder)) return;
    // Not recursive: a device whose directory was taken away must fail, not be made anew.
    await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
    await syncFolder(extents);
    folders.add(folder);
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
      const payload = bytes.slice();
      const size = payload.length + extentOverhead(extent);
      if (usedBytes + size > capacityBytes) throw failure("device_full", `device ${id} is full`);
      // Reserved before the first await, so that concurrent writers cannot overshoot.
      usedBytes += size;
      const part = join(temporary, String(serial++));
      try {
        await answer(async () => {
          await ensureFolder(folderOf(extent));
          if ((await orAbsent(() => stat(pathOf(extent)))) !== undefined)
            throw failure("extent_exists", `extent ${extent} exists on device ${id}`);
          const file = await open(part, "wx");
          try {
            await file.writev([extentHeader(extent, payload), payload]);
            await file.datasync();
          } finally {
            await file.close();
          }
          await rename(part, pathOf(extent));
          await syncFolder(folderOf(extent));
        });
      } catch (error) {
        usedBytes -= size;
        await unlink(part).catch(() => undefined);
        throw error;
      }
    },

    async read(extent) {
      checkName(extent);
      const stored = await answer(() => orAbsent(() => readFile(pathOf(extent))));
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
      for (const folder of await answer(() => readdir(extents)))
        for await (const entry of await answer(() => opendir(join(extents, folder)))) yield entry.name;
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
      await Promise.allSettled(syncs.values());
    },
  };
}

async function measure(extents: string): Promise<number> {
  let total = 0;
  for (const folder of await readdir(extents))
    for (const name of await readdir(join(extents, folder))) total += (await stat(join(extents, folder, name))).size;
  return total;
}

function failure(code: BlobDeviceErrorCode, message: string, cause?: unknown): CodedError<BlobDeviceErrorCode> {
  return new CodedError(code, message, {}, cause);
}
