import type { ClusterState, Device, DeviceClass, Durability } from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import type { BlobDevice } from "@seneschal/kernel/ports";
import type { ClusterControl } from "../cluster/cluster-control.ts";
import { nodeActor } from "../context.ts";
import { refusedSetting } from "../refused-setting.ts";
import type { DeviceSet } from "./devices.ts";

/** A device that this node serves by its settings. */
export interface LocalDevice {
  readonly id: string;
  /** What its id or its pool is said by. */
  readonly setting?: (member: "id" | "pool") => string;
  /**
   * Opens its place. `known`: the cluster has it already, so that what was written to it must be there: an empty directory is not made
   * the device again, which is what a disk that is not mounted looks like. Throws `device_unavailable`.
   */
  readonly open: (known: boolean) => Promise<BlobDevice>;
  /** Where that is, where it is a directory. */
  readonly directory?: string;
  readonly pool: string;
  readonly class: DeviceClass;
  readonly capacityBytes: number;
}

/** What a node brings to the cluster. Addresses are `host:port`. */
export interface Membership {
  readonly nodeId: string;
  readonly address: string;
  readonly dataAddress: string;
  /** Where other nodes ask how this one is; absent: nobody does. */
  readonly peerAddress?: string;
  /** Nodes that must have joined before the shards are laid out; default this one. */
  readonly expectedNodes?: number;
  readonly devices: readonly LocalDevice[];
  /** Pools to create when they are not there, with a durability of their own or by class and nodes. The first is where data goes. */
  readonly pools: readonly { readonly id: string; readonly class: DeviceClass; readonly durability?: Durability }[];
}

/**
 * Joins the cluster, creates the configured pools, adds new devices, lays out the shards. Repeats change nothing. Throws `config_invalid`,
 * before anything has changed, for a device of another node, and for one in a pool that neither the cluster nor this node's settings have.
 */
export async function joinCluster(options: Membership, cluster: ClusterControl, devices: DeviceSet): Promise<void> {
  const { nodeId: id, address, dataAddress, peerAddress = "" } = options;
  for (const local of options.devices) checkDevice(local, options, cluster.state);
  await cluster.propose({ kind: "node.join", node: { id, address, dataAddress, peerAddress } }, nodeActor);
  for (const { id: pool, class: deviceClass, durability } of options.pools) {
    if (cluster.state.pools[pool] !== undefined) continue;
    const explicit = durability === undefined ? {} : { durability };
    await unlessThere(cluster.propose({ kind: "pool.create", id: pool, class: deviceClass, ...explicit }, nodeActor));
  }
  // Their indexes are read side by side. Those that open are in the set also when one does not: who stops the node closes them.
  const opened = await Promise.allSettled(
    options.devices.map(async (local) => {
      const device = await openLocal(local, cluster.state.devices[local.id]);
      if (device !== undefined) await devices.add(device);
    }),
  );
  for (const result of opened) if (result.status === "rejected") throw result.reason;
  for (const local of options.devices) {
    if (cluster.state.devices[local.id] !== undefined) continue;
    const { pool, class: deviceClass, capacityBytes } = local;
    await cluster.propose(
      { kind: "device.add", device: { id: local.id, node: id, pool, class: deviceClass, capacityBytes } },
      nodeActor,
    );
  }
  await cluster.propose({ kind: "shards.init", nodes: options.expectedNodes ?? 1 }, nodeActor);
}

function checkDevice({ id, pool, setting }: LocalDevice, { nodeId, pools }: Membership, state: ClusterState): void {
  const known = state.devices[id];
  const at = (member: "id" | "pool") => setting?.(member) ?? `device ${id}`;
  if (known !== undefined && known.node !== nodeId)
    throw refusedSetting(at("id"), `device ${id} belongs to node ${known.node}: device ids are the cluster's, not the node's`);
  if (known === undefined && state.pools[pool] === undefined && !pools.some((one) => one.id === pool))
    throw refusedSetting(at("pool"), `there is no pool ${pool}: name one of storage.pools, or one that the cluster has`);
}

/** A device that was given up already may be gone for good: then it is not opened. */
async function openLocal(local: LocalDevice, known: Device | undefined): Promise<BlobDevice | undefined> {
  try {
    return await local.open(known !== undefined);
  } catch (error) {
    if (isCoded(error, "device_unavailable") && (known?.state === "Failed" || known?.state === "Removed")) return undefined;
    throw error;
  }
}

/** Two nodes may create the same pool at once: the second finds it. */
async function unlessThere(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!isCoded(error, "AlreadyExists")) throw error;
  }
}
