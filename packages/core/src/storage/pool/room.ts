import { checkArgument } from "@seneschal/kernel";
import type { DiskRoom } from "@seneschal/kernel/ports";

/** How full a device is, and the room of its file system where that is known. */
export interface DeviceFill {
  readonly capacityBytes: number;
  readonly usedBytes: number;
  /** Of an `id` that no device of another node has. */
  readonly disk?: Pick<DiskRoom, "id" | "freeBytes" | "deadBytes"> | undefined;
}

/**
 * The bytes that devices can still take: of each the rest of its capacity, and of those that share a file system together no more than
 * that has, with what they would give back to it.
 *
 * @example
 * ```ts
 * import { freeBytes } from "@seneschal/core/storage";
 * const disk = { id: "n1/8:1", freeBytes: 50, deadBytes: 0 };
 * const device = { capacityBytes: 100, usedBytes: 10, disk };
 * console.log(freeBytes([device]), freeBytes([device, device])); // 50 50
 * ```
 */
export function freeBytes(devices: readonly DeviceFill[]): number {
  checkArgument("devices", devices, "array");
  const disks = new Map<string, { rest: number; free: number; dead: number }>();
  let free = 0;
  for (const { capacityBytes, usedBytes, disk } of devices) {
    const rest = Math.max(0, capacityBytes - usedBytes);
    if (disk === undefined) {
      free += rest;
      continue;
    }
    const known = disks.get(disk.id) ?? { rest: 0, free: Number.POSITIVE_INFINITY, dead: 0 };
    disks.set(disk.id, {
      rest: known.rest + rest,
      free: Math.min(known.free, disk.freeBytes),
      dead: known.dead + disk.deadBytes,
    });
  }
  for (const disk of disks.values()) free += Math.min(disk.rest, disk.free + disk.dead);
  return free;
}
