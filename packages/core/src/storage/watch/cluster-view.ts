import { checkArgument } from "@seneschal/kernel";
import { type ClusterState, tooFewDevices } from "../cluster/state.ts";
import type { PoolState } from "../pool/thresholds.ts";
import { nextScrubAt } from "../scrub/plan.ts";
import { hasQuorum } from "../shard/lead.ts";
import type { Shard } from "../shard/map.ts";
import type { CapacityForecast } from "./forecast.ts";
import type { HealthFacts, NodeStatus, SystemDisk } from "./health.ts";

/** What a node sees: what all of them see together is the cluster's health. */
export interface NodeView {
  readonly unreachable_nodes: readonly string[];
  readonly key_manager_away: boolean;
  /** Tenants whose own key service does not answer. */
  readonly tenant_kms_away: readonly string[];
  /** Places of its metadata that are damaged. */
  readonly damage: readonly string[];
  /** Steps of its background work whose last run failed. */
  readonly failing_steps: readonly string[];
  /** The disk that keeps its own directory, while it can be looked at. */
  readonly system_disk: SystemDisk | undefined;
}

/** A node's view, and whose it is. */
export type SeenBy = NodeView & { readonly node: string };

/** Silent rounds in a row that make a device lost, and a key manager unreachable: one alone may be a moment's. */
export const lostAfter = 2;

/**
 * A node is unreachable as soon as one that answers does not reach it; else draining while it is being emptied; else degraded while a device
 * of it is anything but Healthy.
 *
 * @example
 * ```ts
 * import { emptyCluster, nodeStatus } from "@seneschal/core/storage";
 * console.log(nodeStatus(emptyCluster, [], "n1")); // healthy
 * ```
 */
export function nodeStatus(state: Pick<ClusterState, "nodes" | "devices">, seen: readonly NodeView[], id: string): NodeStatus {
  checkArgument("state", state, "object");
  checkArgument("seen", seen, "array");
  checkArgument("id", id, "string");
  if (seen.some((view) => view.unreachable_nodes.includes(id))) return "unreachable";
  if (state.nodes[id]?.state === "Draining") return "draining";
  const own = Object.values(state.devices).filter(({ node }) => node === id);
  return own.some((device) => device.state !== "Healthy" && device.state !== "Removed") ? "degraded" : "healthy";
}

/**
 * What a node is in a shard: a voter is a candidate while its shard has no leader that answers; who does not vote follows.
 *
 * @example
 * ```ts
 * import { roleIn } from "@seneschal/core/storage";
 * const shard = { leader: "n1", voters: ["n1", "n2"] };
 * console.log(roleIn(shard, "n1", true), roleIn(shard, "n2", false), roleIn(shard, "n3", false)); // leader candidate follower
 * ```
 */
export function roleIn(shard: Pick<Shard, "leader" | "voters">, node: string, led: boolean): "leader" | "follower" | "candidate" {
  checkArgument("shard", shard, "object");
  checkArgument("node", node, "string");
  checkArgument("led", led, "boolean");
  if (shard.leader === node && led) return "leader";
  return led || !shard.voters.includes(node) ? "follower" : "candidate";
}

/**
 * Whole hours by which the periodic scrub is late; 0 before the first one.
 *
 * @example
 * ```ts
 * import { scrubOverdueHours } from "@seneschal/core/storage";
 * console.log(scrubOverdueHours(0, 24, 26 * 3_600_000)); // 0
 * ```
 */
export function scrubOverdueHours(lastPeriodicScrubAt: number, intervalHours: number, now: number): number {
  checkArgument("now", now, "number");
  if (lastPeriodicScrubAt === 0) return 0;
  return Math.max(0, Math.floor((now - nextScrubAt(lastPeriodicScrubAt, intervalHours)) / 3_600_000));
}

/** How full a pool is. */
export interface PoolFilling {
  readonly id: string;
  readonly state: PoolState;
  readonly usedBytes: number;
  readonly capacityBytes: number;
  readonly forecast?: CapacityForecast;
}

/** What a node knows, of itself and of those that answer. */
export interface ClusterSight {
  readonly state: ClusterState;
  /** Of the node itself and of every one that answers. */
  readonly seen: readonly SeenBy[];
  readonly pools: readonly PoolFilling[];
  readonly flagsOf: (device: string, node: string) => readonly string[];
  /** The cluster's log takes commands. */
  readonly available: boolean;
  readonly reachable: (node: string) => boolean;
  readonly counts: Pick<HealthFacts, "lostChunks" | "shreddingTenants" | "failingWebhooks">;
  /** Milliseconds. */
  readonly now: number;
}

/**
 * The facts of health and alerts: whichever node is asked comes to the same, from what those that answer see together.
 *
 * @example
 * ```ts
 * import { emptyCluster, healthFacts } from "@seneschal/core/storage";
 * const counts = { lostChunks: 0, shreddingTenants: 0, failingWebhooks: [] };
 * const sight = { state: emptyCluster, seen: [], pools: [], flagsOf: () => [], available: true, reachable: () => true, counts, now: 0 };
 * console.log(healthFacts(sight).nodes); // []
 * ```
 */
export function healthFacts(sight: ClusterSight): HealthFacts {
  checkArgument("sight", sight, "object");
  const { state, seen, pools, flagsOf, available, reachable, counts, now } = sight;
  return {
    nodes: Object.values(state.nodes)
      .filter((node) => node.state !== "Evicted")
      .map(({ id }) => ({ id, status: nodeStatus(state, seen, id) })),
    devices: Object.values(state.devices).map(({ id, node, state: own }) => ({ id, state: own, flags: flagsOf(id, node) })),
    pools: pools.map(({ id, state: own, usedBytes, capacityBytes, forecast }) => ({
      tooFew: state.pools[id] && tooFewDevices(state, state.pools[id]),
      id,
      state: own,
      usedPercent: capacityBytes === 0 ? 100 : Math.round((100 * usedBytes) / capacityBytes),
      ...(typeof forecast?.fullAt === "number" && { hoursToFull: Math.max(0, (forecast.fullAt - now) / 3_600_000) }),
    })),
    shardsWithoutQuorum: state.shards.filter((shard) => !available || !hasQuorum(shard, reachable)).map(({ id }) => id),
    keyManagerReachable: !seen.some((view) => view.key_manager_away),
    unreachableTenantKms: new Set(seen.flatMap((view) => view.tenant_kms_away)).size,
    damage: [...new Set(seen.flatMap((view) => view.damage))],
    ...counts,
    scrubOverdueHours: scrubOverdueHours(state.lastPeriodicScrubAt, state.tuning.scrub_interval_h, now),
    failingSteps: seen.flatMap(({ node, failing_steps }) => failing_steps.map((step) => ({ node, step }))),
    systemDisks: seen.flatMap(({ node, system_disk }) => (system_disk === undefined ? [] : [{ node, ...system_disk }])),
  };
}
