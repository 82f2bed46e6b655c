import { checkArgument } from "@seneschal/kernel";
import type { Device, DeviceClass } from "../device/types.ts";
import { acknowledgeOf, classDurability, clusterDurability, type Durability, stripeOf } from "../pool/durability.ts";
import type { ThresholdOverrides } from "../pool/thresholds.ts";
import type { Shard } from "../shard/map.ts";
import { defaultTuning, type Tuning } from "../tuning.ts";

export type NodeState = "Active" | "Degraded" | "Failed" | "Draining" | "Evicted";

/** A member of the cluster. Addresses are `host:port`; the id is never one of them. */
export interface ClusterNode {
  readonly id: string;
  /** Admin HTTP. */
  readonly address: string;
  /** gRPC data path. */
  readonly dataAddress: string;
  /** The peers' port; empty for a node that has none. */
  readonly peerAddress: string;
  readonly state: NodeState;
  readonly joinedAt: number;
}

export interface Pool {
  readonly id: string;
  readonly class: DeviceClass;
  /** Absent: by the class on one node, by the number of nodes on several; see {@link durabilityOf}. */
  readonly durability?: Durability;
  readonly thresholds: ThresholdOverrides;
}

/** Everything the nodes of a cluster agree on. A JSON value: it is the snapshot of the replicated log as it is. */
export interface ClusterState {
  readonly nodes: Readonly<Record<string, ClusterNode>>;
  readonly pools: Readonly<Record<string, Pool>>;
  readonly devices: Readonly<Record<string, Device>>;
  readonly shards: readonly Shard[];
  /** The cluster's switch; shards have their own beside it. */
  readonly maintenance: boolean;
  readonly tuning: Tuning;
  /** Epoch of the newest master key; 0 before the first. */
  readonly keyEpoch: number;
  /** Tenants' keys destroyed. */
  readonly shreds: number;
  /** When the last periodic scrub finished. */
  readonly lastPeriodicScrubAt: number;
}

export const emptyCluster: ClusterState = {
  nodes: {},
  pools: {},
  devices: {},
  shards: [],
  maintenance: false,
  tuning: defaultTuning,
  keyEpoch: 0,
  shreds: 0,
  lastPeriodicScrubAt: 0,
};

/**
 * How new chunks of a pool are spread, and how many fragments must land before a write is acknowledged.
 *
 * @example
 * ```ts
 * import { durabilityOf, emptyCluster } from "@seneschal/core/storage";
 * const node = { id: "n1", address: "", dataAddress: "", peerAddress: "", state: "Active", joinedAt: 0 } as const;
 * const pool = { id: "p1", class: "ssd", thresholds: {} } as const;
 * const device = { id: "d1", node: "n1", pool: "p1", class: "ssd", capacityBytes: 1000, state: "Healthy", evacuated: false, reason: "", since: 0 } as const;
 * const state = { ...emptyCluster, nodes: { n1: node }, pools: { p1: pool }, devices: { d1: device } };
 * console.log(durabilityOf(state, pool)); // { durability: { kind: 'ec', data: 4, parity: 2 }, acknowledge: 5 }
 * ```
 */
export function durabilityOf(
  state: Pick<ClusterState, "pools" | "devices">,
  pool: Pool,
): { readonly durability: Durability; readonly acknowledge: number } {
  checkArgument("state", state, "object");
  checkArgument("pool", pool, "object");
  if (pool.durability === undefined) {
    const { copies, stripe, acknowledge } = clusterDurability(nodesOf(state, pool).size);
    if (stripe !== undefined) return { durability: { kind: "ec", ...stripe }, acknowledge };
    if (copies > 1) return { durability: { kind: "replication", copies }, acknowledge };
  }
  const durability = pool.durability ?? classDurability[pool.class];
  return { durability, acknowledge: acknowledgeOf(durability) };
}

/**
 * True while a device can take new fragments.
 *
 * @example
 * ```ts
 * import { emptyCluster, takesWrites } from "@seneschal/core/storage";
 * const node = { id: "n1", address: "", dataAddress: "", peerAddress: "", state: "Active", joinedAt: 0 } as const;
 * const pool = { id: "p1", class: "ssd", thresholds: {} } as const;
 * const device = { id: "d1", node: "n1", pool: "p1", class: "ssd", capacityBytes: 1000, state: "Healthy", evacuated: false, reason: "", since: 0 } as const;
 * const state = { ...emptyCluster, nodes: { n1: node }, pools: { p1: pool }, devices: { d1: device } };
 * console.log(takesWrites(state, device), takesWrites(state, { ...device, state: "Failed" })); // true false
 * ```
 */
