import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import type { HealthCheck } from "../platform/health.ts";

/** Bytes that an ordinary user can still write where `path` is, or is to be. */
export async function freeSpace(path: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(path);
    return bavail * bsize;
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ENOENT" || path === dirname(path)) throw error;
    return freeSpace(dirname(path));
  }
}

/** The health of a disk: what is written there is at risk, what is read is not. */
export function diskCheck(path: string, minFreeBytes: number): HealthCheck {
  return {
    name: "disk",
    required: false,
    async check() {
      const free = await freeSpace(path);
      if (free < minFreeBytes) throw new Error(`${free} bytes are free where ${path} is, fewer than ${minFreeBytes}`);
    },
  };
}
