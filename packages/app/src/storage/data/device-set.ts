import type { ClusterState, PoolFill } from "@seneschal/core/storage";
import { effectiveThresholds } from "@seneschal/core/storage";
import type { BlobDevice } from "@seneschal/kernel/ports";

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
  /** Asks the device again; throws what the device throws. */
  measure(id: string): Promise<void>;
  /** What the node of a device says that it holds. */
  note(id: string, usedBytes: number): void;
  adjust(id: string, bytes: number): void;
  /** Holds room in a pool while a write is in flight; the result gives it back. */
  reserve(pool: string, bytes: number): () => void;
  reserved(pool: string): number;
}

export function createDeviceSet(): DeviceSet {
  const devices = new Map<string, BlobDevice>();
  const local = new Set<string>();
  const used = new Map<string, number>();
  const reservations = new Map<string, number>();
  const measure = async (id: string): Promise<void> => {
    const device = devices.get(id);
    if (device !== undefined) used.set(id, (await device.usage()).usedBytes);
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
    },
    ids: () => [...devices.keys()],
    isLocal: (id) => local.has(id),
    usedBytes: (id) => used.get(id) ?? 0,
    measure,
    note(id, usedBytes) {
      if (!local.has(id)) used.set(id, usedBytes);
    },
    adjust(id, bytes) {
      used.set(id, Math.max(0, (used.get(id) ?? 0) + bytes));
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

/** The fill of a pool over its devices that are not Failed or Removed; used space counts reservations. */
export function poolFill(state: ClusterState, devices: DeviceSet, poolId: string): PoolFill {
  const pool = state.pools[poolId];
  if (pool === undefined) throw new RangeError(`no pool ${poolId}`);
  let capacityBytes = 0;
  let usedBytes = devices.reserved(poolId);
  for (const device of Object.values(state.devices)) {
    if (device.pool !== poolId || device.state === "Failed" || device.state === "Removed") continue;
    capacityBytes += device.capacityBytes;
    usedBytes += devices.usedBytes(device.id);
  }
  return {
    id: poolId,
    class: pool.class,
    capacityBytes,
    usedBytes,
    thresholds: effectiveThresholds(pool.class, pool.thresholds),
  };
}
