import type { Device, DeviceClass } from "../device/types.ts";
import type { Durability } from "../pool/durability.ts";
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
  readonly state: NodeState;
  readonly joinedAt: number;
}

export interface Pool {
  readonly id: string;
  readonly class: DeviceClass;
  readonly durability: Durability;
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
  lastPeriodicScrubAt: 0,
};

/** True when writes to the shard are refused: the cluster or the shard is in maintenance. */
export function isReadOnly(state: ClusterState, shardId: string): boolean {
  return state.maintenance || state.shards.some((s) => s.id === shardId && s.maintenance);
}
