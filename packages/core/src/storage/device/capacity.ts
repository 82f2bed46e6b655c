import { checkArgument } from "@seneschal/kernel";

/** A device and the file system that its directory lies on. */
export interface PlacedDevice {
  readonly id: string;
  /** The same for all that lie on one. */
  readonly filesystem: string;
  readonly capacityBytes: number;
  /** What it holds already. */
  readonly usedBytes: number;
}

/** A file system that has less room than its devices may still take. */
export interface Overcommitment {
  readonly filesystem: string;
  readonly devices: readonly string[];
  /** What they may take beside what they hold. */
  readonly promisedBytes: number;
  readonly freeBytes: number;
}

/**
 * The file systems on which devices may take more than is free, all that lie on one together; `free`: what may still be written there, by
 * file system. Pools go by what is free: whoever plans by the capacities plans with room that there is not.
 *
 * @example
 * ```ts
 * import { overcommitted } from "@seneschal/core/storage";
 * const device = (id: string) => ({ id, filesystem: "sda1", capacityBytes: 600, usedBytes: 100 });
 * console.log(overcommitted([device("a")], { sda1: 700 })); // []
 * console.log(overcommitted([device("a"), device("b")], { sda1: 700 })[0]?.promisedBytes); // 1000
 * ```
 */
export function overcommitted(
  devices: readonly PlacedDevice[],
  free: Readonly<Record<string, number>>,
): readonly Overcommitment[] {
  checkArgument("devices", devices, "array");
  checkArgument("free", free, "object");
  return [...new Set(devices.map(({ filesystem }) => filesystem))].flatMap((filesystem) => {
    const here = devices.filter((device) => device.filesystem === filesystem);
    const promisedBytes = here.reduce((sum, { capacityBytes, usedBytes }) => sum + Math.max(0, capacityBytes - usedBytes), 0);
    const freeBytes = free[filesystem] ?? 0;
    return promisedBytes > freeBytes ? [{ filesystem, devices: here.map(({ id }) => id), promisedBytes, freeBytes }] : [];
  });
}
