import {
  type Alert,
  type Announcement,
  activeAlerts,
  afterVerdict,
  announceDisk,
  announceFlags,
  announceFollowing,
  announceInlineThreshold,
  announceNode,
  announcePool,
  announceRoom,
  type CapacityForecast,
  type ClusterHealth,
  clusterHealth,
  createEdges,
  createHistory,
  type Device,
  effectiveThresholds,
  forecastCapacity,
  type HealthFacts,
  type History,
  healthFacts,
  lostAfter,
  type NodeStatus,
  type NodeView,
  nodeStatus,
  type Overcommitment,
  type PoolFill,
  type PoolFilling,
  poolState,
  roleIn,
  type Sample,
  type SeenBy,
  type SmartReading,
  type SmartVerdict,
  smallFileBudget,
  smartVerdict,
  stepInlineThreshold,
} from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import type { Background } from "../../platform/index.ts";
import type { ClusterControl } from "../cluster/cluster-control.ts";
import type { ShardStats } from "../cluster/shards.ts";
import { nodeActor, type StorageContext } from "../context.ts";
import { type DeviceSet, poolFill } from "../data/devices.ts";
import type { ChunkRepair } from "../data/rebuild-chunk.ts";
import type { KeyManager } from "../keys/key-manager.ts";
import type { TenantKeys } from "../keys/tenant-keys.ts";
import type { NodeFigures } from "../peers/node-report.ts";
import type { Peers, PeerView } from "../peers/open-peers.ts";

/** One sample of the cluster. */
export interface ClusterSample {
  readonly timestamp_ms: number;
  readonly capacity_bytes: number;
  readonly used_bytes: number;
  readonly healthy_nodes: number;
  readonly total_nodes: number;
  readonly summary: NodeFigures;
}

export interface MonitorParts {
  readonly context: StorageContext;
  readonly cluster: ClusterControl;
  readonly devices: DeviceSet;
  readonly repair: ChunkRepair;
  readonly keys: KeyManager;
  readonly tenants: TenantKeys;
  readonly shards: ShardStats;
  readonly readSmart: (device: string) => Promise<SmartReading | undefined>;
  /** Begins the evacuation of a device that its readings condemn. */
  readonly evacuate: (device: string, reason: string, reading: SmartReading) => Promise<void>;
  /** A device stopped answering: its fragments must be rebuilt. */
  readonly onLost: (device: string) => Promise<void>;
  readonly transportConnections: () => number;
  /** Places of the metadata that are damaged. */
  readonly damage: () => readonly string[];
  /** Disks of this node that have less room than the devices on them may still take. */
  readonly overcommitted: () => Promise<readonly Overcommitment[]>;
  /** Fill of the disk that keeps metadata, percent; soft and hard limit. */
  readonly systemDisk: () => Promise<{
    readonly percent: number;
    readonly soft: number;
    readonly hard: number;
    readonly freeBytes: number;
  }>;
  readonly peers: Peers;
  readonly background: Background;
}

/** Samples the node and its devices, keeps history, and turns changes into events and automatic actions. */
export interface Monitor {
  readonly history: History<ClusterSample>;
  sample(): Promise<void>;
  facts(): HealthFacts;
  health(): ClusterHealth;
  alerts(): readonly Alert[];
  figures(): NodeFigures;
  /** What this node sees, for the others. */
  view(): NodeView;
  reading(device: string): SmartReading;
  flags(device: string): readonly string[];
  /** Forecasts as of the last round; absent until enough was seen. */
  pools(): readonly PoolFilling[];
  nodeStatus(id: string): NodeStatus;
  peer(id: string): PeerView | undefined;
  /** Follows the log, and its own devices answer. */
  ready(): boolean;
  /** Age of what this node knows of the cluster state; 0 when caught up. */
  lagSeconds(): number;
  /** When the last sample was taken. */
  sampledAt(): number;
}