export function takesWrites(state: Pick<ClusterState, "nodes">, device: Device): boolean {
  checkArgument("state", state, "object");
  checkArgument("device", device, "object");
  const node = state.nodes[device.node]?.state;
  return (device.state === "Healthy" || device.state === "Degraded") && (node === "Active" || node === "Degraded");
}

/**
 * The devices of a pool that take writes, and how many of them a chunk needs at least, where they are too few: then every write of
 * a chunk is refused. A pool without devices is full, and none of these.
 *
 * @example
 * ```ts
 * import { emptyCluster, tooFewDevices } from "@seneschal/core/storage";
 * const node = { id: "n1", address: "", dataAddress: "", peerAddress: "", state: "Active", joinedAt: 0 } as const;
 * const pool = { id: "p1", class: "ssd", thresholds: {} } as const;
 * const device = { id: "d1", node: "n1", pool: "p1", class: "ssd", capacityBytes: 1000, state: "Healthy", evacuated: false, reason: "", since: 0 } as const;
 * const state = { ...emptyCluster, nodes: { n1: node }, pools: { p1: pool }, devices: { d1: device } };
 * console.log(tooFewDevices({ ...state, devices: {} }, { ...pool, durability: { kind: "ec", data: 4, parity: 2 } })); // undefined
 * ```
 */
export function tooFewDevices(
  state: Pick<ClusterState, "pools" | "devices" | "nodes">,
  pool: Pool,
): { readonly found: number; readonly needed: number } | undefined {
  checkArgument("state", state, "object");
  checkArgument("pool", pool, "object");
  const own = Object.values(state.devices).filter((device) => device.pool === pool.id && device.state !== "Removed");
  const found = own.filter((device) => takesWrites(state, device)).length;
  const needed = durabilityOf(state, pool).acknowledge;
  return own.length > 0 && found < needed ? { found, needed } : undefined;
}

/**
 * How many fragments of one chunk a node may hold: an even share of them over the nodes of the pool. Those that do not answer
 * count as well: a fragment that finds no place waits for its node, while two on one node would be lost together. `answers`
 * counts only nodes that do, for what has waited long enough; at least a majority, so that no chunk gathers on one node.
 *
 * @example
 * ```ts
 * import { emptyCluster, nodeShare } from "@seneschal/core/storage";
 * const node = { id: "n1", address: "", dataAddress: "", peerAddress: "", state: "Active", joinedAt: 0 } as const;
 * const pool = { id: "p1", class: "ssd", thresholds: {} } as const;
 * const device = { id: "d1", node: "n1", pool: "p1", class: "ssd", capacityBytes: 1000, state: "Healthy", evacuated: false, reason: "", since: 0 } as const;
 * const state = { ...emptyCluster, nodes: { n1: node }, pools: { p1: pool }, devices: { d1: device } };
 * console.log(nodeShare(state, pool, 6)); // 6
 * ```
 */
export function nodeShare(
  state: Pick<ClusterState, "devices" | "nodes">,
  pool: Pick<Pool, "id">,
  fragments: number,
  answers: (node: string) => boolean = () => true,
): number {
  checkArgument("state", state, "object");
  checkArgument("pool", pool, "object");
  checkArgument("fragments", fragments, "number");
  const staying = [...nodesOf(state, pool, (device) => device.state !== "Evacuating")];
  const nodes = staying.filter((n) => ["Active", "Degraded"].includes(state.nodes[n]?.state ?? "Active"));
  const counted = Math.max(nodes.filter(answers).length, Math.floor(nodes.length / 2) + 1);
  return Math.ceil(fragments / Math.max(1, Math.min(counted, nodes.length)));
}

/** What a caller measured of devices. */
export interface DevicesSeen {
  /** The device can be written to now. */
  readonly reached: (device: Device) => boolean;
  readonly usedBytes: (device: Device) => number;
  /** What it can still take. */
  readonly freeBytes: (device: Device) => number;
}

