import { deviceBytes } from "@seneschal/adapters/devices";
import { roomAt } from "@seneschal/adapters/files";
import { type Overcommitment, overcommitted, type PlacedDevice, storageError } from "@seneschal/core/storage";

/** A device and where it is, or is to be. */
export interface DeviceAt {
  readonly id: string;
  readonly directory: string;
  readonly capacityBytes: number;
  /** What it holds, where that is known. */
  readonly usedBytes?: number;
}

/**
 * The disks that have less room than the devices on them may still take. What is on a disk that does not answer is passed over.
 */
export async function overcommittedDisks(devices: readonly DeviceAt[]): Promise<readonly Overcommitment[]> {
  const free: Record<string, number> = {};
  const placed: (PlacedDevice & DeviceAt)[] = [];
  for (const device of devices) {
    const room = await roomAt(device.directory).catch(() => undefined);
    if (room === undefined) continue;
    free[room.filesystem] = room.freeBytes;
    placed.push({ ...device, filesystem: room.filesystem, usedBytes: device.usedBytes ?? 0 });
  }
  const suspects = new Set(overcommitted(placed, free).map(({ filesystem }) => filesystem));
  if (suspects.size === 0) return [];
  // What is deleted and not cleared away yet is of the capacity too. It is looked for where it matters alone: there may be many segments.
  const there = placed.filter(({ filesystem }) => suspects.has(filesystem));
  const measured = there.map(async (device) => {
    const onDisk = await deviceBytes(device.directory).catch(() => 0);
    return { ...device, usedBytes: Math.max(device.usedBytes, onDisk) };
  });
  return overcommitted(await Promise.all(measured), free);
}

/**
 * Throws `InvalidSetting` for a device more that its disk has no room for beside what `others`, those of its node, may take. One of the
 * settings is told of and not refused: whatever else fills a disk is no reason for a node not to start, and a development set-up has the
 * disk that it has.
 */
export async function admitCapacity(device: DeviceAt, others: readonly DeviceAt[]): Promise<void> {
  const found = (await overcommittedDisks([...others, device])).find(({ devices }) => devices.includes(device.id));
  if (found === undefined) return;
  const beside = found.devices.length > 1 ? ` beside the other devices on its disk, ${found.promisedBytes} with them` : "";
  throw storageError(
    "InvalidSetting",
    `device ${device.id}: its disk has ${found.freeBytes} bytes free, and it may take ${device.capacityBytes}${beside}`,
    { field: "capacity_bytes" },
  );
}
