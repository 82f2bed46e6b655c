import { constants } from "node:fs";
import { access, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { CodedError, checkOptions, isCoded } from "@seneschal/kernel";
import type { BlobDevice, BlobDeviceErrorCode } from "@seneschal/kernel/ports";
import { type ExtentLog, openExtentLog } from "./extent-log.ts";
import { frameHeader, frameSize, isFrame, readHeader } from "./frame.ts";
import { noRoom, type SegmentDisk, segmentDisk } from "./segment-disk.ts";
import { readSuperblock, type Superblock, writeSuperblock } from "./superblock.ts";

const validName = /^[a-z0-9_-][a-z0-9._-]{0,199}$/;

/**
 * Opens a directory as a device, and makes it one when it is empty. Extents are frames in the files of `segments/`, written
 * at their end with one synced write for all writers that wait at the same time (group commit). The directory takes up
 * to `capacityBytes` and one segment (64 MiB at most).
 *
 * @throws CodedError `device_mismatch` when the directory belongs to another device or has another layout, `device_unavailable`.
 */
export async function openDirectoryDevice(options: {
  readonly id: string;
  readonly directory: string;
  readonly capacityBytes: number;
  /** It was this device before, and must still be: an empty directory, such as that of a disk which is not mounted, is refused. */
  readonly known?: boolean;
}): Promise<BlobDevice> {
  checkOptions("options", options, { id: "string", directory: "string", capacityBytes: "number", known: "boolean?" });
  const { id, directory, capacityBytes, known = false } = options;
  const segments = join(directory, "segments");
  const superblock: Superblock = { format: "seneschal-device/2", id, capacity_bytes: capacityBytes };
  let fileSystem: SegmentDisk;
  let log: ExtentLog;
  try {
    if (!known) await mkdir(directory, { recursive: true, mode: 0o700 });
    const found = await readSuperblock(directory);
    if (known && found === undefined) throw failure("device_unavailable", `device ${id} is no longer at ${directory}`);
    if (found !== undefined && found !== "damaged" && found.id !== id)
      throw failure("device_mismatch", `${directory} belongs to device ${found.id}, not ${id}`);
    if (found !== undefined && found !== "damaged" && found.format !== superblock.format)
      throw failure("device_mismatch", `${directory} has layout ${found.format}, this version reads ${superblock.format}`);
    if (found === undefined || (found !== "damaged" && found.capacity_bytes !== capacityBytes))
      await writeSuperblock(directory, superblock);
    await mkdir(segments, { recursive: true, mode: 0o700 });
    fileSystem = await segmentDisk(segments);
    log = await openExtentLog(segments, capacityBytes, fileSystem);
  } catch (error) {
    throw isCoded(error) ? error : failure("device_unavailable", `device ${id} does not open`, error);
  }

  /** Names on their way, which are not there yet; their bytes are taken already, so that writers cannot overshoot together. */
  const pending = new Map<string, number>();
  let pendingBytes = 0;
  const usedBytes = () => log.liveBytes + pendingBytes;
  /** Bytes of the last write, where the file system refused it. */
  let refused: number | undefined;

  const checkName = (extent: string) => {
    if (!validName.test(extent))
      throw failure("invalid_extent_name", "an extent name is [a-z0-9._-]{1,200}, not starting with a dot");
  };

  const answer = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (isCoded(error)) throw error;
      const full = noRoom(error);
      throw failure(full ? "device_full" : "device_unavailable", `device ${id} ${full ? "is full" : "does not answer"}`, error);
    }
  };

  /** What is absent is absent from a device that answers; an absent device is an error. */
  const answering = () => access(segments, constants.R_OK | constants.W_OK);

  return {
    id,

    async write(extent, bytes) {
      checkName(extent);
      if (log.has(extent) || pending.has(extent)) throw failure("extent_exists", `extent ${extent} exists on device ${id}`);
      const size = frameSize(extent, bytes.length);
      if (usedBytes() + size > capacityBytes) throw failure("device_full", `device ${id} is full`);
      pending.set(extent, size);
      pendingBytes += size;
      try {
        await answer(() => log.append(extent, [frameHeader(extent, bytes), bytes]));
        refused = undefined;
      } catch (error) {
        if (isCoded(error, "device_full")) refused = size;
        throw error;
      } finally {
        pending.delete(extent);
        pendingBytes -= size;
      }
    },

    async read(extent, into) {
      checkName(extent);
      const stored = await answer(async () => {
        const found = await log.read(extent, into).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== "ENOENT") throw error;
        });
        if (found === undefined) await answering();
        return found;
      });
      // A frame that says that it is deleted is: the index did not hear of it.
      if (stored === undefined || readHeader(stored.header)?.live === false) return undefined;
      if (!isFrame(extent, stored.header, stored.payload))
        throw failure("extent_corrupt", `extent ${extent} is damaged`, undefined, { extent });
      return stored.payload;
    },

    async has(extent) {
      checkName(extent);
      await answer(answering);
      return log.has(extent);
    },

    async delete(extent) {
      checkName(extent);
      await answer(async () => {
        await answering();
        await log.delete(extent);
      });
    },

    async *list() {
      await answer(answering);
      yield* log.names();
    },

    async usage() {
      const freeBytes = await answer(async () => {
        await answering();
        return log.freeBytes();
      });
      const { deadBytes } = log;
      // It would be taken now.
      if (refused !== undefined && freeBytes + deadBytes >= refused) refused = undefined;
      const disk = { id: fileSystem.id, freeBytes, deadBytes, refused: refused !== undefined };
      return { capacityBytes, usedBytes: usedBytes(), disk };
    },

    reclaim: () => answer(() => log.compact()),

    async inspect() {
      return answer(async () => {
        await answering();
        const found = await readSuperblock(directory);
        if (found !== undefined && found !== "damaged" && found.id === id && found.capacity_bytes === capacityBytes) return [];
        await writeSuperblock(directory, superblock);
        return [`superblock ${found === undefined ? "missing" : "damaged"}, written again`];
      });
    },

    async close() {
      await log.close();
    },
  };
}

function failure(
  code: BlobDeviceErrorCode,
  message: string,
  cause?: unknown,
  details: Readonly<Record<string, unknown>> = {},
): CodedError<BlobDeviceErrorCode> {
  return new CodedError(code, message, details, cause);
}
