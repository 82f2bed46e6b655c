import {
  type ClusterState,
  type Device,
  type DeviceFill,
  effectiveThresholds,
  freeBytes,
  type PoolFill,
  storageError,
} from "@seneschal/core/storage";
import { CodedError, isCoded } from "@seneschal/kernel";
import type { BlobDevice, DiskRoom } from "@seneschal/kernel/ports";
import type { ClusterChange, ClusterControl } from "../cluster/cluster-control.ts";
import type { Actor, StorageContext } from "../context.ts";
import type { NewDevice } from "../peers/new-device.ts";
import { refusedSetting } from "../refused-setting.ts";
import { admitCapacity, type DeviceAt } from "./disk-room.ts";
import { createKeyedLock } from "./keyed-lock.ts";

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

/** Opens a directory as a device, where the settings allow it; `known`: it was opened before, and must still be there. */
export type OpenDevice = (device: {
  readonly id: string;
  readonly directory: string;
  readonly capacityBytes: number;
  readonly known: boolean;
  /** Directories that other devices of this node were given while it ran. */
  readonly taken: readonly string[];
  /** Throws what keeps a device from being made at an allowed place. */
  readonly admit?: ((directory: string) => Promise<void>) | undefined;
}) => Promise<BlobDevice>;

/** The devices that a node was given while it ran: the cluster's state says which, and where they are. */
export interface LocalDevices {
  /** Opens the directory, then tells the cluster; when that fails for certain, nothing has changed. */
  add(device: NewDevice, actor: Actor): Promise<void>;
  /** Opens what the cluster says that this node has, at its start. Throws `config_invalid` for a directory that is not allowed any more. */
  reopen(): Promise<void>;
  /** Opens and closes what the cluster's changes say. */
  follow(change: ClusterChange): Promise<void>;
}

export function createLocalDevices(
  context: StorageContext,
  cluster: ClusterControl,
  devices: DeviceSet,
  open: OpenDevice | undefined,
  /** This node's devices that take writes, and where they are. */
  places: () => readonly DeviceAt[],
): LocalDevices {
  const { nodeId } = context;
  /** Two openings of one directory would write it over each other. */
  const locked = createKeyedLock();
  const own = (): readonly Device[] => Object.values(cluster.state.devices).filter((d) => d.node === nodeId);
  const opened = async (
    device: Omit<NewDevice, "pool">,
    known: boolean,
    admit?: (directory: string) => Promise<void>,
  ): Promise<BlobDevice> => {
    if (open === undefined) throw new CodedError("directory_not_allowed", "this node opens no devices while it runs");
    const taken = own().flatMap((d) => (d.id === device.id || d.directory === undefined ? [] : [d.directory]));
    return open({ ...device, known, taken, admit });
  };
  /** A device that does not open is silent: the rounds say so, and give it up. */
  const openKnown = async (device: Device, directory: string): Promise<void> => {
    try {
      await devices.add(await opened({ id: device.id, directory, capacityBytes: device.capacityBytes }, true));
    } catch (error) {
      if (isCoded(error, "directory_not_allowed")) throw error;
      context.emit("critical", "device", `device ${device.id} does not open`, { device: device.id, error: String(error) });
    }
  };
  const close = async (id: string): Promise<void> => {
    const device = devices.get(id);
    devices.remove(id);
    await device?.close();
  };

  return {
    add: (device, actor) =>
      locked("add", async () => {
        const { id, pool, directory, capacityBytes } = device;
        const { pools, nodes, devices: known } = cluster.state;
        if (known[id] !== undefined) throw storageError("AlreadyExists", `device ${id} exists`, { field: "device_id" });
        const found = pools[pool];
        if (found === undefined) throw storageError("NotFound", `no such pool: ${pool}`, { field: "pool_id" });
        if (nodes[nodeId]?.state !== "Active")
          throw storageError("InvalidSetting", `node ${nodeId} is ${nodes[nodeId]?.state}: it takes no devices`, {
            field: "node_id",
          });
        const admit = (real: string) => admitCapacity({ id, directory: real, capacityBytes }, places());
        await devices.add(await opened({ id, directory, capacityBytes }, false, admit));
        const command = {
          kind: "device.add",
          device: { id, node: nodeId, pool, class: found.class, capacityBytes, directory },
        } as const;
        await cluster.propose(command, actor).catch(async (error: unknown) => {
          // What may be committed is opened again by its change, should that come.
          await close(id);
          throw error;
        });
      }),
    reopen: () =>
      locked("add", async () => {
        for (const device of own()) {
          const { id, directory, state } = device;
          if (directory === undefined || state === "Removed" || devices.get(id) !== undefined) continue;
          await openKnown(device, directory).catch((error: unknown) => {
            throw refusedSetting("storage.device_roots", (error as Error).message, error);
          });
        }
      }),
    follow: ({ command }) =>
      locked("add", async () => {
        const id = command.kind === "device.add" ? command.device.id : command.kind === "device.delete" ? command.id : "";
        const device = cluster.state.devices[id];
        if (device === undefined) {
          if (devices.isLocal(id)) await close(id);
        } else if (device.node === nodeId && device.directory !== undefined && devices.get(id) === undefined)
          await openKnown(device, device.directory);
      }),
  };
}
