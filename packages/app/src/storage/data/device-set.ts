import type { ClusterState, Device, DeviceFill, PoolFill } from "@seneschal/core/storage";
import { effectiveThresholds, freeBytes } from "@seneschal/core/storage";
import type { BlobDevice, DiskRoom } from "@seneschal/kernel/ports";

/** The devices that this node can reach, its own and other nodes', with their fill as last measured and as changed since. */
export interface DeviceSet {
  get(id: string): BlobDevice | undefined;
  /** A device of this node. */
  add(device: BlobDevice): Promise<void>;
  /** A device of another node, whose fill that node reports. */
  attach(device: BlobDevice): void;
  remove(id: string): void;
  /** All of them. */
  ids(): readonly string[];
  isLocal(id: string): boolean;
  usedBytes(id: string): number;
  /** The room of its file system, where that is known. */
  disk(id: string): DiskRoom | undefined;
  /** Asks the device again; throws what the device throws. */
  measure(id: string): Promise<void>;
  /** What the node of a device says that it holds, and what room it has. */
  note(id: string, usedBytes: number, disk: DiskRoom | undefined): void;
  /** Bytes that were written to it since it was asked. */
  adjust(id: string, bytes: number): void;
  /** Holds room in a pool while a write is in flight; the result gives it back. */
  reserve(pool: string, bytes: number): () => void;
  reserved(pool: string): number;
}

export function createDeviceSet(): DeviceSet {
  const devices = new Map<string, BlobDevice>();
  const local = new Set<string>();
  const used = new Map<string, number>();
  const disks = new Map<string, DiskRoom>();
  const reservations = new Map<string, number>();
  const keep = (id: string, usedBytes: number, disk: DiskRoom | undefined): void => {
    used.set(id, usedBytes);
    if (disk === undefined) disks.delete(id);
    else disks.set(id, disk);
  };
  const measure = async (id: string): Promise<void> => {
    const device = devices.get(id);
    if (device === undefined) return;
    const { usedBytes, disk } = await device.usage();
    keep(id, usedBytes, disk);
  };
  return {
    get: (id) => devices.get(id),
    async add(device) {
      devices.set(device.id, device);
      local.add(device.id);
      await measure(device.id);
    },
    attach(device) {
      devices.set(device.id, device);
    },
    remove(id) {
      devices.delete(id);
      local.delete(id);
      used.delete(id);
      disks.delete(id);
    },
    ids: () => [...devices.keys()],
    isLocal: (id) => local.has(id),
    usedBytes: (id) => used.get(id) ?? 0,
    disk: (id) => disks.get(id),
    measure,
    note(id, usedBytes, disk) {
      if (!local.has(id)) keep(id, usedBytes, disk);
    },
    adjust(id, bytes) {
      used.set(id, (used.get(id) ?? 0) + bytes);
      const disk = disks.get(id);
      if (disk !== undefined) disks.set(id, { ...disk, freeBytes: Math.max(0, disk.freeBytes - bytes) });
    },
    reserve(pool, bytes) {
      reservations.set(pool, (reservations.get(pool) ?? 0) + bytes);
      let held = true;
      return () => {
        if (held) reservations.set(pool, (reservations.get(pool) ?? 0) - bytes);
        held = false;
      };
    },
    reserved: (pool) => reservations.get(pool) ?? 0,
  };
}

/** How full a device is, as last measured. */
export function deviceFill(devices: DeviceSet, { id, node, capacityBytes }: Device): DeviceFill {
  const disk = devices.disk(id);
  return { capacityBytes, usedBytes: devices.usedBytes(id), disk: disk && { ...disk, id: `${node}/${disk.id}` } };
}

/**
 * The fill of a pool over its devices that are not Failed or Removed; used space counts reservations, and capacity what the file systems
 * of the devices hold of what they were given (`configuredBytes`).
 */
export function poolFill(
  state: ClusterState,
  devices: DeviceSet,
  poolId: string,
): PoolFill & { readonly configuredBytes: number } {
  const pool = state.pools[poolId];
  if (pool === undefined) throw new RangeError(`no pool ${poolId}`);
  const fills = Object.values(state.devices)
    .filter((device) => device.pool === poolId && device.state !== "Failed" && device.state !== "Removed")
    .map((device) => deviceFill(devices, device));
  const held = fills.reduce((sum, fill) => sum + fill.usedBytes, 0);
  return {
    id: poolId,
    class: pool.class,
    capacityBytes: held + freeBytes(fills),
    usedBytes: held + devices.reserved(poolId),
    configuredBytes: fills.reduce((sum, fill) => sum + fill.capacityBytes, 0),
    thresholds: effectiveThresholds(pool.class, pool.thresholds),
  };
}
