import { truncate, unlink } from "node:fs/promises";
import { diskOf, fileSystemOf } from "../files/files.ts";
import { writeAt } from "./files.ts";

/** The file system under the segments of a device: its changing calls, and the room that it has. */
export interface SegmentDisk {
  /** Which file system it is, the same for all devices on it. */
  readonly id: string;
  /** Bytes that nobody has, and no device of this process is about to write. */
  free(): Promise<number>;
  /** Takes bytes for a write, until the result gives them back. Throws ENOSPC where less than `kept` would be left. */
  claim(bytes: number, kept: number): Promise<() => void>;
  /** See {@link writeAt}. */
  write(path: string, flags: number, pieces: readonly Uint8Array[], position: number): Promise<void>;
  truncate(path: string, size: number): Promise<void>;
  remove(path: string): Promise<void>;
}

/** What the devices of this process are about to write, by file system. */
const claimed = new Map<string, number>();

/** The file system of a directory. */
export async function segmentDisk(directory: string): Promise<SegmentDisk> {
  const id = await fileSystemOf(directory);
  const claims = (): number => claimed.get(id) ?? 0;
  const free = async (): Promise<number> => Math.max(0, (await diskOf(directory)).freeBytes - claims());
  return {
    id,
    free,
    async claim(bytes, kept) {
      // Before it is looked: of two that look at the same time neither overlooks the other.
      claimed.set(id, claims() + bytes);
      const giveBack = () => void claimed.set(id, claims() - bytes);
      try {
        if ((await free()) < kept) throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
      } catch (error) {
        giveBack();
        throw error;
      }
      return giveBack;
    },
    write: writeAt,
    truncate,
    remove: unlink,
  };
}

/** Whether a file system refused a write because it, a quota or a file is full. */
export function noRoom(error: unknown): boolean {
  return ["ENOSPC", "EDQUOT", "EFBIG"].includes((error as NodeJS.ErrnoException).code ?? "");
}
