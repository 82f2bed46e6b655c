import type { Job } from "@seneschal/core/jobs";
import type { Device, RepairRecord, StorageEvent } from "@seneschal/core/storage";
import { effectiveThresholds, freeBytes, scopeKey, scopeOf } from "@seneschal/core/storage";
import { deviceFill } from "../data/devices.ts";
import { poolDurability, type StorageNode } from "../node.ts";
import { emptyFigures } from "../peers/node-report.ts";
import type { ClusterSample } from "../watch/monitor.ts";

const iso = (at: number) => new Date(at).toISOString();
const percent = (used: number, capacity: number) => (capacity === 0 ? 0 : Math.round((1000 * used) / capacity) / 10);

export function poolViews({ cluster, monitor }: StorageNode) {
  return monitor.pools().map(({ id, state, usedBytes, capacityBytes, forecast }) => {
    const pool = cluster.state.pools[id];
    const deviceClass = pool?.class ?? "custom";
    const t = effectiveThresholds(deviceClass, pool?.thresholds ?? {});
    return {
      pool_id: id,
      class: deviceClass,
      durability: poolDurability(cluster, id),
      state,
      capacity_bytes: capacityBytes,
      used_bytes: usedBytes,
      free_bytes: Math.max(0, capacityBytes - usedBytes),
      used_percent: percent(usedBytes, capacityBytes),
      device_count: Object.values(cluster.state.devices).filter((d) => d.pool === id && d.state !== "Removed").length,
      thresholds: { warning: t.warning, critical: t.critical, read_only: t.readOnly, full: t.full, target_fill: t.targetFill },
      growth_bytes_per_day: forecast?.bytesPerDay ?? null,
      full_at: forecast?.fullAt == null ? null : iso(forecast.fullAt),
    };
  });
}

function deviceView({ devices, monitor }: StorageNode, device: Device, evacuations: ReadonlyMap<string, Job>) {
  // Of a removed device nothing is kept that counts.
  const used = device.state === "Removed" ? 0 : devices.usedBytes(device.id);
  const reading = monitor.reading(device.id);
  const job = evacuations.get(device.id);
  const checkpoint = job?.checkpoint as
    | { readonly moved: number; readonly total: number; readonly bytes: number }
    | null
    | undefined;
  return {
    device_id: device.id,
    node_id: device.node,
    pool_id: device.pool,
    class: device.class,
    state: device.state,
    evacuated: device.evacuated,
    on_hold: device.hold !== undefined,
    reason: device.reason,
    since: iso(device.since),
    capacity_bytes: device.capacityBytes,
    used_bytes: used,
    used_percent: percent(used, used + freeBytes([deviceFill(devices, device)])),
    wear_percent: reading.wearPercent ?? null,
    bad_sectors: reading.badSectors ?? null,
    temperature_celsius: reading.temperatureCelsius ?? null,
    flags: [...monitor.flags(device.id)],
    evacuation:
      job === undefined
        ? null
        : { job_id: job.id, moved: checkpoint?.moved ?? 0, total: checkpoint?.total ?? 0, bytes: checkpoint?.bytes ?? 0 },
  };
}

/** All devices, each with its running evacuation. */
export async function deviceViews(node: StorageNode) {
  const running = await node.jobs.list({ state: "running", limit: 1000 });
  const evacuations = new Map(running.filter((j) => j.kind === "evacuation").map((j) => [j.params["device"] as string, j]));
  return Object.values(node.cluster.state.devices).map((device) => deviceView(node, device, evacuations));
}