export function createMonitor(parts: MonitorParts): Monitor {
  const { context, cluster, devices, background, metrics } = { ...parts, metrics: parts.context.metrics };
  const tell = ({ severity, category, message, details }: Announcement): void =>
    context.emit(severity, category, message, details);
  const history = createHistory<ClusterSample>();
  /** What each pool held, for the forecasts. */
  const filling = createHistory<Sample & { readonly pools: Readonly<Record<string, PoolFill>> }>();
  let forecasts: Readonly<Record<string, CapacityForecast | undefined>> = {};
  const edges = createEdges<string>();
  const readings = new Map<string, SmartReading>();
  const verdicts = new Map<string, SmartVerdict>();
  const silent = new Map<string, number>();
  /** Devices of this node that may take more than their disks have, as of the last look. */
  let crowded: ReadonlyMap<string, Overcommitment> = new Map();
  /** Devices whose file systems are known to have refused a write. */
  const fullDisks = new Set<string>();
  let disk: Awaited<ReturnType<MonitorParts["systemDisk"]>> | undefined;
  let deltas = 0;
  /** Of the metadata, as of the last look: the same for every node, and after a restart. */
  let counts = { lostChunks: 0, shreddingTenants: 0, failingWebhooks: [] as readonly string[] };
  let sampledAt = context.clock.now();
  let refreshedAt = sampledAt;
  let caughtUp = true;
  /** As of the last round. */
  let followed = true;
  /** 0 while every look at the store succeeds; else the age of the last good one. */
  const lagSeconds = () => (caughtUp ? 0 : (context.clock.now() - refreshedAt) / 1000);

  const pools: Monitor["pools"] = () =>
    Object.keys(cluster.state.pools).map((id) => {
      const fill = poolFill(cluster.state, devices, id);
      return {
        id,
        state: poolState(fill.usedBytes, fill.capacityBytes, fill.thresholds),
        usedBytes: fill.usedBytes,
        capacityBytes: fill.capacityBytes,
        ...(forecasts[id] === undefined ? {} : { forecast: forecasts[id] }),
      };
    });

  /** Notes what the pools hold, and foretells from what they held since this process began, a day at most, when they are full. */
  const foretell = (): void => {
    const now = context.clock.now();
    const fills = Object.keys(cluster.state.pools).map((id) => [id, poolFill(cluster.state, devices, id)] as const);
    filling.add({ timestamp_ms: now, pools: Object.fromEntries(fills) });
    const seen = filling.query(24, now);
    forecasts = Object.fromEntries(
      fills.map(([id, { class: deviceClass }]) => {
        const points = seen.flatMap(({ timestamp_ms: at, pools: { [id]: fill } }) =>
          fill === undefined ? [] : [{ at, ...fill }],
        );
        const overrides = cluster.state.pools[id]?.thresholds ?? {};
        return [id, forecastCapacity(points, effectiveThresholds(deviceClass, overrides).full)];
      }),
    );
    metrics.poolTimeToFull.reset();
    for (const [pool, forecast] of Object.entries(forecasts))
      if (typeof forecast?.fullAt === "number") metrics.poolTimeToFull.set({ pool }, Math.max(0, (forecast.fullAt - now) / 1000));
  };

  const view: Monitor["view"] = () => ({
    unreachable_nodes: Object.values(cluster.state.nodes)
      .filter((n) => n.state !== "Evicted" && !parts.peers.reachable(n.id))
      .map((n) => n.id),
    key_manager_away: !parts.keys.reachable,
    tenant_kms_away: parts.tenants.unreachable(),
    damage: parts.damage(),
    failing_steps: background.failing(),
    system_disk: disk && { percent: disk.percent, soft: disk.soft, hard: disk.hard },
  });

  /** What this node and those that answer see: all of them come to the same. */
  const views = (): readonly SeenBy[] =>
    Object.keys(cluster.state.nodes).flatMap((node) => {
      if (node === context.nodeId) return [{ node, ...view() }];
      const peer = parts.peers.reachable(node) ? parts.peers.view(node) : undefined;
      return peer === undefined ? [] : [{ node, ...peer.report.view }];
    });

  const flagsOf = (device: string, node: string): readonly string[] => {
    if (node === context.nodeId)
      return [
        ...(verdicts.get(device)?.flags ?? []),
        ...(crowded.has(device) ? ["capacity_beyond_disk"] : []),
        ...(devices.disk(device)?.refused === true ? ["disk_full"] : []),
      ];
    return parts.peers.view(node)?.report.devices.find((d) => d.device_id === device)?.flags ?? [];
  };

  const statusOf: Monitor["nodeStatus"] = (id) => nodeStatus(cluster.state, views(), id);

  const facts: Monitor["facts"] = () =>
    healthFacts({
      state: cluster.state,
      seen: views(),
      pools: pools(),
      flagsOf,
      available: cluster.status().available,
      reachable: parts.peers.reachable,
      counts,
      now: context.clock.now(),
    });

  const figures: Monitor["figures"] = () => ({
    raft_entries: cluster.status().entries,
    chunk_write_bytes: counterValue(metrics.chunkWriteBytes),
    chunk_read_bytes: counterValue(metrics.chunkReadBytes),
    gateway_requests: counterValue(metrics.gatewayRequests),
    transport_connections: parts.transportConnections(),
    shard_deltas: deltas,
  });

  /** Each device is watched by its node. */
  const watched = (): readonly Device[] =>
    Object.values(cluster.state.devices).filter(
      (device) => device.node === context.nodeId && device.state !== "Failed" && device.state !== "Removed",
    );

  const watchDevice = async ({ id }: Device): Promise<void> => {
    try {
      await devices.measure(id);
      if (devices.get(id) === undefined) throw new Error("not open");
      silent.delete(id);
      watchDisk(id);
    } catch {
      const times = (silent.get(id) ?? 0) + 1;
      silent.set(id, times);
      if (times >= lostAfter) await parts.onLost(id);
      return;
    }
    await watchSmart(id);
  };

  const watchDisk = (id: string): void => {
    const disk = devices.disk(id);
    if (disk === undefined) metrics.deviceDiskFree.remove({ device: id });
    else metrics.deviceDiskFree.set({ device: id }, disk.freeBytes + disk.deadBytes);
    const full = disk?.refused === true;
    if (full === fullDisks.has(id)) return;
    if (full) fullDisks.add(id);
    else fullDisks.delete(id);
    tell(announceDisk(id, full));
  };

  /** A device that does not answer is told of already. */
  const reclaim = async ({ id }: Device): Promise<void> => {
    try {
      await devices.get(id)?.reclaim?.();
    } catch (error) {
      if (!isCoded(error, "device_unavailable")) throw error;
    }
  };

  const watchSmart = async (id: string): Promise<void> => {
    const device = cluster.state.devices[id];
    let found: SmartReading | undefined;
    try {
      found = await parts.readSmart(id);
    } catch (error) {
      if (edges.observe(`smart/${id}`, "unreadable") !== undefined)
        context.emit("warning", "device", "SMART data cannot be read", { device: id, error: (error as Error).message });
      return;
    }
    edges.observe(`smart/${id}`, "read");
    if (device === undefined || (found === undefined && !readings.has(id))) return;
    const reading = found ?? {};
    if (!readings.has(id)) edges.observe(`flags/${id}`, "");
    readings.set(id, reading);
    const verdict = smartVerdict(device.class, reading);
    verdicts.set(id, verdict);
    for (const [gauge, value] of [
      [metrics.deviceWear, reading.wearPercent],
      [metrics.deviceBadSectors, reading.badSectors],
      [metrics.deviceTemperature, reading.temperatureCelsius],
    ] as const)
      if (value === undefined) gauge.remove({ device: id });
      else gauge.set({ device: id }, value);
    if (edges.observe(`flags/${id}`, verdict.flags.join(",")) !== undefined) tell(announceFlags(id, verdict.flags));
    const reason = verdict.reasons.join("; ");
    for (const step of afterVerdict(device.state, verdict))
      if (step === "degrade") await cluster.propose({ kind: "device.event", id, event: { kind: "degrade", reason } }, nodeActor);
      else await parts.evacuate(id, reason, reading);
  };

  const watchRoom = async (): Promise<void> => {
    const found = await parts.overcommitted();
    const now = new Map(found.flatMap((disk) => disk.devices.map((id) => [id, disk] as const)));
    for (const { id } of watched()) if (now.has(id) !== crowded.has(id)) tell(announceRoom(id, now.get(id)));
    crowded = now;
  };

  /** Each shard is watched by its leader. While nobody knows how full the disk is, thresholds stay as they are. */
  const watchShards = async (): Promise<void> => {
    disk = await background.step("system disk", parts.systemDisk);
    if (disk === undefined) return;
    for (const shard of cluster.state.shards) {
      const { objects } = parts.shards.of(shard.id);
      const step = stepInlineThreshold({
        current: shard.inlineThreshold,
        smallFileBudgetBytes: smallFileBudget(disk.freeBytes, cluster.state.shards.length),
        fileCountEstimate: objects,
        systemDiskPercent: disk.percent,
        softLimitPercent: disk.soft,
        hardLimitPercent: disk.hard,
        inlineWriteRate: parts.shards.inlineRate(shard.id),
      });
      metrics.shardInlineThreshold.set({ shard: shard.id }, step.effective);
      if (edges.observe(`inline/${shard.id}`, step.reason) !== undefined)
        // Reported outside consensus as well: a full disk may be unable to write the log.
        tell(announceInlineThreshold(shard.id, step, disk.percent));
      if (shard.leader === context.nodeId && step.value < shard.inlineThreshold)
        await cluster.propose({ kind: "shard.inline", id: shard.id, threshold: step.value, automatic: true }, nodeActor);
    }
  };

  /** The rest of the cluster, as far as it answers; false when the log or the metadata does not. */
  const follow = async (): Promise<boolean> => {
    await parts.peers.sample(Object.values(cluster.state.nodes));
    caughtUp = false;
    try {
      await cluster.refresh();
      refreshedAt = context.clock.now();
      caughtUp = true;
    } catch (error) {
      if (!isCoded(error, "QuorumLost", "ShardUnavailable")) throw error;
    } finally {
      metrics.viewLag.set({ view: "cluster" }, lagSeconds());
    }
    if (caughtUp !== followed) tell(announceFollowing(caughtUp));
    followed = caughtUp;
    return caughtUp;
  };

  let scrubbedAt = 0;
  const publish = (): void => {
    // Of the cluster, whichever node scrubbed and however often this one was started; a later one that somebody asked for here stays.
    const { lastPeriodicScrubAt } = cluster.state;
    if (lastPeriodicScrubAt > scrubbedAt) metrics.scrubLastSuccess.set(lastPeriodicScrubAt / 1000);
    scrubbedAt = lastPeriodicScrubAt;
    for (const pool of pools()) {
      metrics.poolCapacity.set({ pool: pool.id }, pool.capacityBytes);
      metrics.poolUsed.set({ pool: pool.id }, pool.usedBytes);
      metrics.poolFree.set({ pool: pool.id }, Math.max(0, pool.capacityBytes - pool.usedBytes));
      for (const state of ["normal", "warning", "critical", "read_only", "full"] as const)
        metrics.poolState.set({ pool: pool.id, state }, state === pool.state ? 1 : 0);
      const before = edges.observe(`pool/${pool.id}`, pool.state)?.before;
      if (before !== undefined) tell(announcePool(pool.id, before, pool.state));
    }
    metrics.deviceState.reset();
    for (const device of Object.values(cluster.state.devices))
      metrics.deviceState.set({ device: device.id, state: device.state }, 1);
    deltas = 0;
    for (const shard of cluster.state.shards) {
      const f = parts.shards.of(shard.id);
      deltas += f.deltas;
      metrics.shardDeltas.set({ shard: shard.id }, f.deltas);
      metrics.shardBytes.set({ shard: shard.id }, f.bytes);
      metrics.maintenanceMode.set({ shard: shard.id }, cluster.state.maintenance || shard.maintenance ? 1 : 0);
      const role = roleIn(shard, context.nodeId, cluster.status().available && parts.peers.reachable(shard.leader));
      for (const state of ["leader", "follower", "candidate"] as const)
        metrics.raftState.set({ shard: shard.id, state }, state === role ? 1 : 0);
      const leader = edges.observe(`leader/${shard.id}`, shard.leader);
      if (leader !== undefined) {
        metrics.raftLeaderChanges.inc({ shard: shard.id });
        context.emit("info", "shard", `leader changed from ${leader.before} to ${shard.leader}`, { shard: shard.id });
      }
    }
    for (const id of Object.keys(cluster.state.nodes)) {
      const status = statusOf(id);
      const before = edges.observe(`node/${id}`, status)?.before;
      const told = before === undefined ? undefined : announceNode(id, before, status);
      if (told !== undefined) tell(told);
    }
  };

  return {
    history,
    facts,
    pools,
    nodeStatus: statusOf,
    figures,
    view,
    peer: (id) => parts.peers.view(id),
    ready: () => cluster.status().available && silent.size === 0,
    sampledAt: () => sampledAt,
    lagSeconds,
    health: () => clusterHealth(facts()),
    alerts: () => activeAlerts(facts()),
    reading: (device) => readings.get(device) ?? {},
    flags: (device) => flagsOf(device, cluster.state.devices[device]?.node ?? context.nodeId),
    async sample() {
      const following = await background.step("cluster view", follow);
      await background.step("key manager", () => parts.keys.watch());
      if (following) {
        await background.step("counts", async () => {
          const lostChunks = await context.store.count("storage_chunks", "lost", []);
          const failing = await context.store.list("storage_webhooks", "failing", [], { limit: 100 });
          const failingWebhooks = failing.items.map(({ id }) => id);
          counts = { lostChunks, shreddingTenants: await parts.tenants.shredding(), failingWebhooks };
        });
        await background.each("device reclaim", watched(), reclaim);
        await background.each("devices", watched(), watchDevice);
        await background.step("disk room", watchRoom);
        await background.step("shards", watchShards);
      }
      await background.step("sample", async () => {
        foretell();
        publish();
        const all = pools();
        const nodes = facts().nodes;
        history.add({
          timestamp_ms: context.clock.now(),
          capacity_bytes: all.reduce((n, p) => n + p.capacityBytes, 0),
          used_bytes: all.reduce((n, p) => n + p.usedBytes, 0),
          healthy_nodes: nodes.filter((n) => n.status === "healthy" || n.status === "degraded").length,
          total_nodes: nodes.length,
          summary: figures(),
        });
        sampledAt = context.clock.now();
      });
    },
  };
}

/** Sum over all label sets of a counter. prom-client keeps them in `hashMap`, its only synchronous door. */
function counterValue(counter: unknown): number {
  const { hashMap } = counter as { readonly hashMap: Readonly<Record<string, { readonly value: number }>> };
  return Object.values(hashMap).reduce((n, { value }) => n + value, 0);
}