/**
 * Whether what lies on the devices of a pool that leave could lie as safely on those that stay: on as many Healthy devices as a chunk
 * has fragments, each with room for its share, and so that the loss of a node is covered where it is now. `refusal` says why not.
 *
 * @example
 * ```ts
 * import { emptyCluster, judgeLeave } from "@seneschal/core/storage";
 * const node = { id: "n1", address: "", dataAddress: "", peerAddress: "", state: "Active", joinedAt: 0 } as const;
 * const pool = { id: "p1", class: "ssd", thresholds: {} } as const;
 * const device = { id: "d1", node: "n1", pool: "p1", class: "ssd", capacityBytes: 1000, state: "Healthy", evacuated: false, reason: "", since: 0 } as const;
 * const state = { ...emptyCluster, nodes: { n1: node }, pools: { p1: pool }, devices: { d1: device } };
 * const seen = { reached: () => true, usedBytes: () => 10, freeBytes: () => 990 };
 * console.log(judgeLeave(state, pool, ({ id }) => id === "d1", seen).refusal !== undefined); // true
 * ```
 */
export function judgeLeave(
  state: Pick<ClusterState, "devices" | "nodes" | "pools">,
  pool: Pool,
  leaves: (device: Device) => boolean,
  seen: DevicesSeen,
): { readonly needed: number; readonly targets: number; readonly refusal?: string } {
  checkArgument("state", state, "object");
  checkArgument("pool", pool, "object");
  checkArgument("leaves", leaves, "function");
  checkArgument("seen", seen, "object");
  const { reached, usedBytes, freeBytes } = seen;
  const own = Object.values(state.devices).filter((d) => d.pool === pool.id && d.state !== "Failed" && d.state !== "Removed");
  const bytes = own.filter(leaves).reduce((sum, d) => sum + usedBytes(d), 0);
  const kept = own.filter((d) => !leaves(d) && (d.state === "Healthy" || d.state === "Degraded"));
  const staying = kept.filter(reached);
  const away = [...new Set(kept.filter((d) => !reached(d)).map((d) => d.node))];
  const share = Math.ceil(bytes / Math.max(1, staying.filter((d) => d.state === "Healthy").length));
  const able = staying.filter((d) => share <= freeBytes(d));
  const { data, parity } = stripeOf(durabilityOf(state, pool).durability);
  const needed = data + parity;
  const targets = able.filter((d) => d.state === "Healthy").length;
  // What is refused for a node that is away for a moment is not refused for ever, and whoever asks is told so.
  const no = (refusal: string) => ({
    needed,
    targets,
    refusal: away.length === 0 ? refusal : `${refusal} while devices of ${away.join(", ")} are not reached`,
  });
  if (targets < needed) return no(`needs ${needed} other Healthy devices with room in pool ${pool.id}, found ${targets}`);
  const gone = Object.fromEntries(own.filter(leaves).map((d) => [d.id, { ...d, state: "Evacuating" as const }]));
  const most = nodeShare({ nodes: state.nodes, devices: { ...state.devices, ...gone } }, pool, needed);
  const perNode = new Map<string, number>();
  for (const { node } of able) perNode.set(node, Math.min(most, (perNode.get(node) ?? 0) + 1));
  const places = [...perNode.values()].reduce((sum, n) => sum + n, 0);
  if (places < needed)
    return no(`leaves ${places} places for the ${needed} fragments of a chunk of pool ${pool.id}, ${most} a node`);
  if (most > parity && nodeShare(state, pool, needed) <= parity)
    return no(
      `would put ${most} of ${needed} fragments of a chunk of pool ${pool.id} on one node, whose loss would no longer be covered`,
    );
  return { needed, targets };
}

/** Nodes with devices in the pool that are not given up. */
function nodesOf(
  state: Pick<ClusterState, "devices">,
  pool: Pick<Pool, "id">,
  counts: (device: Device) => boolean = () => true,
): ReadonlySet<string> {
  const nodes = new Set<string>();
  for (const device of Object.values(state.devices))
    if (device.pool === pool.id && device.state !== "Failed" && device.state !== "Removed" && counts(device))
      nodes.add(device.node);
  return nodes;
}

/**
 * True when writes to the shard are refused: the cluster or the shard is in maintenance.
 *
 * @example
 * ```ts
 * import { emptyCluster, isReadOnly } from "@seneschal/core/storage";
 * console.log(isReadOnly({ ...emptyCluster, maintenance: true }, "s0")); // true
 * ```
 */
export function isReadOnly(state: ClusterState, shardId: string): boolean {
  checkArgument("state", state, "object");
  checkArgument("shardId", shardId, "string");
  return state.maintenance || state.shards.some((s) => s.id === shardId && s.maintenance);
}