export function clusterView(node: StorageNode) {
  const { cluster, monitor } = node;
  const { state } = cluster;
  const pools = poolViews(node);
  const capacity = pools.reduce((n, p) => n + p.capacity_bytes, 0);
  const used = pools.reduce((n, p) => n + p.used_bytes, 0);
  const nodes = monitor.facts().nodes;
  return {
    node_count: nodes.length,
    shard_count: state.shards.length,
    pool_count: pools.length,
    device_count: Object.values(state.devices).filter((d) => d.state !== "Removed").length,
    total_capacity_bytes: capacity,
    used_capacity_bytes: used,
    free_capacity_bytes: Math.max(0, capacity - used),
    health: monitor.health(),
    maintenance_mode: state.maintenance,
    leader_node: state.shards[0]?.leader ?? "",
    active_repairs: node.repair.active(),
    evacuating_devices: Object.values(state.devices).filter((d) => d.state === "Evacuating").length,
    pools,
    active_alerts: monitor.alerts().map((a) => ({ ...a })),
    sampled_at: iso(monitor.sampledAt()),
    total_nodes: nodes.length,
    healthy_nodes: nodes.filter((n) => n.status === "healthy").length,
    aggregate: monitor.figures(),
  };
}

export function nodeViews(node: StorageNode) {
  const { cluster, monitor, context } = node;
  const { state } = cluster;
  const members = Object.values(state.nodes).filter((member) => member.state !== "Evicted");
  return members.map((member) => {
    const own = member.id === context.nodeId;
    const peer = monitor.peer(member.id);
    const status = monitor.nodeStatus(member.id);
    const shards = state.shards.filter((s) => s.voters.includes(member.id));
    const summary = own ? monitor.figures() : (peer?.report.figures ?? emptyFigures);
    return {
      node_id: member.id,
      address: member.address,
      // Before the state of that name: readers of text take the first word.
      healthy: status === "healthy",
      status,
      device_count: Object.values(state.devices).filter((d) => d.node === member.id && d.state !== "Removed").length,
      shard_count: shards.length,
      role: Object.fromEntries(shards.map((s) => [s.id, s.leader === member.id ? ("leader" as const) : ("follower" as const)])),
      last_seen: iso(own ? context.clock.now() : (peer?.lastSeen ?? member.joinedAt)),
      metrics: { ...summary },
      summary,
    };
  });
}

export function shardViews({ cluster, objects, monitor }: StorageNode) {
  return cluster.state.shards.map((shard) => {
    const figures = objects.shards.of(shard.id);
    return {
      shard_id: shard.id,
      leader: shard.leader,
      voters: [...shard.voters],
      maintenance: cluster.state.maintenance || shard.maintenance,
      inline_threshold_bytes: shard.inlineThreshold,
      generation: shard.generation,
      delta_count: figures.deltas,
      bytes: Math.max(0, figures.bytes),
      object_count: Math.max(0, figures.objects),
      lag_seconds: monitor.lagSeconds(),
    };
  });
}

export function jobView(job: Job) {
  const checkpoint = job.checkpoint as { readonly done?: number; readonly total?: number } | null;
  const total = checkpoint?.total ?? 0;
  const { device, pool, node } = job.params as { readonly device?: string; readonly pool?: string; readonly node?: string };
  return {
    job_id: job.id,
    kind: job.kind,
    state: job.state,
    scope:
      job.kind === "scrub"
        ? scopeKey(scopeOf(job.params))
        : device !== undefined
          ? `device:${device}`
          : pool !== undefined
            ? `pool:${pool}`
            : node !== undefined
              ? `node:${node}`
              : "cluster",
    progress: {
      done: job.state === "succeeded" ? Math.max(total, checkpoint?.done ?? 0) : (checkpoint?.done ?? 0),
      total,
      fraction: job.progress,
    },
    created_at: iso(job.created_at),
    started_at: job.started_at === null ? null : iso(job.started_at),
    finished_at: job.finished_at === null ? null : iso(job.finished_at),
    created_by: job.created_by,
    result: job.result === null ? null : { ...job.result },
    error: job.error,
  };
}

export function eventView(event: StorageEvent) {
  return { ...event, timestamp: iso(event.timestamp), details: { ...event.details } };
}

export function repairView(record: RepairRecord) {
  return { ...record };
}

export function historyView(sample: ClusterSample) {
  const time = iso(sample.timestamp_ms);
  return { timestamp: time, time, ...sample };
}
