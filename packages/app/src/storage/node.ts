import { statfs } from "node:fs/promises";
import type { BackupTarget } from "@seneschal/adapters/backups";
import { isCoded, type JsonObject } from "@seneschal/core";
import type { BlobDevice, Clock, CryptoProvider, DocumentStore, Random, Vault } from "@seneschal/core/ports";
import {
  classDurability,
  createEventLog,
  type DeviceClass,
  type Durability,
  durabilityName,
  type EventLog,
  nextScrubAt,
  type ScrubScope,
  type SmartReading,
  scopeKey,
  storageError,
  stripeOf,
} from "@seneschal/core/storage";
import { type Job, type Jobs, openJobs } from "../platform/index.ts";
import { type ClusterControl, openClusterControl } from "./cluster/cluster-control.ts";
import { type Actor, nodeActor, type StorageContext } from "./context.ts";
import { createChunkStore } from "./data/chunk-store.ts";
import { createDeviceSet, type DeviceSet } from "./data/device-set.ts";
import { createFragmentIo } from "./data/fragment-io.ts";
import { type ChunkRepair, createChunkRepair } from "./data/rebuild-chunk.ts";
import { runBackup, snapshotId, targetOf } from "./jobs/backup.ts";
import { expireBackups, readManifest } from "./jobs/backup-manifest.ts";
import { countReferences } from "./jobs/chunk-pages.ts";
import { collectGarbage } from "./jobs/collect-garbage.ts";
import { runEvacuation } from "./jobs/evacuate.ts";
import type { MaintenanceParts } from "./jobs/parts.ts";
import { runRebalance } from "./jobs/rebalance.ts";
import { runRestore } from "./jobs/restore.ts";
import { runScrub } from "./jobs/scrub.ts";
import { createThrottle } from "./jobs/throttle.ts";
import { createKeyManager, type KeyManager } from "./keys/key-manager.ts";
import { createTenantKeys, type TenantKeys } from "./keys/tenant-keys.ts";
import type { ObjectServices } from "./objects/services.ts";
import { createStorageMetrics, type StorageMetrics } from "./watch/metrics.ts";
import { createMonitor, type Monitor } from "./watch/monitor.ts";
import { createShardStats } from "./watch/shard-stats.ts";

/** A device that this node serves. */
export interface LocalDevice {
  readonly device: BlobDevice;
  readonly pool: string;
  readonly class: DeviceClass;
  readonly capacityBytes: number;
}

export interface StorageNodeOptions {
  readonly nodeId: string;
  readonly address: string;
  readonly dataAddress: string;
  /** Opened with `storageSchema`. */
  readonly store: DocumentStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly crypto: CryptoProvider;
  readonly log: Parameters<typeof openJobs>[0]["log"];
  /** Seals the master keys. */
  readonly vault: Vault;
  /** A tenant's key service; default the node's own vault. */
  readonly vaultFor?: (tenant: string) => Vault;
  readonly kekTtlSeconds?: number;
  readonly devices: readonly LocalDevice[];
  /** Pools to create when they are not there: class and durability, default the class's. The first is where data goes. */
  readonly pools: readonly { readonly id: string; readonly class: DeviceClass; readonly durability?: Durability }[];
  readonly readSmart?: (device: string) => Promise<SmartReading | undefined>;
  /** Where backups go, by name; the first is the default. */
  readonly backups?: Readonly<Record<string, BackupTarget>>;
  /** What a backup has when its request does not say. */
  readonly backupDefaults?: { readonly retention_days: number; readonly include_data: boolean };
  /** Between two rounds that remove expired backups; default a day. */
  readonly backupCleanupMs?: number;
  /** The directory whose disk keeps the metadata, for the inline threshold. */
  readonly metadataDirectory?: string;
  readonly systemDiskLimits?: { readonly soft: number; readonly hard: number };
}

/** A storage node without its network surfaces. */
export interface StorageNode {
  readonly context: StorageContext;
  readonly cluster: ClusterControl;
  readonly devices: DeviceSet;
  readonly events: EventLog;
  readonly jobs: Jobs;
  readonly keys: KeyManager;
  readonly tenants: TenantKeys;
  readonly metrics: StorageMetrics;
  readonly monitor: Monitor;
  readonly objects: ObjectServices;
  readonly parts: MaintenanceParts;
  readonly repair: ChunkRepair;
  scrub(scope: ScrubScope, actor: Actor): Promise<Job>;
  backup(params: JsonObject, actor: Actor): Promise<Job>;
  /** `snapshot_id`; optionally `destination` and `pool_id`. */
  restore(params: JsonObject, actor: Actor): Promise<Job>;
  evacuate(device: string, actor: Actor): Promise<Job>;
  cancelEvacuation(device: string, actor: Actor): Promise<void>;
  rebalance(pool: string, actor: Actor): Promise<Job>;
  collectGarbage(actor: Actor): Promise<Job>;
  removeDevice(device: string, actor: Actor): Promise<void>;
  rotateKeys(actor: Actor): Promise<number>;
  /** One round of everything periodic: samples, garbage collection, due scrubs. */
  tick(): Promise<void>;
  /** Begins jobs and the ten-second rounds. */
  start(): void;
  stop(): Promise<void>;
  /** Connections of the gateways, by transport; the servers fill it in. */
  readonly connections: Map<string, number>;
}

const sampleMs = 10_000;

/** Puts a storage node together and brings the cluster state up to its configuration. */
export async function openStorageNode(options: StorageNodeOptions): Promise<StorageNode> {
  const { nodeId, store, clock, random, crypto, log } = options;
  const { backupDefaults = { retention_days: 7, include_data: false } } = options;
  const metrics = createStorageMetrics();
  const events = createEventLog();
  const context: StorageContext = {
    nodeId,
    store,
    clock,
    random,
    crypto,
    metrics,
    emit(severity, category, message, details = {}) {
      events.append({ timestamp: clock.now(), severity, category, message, source: nodeId, details });
      log[severity === "info" ? "info" : severity === "warning" ? "warn" : "error"]({ category, ...details }, message);
    },
  };
  const cluster = await openClusterControl(
    store,
    () => clock.now(),
    (seconds) => {
      for (const shard of cluster?.state.shards ?? []) {
        metrics.raftCommitLatency.observe({ shard: shard.id }, seconds);
        metrics.raftEntries.inc({ shard: shard.id });
      }
    },
  );
  const devices = createDeviceSet();
  await configure(options, cluster, devices);

  const keys = createKeyManager(context, options.vault);
  const tenants = createTenantKeys(context, {
    vaultFor: options.vaultFor ?? (() => options.vault),
    ...(options.kekTtlSeconds === undefined ? {} : { ttlSeconds: options.kekTtlSeconds }),
  });
  const io = createFragmentIo(context, cluster, devices);
  const repair = createChunkRepair(context, cluster, io);
  const shards = createShardStats(context);
  await shards.recount(cluster.state);
  const chunks = createChunkStore({
    context,
    cluster,
    devices,
    io,
    keys,
    tenants,
    defaultPool: () => options.pools[0]?.id ?? "",
    onBadFragments(chunk) {
      context.emit("warning", "device", "a read met bad fragments, parity covered them", { chunk });
      background(repair.check(chunk, { trigger: "under_replication", repair: true }));
    },
  });
  const objects: ObjectServices = { context, cluster, chunks, shards };
  let gcHolds = 0;
  const parts: MaintenanceParts = {
    context,
    cluster,
    devices,
    io,
    repair,
    objects,
    throttle: createThrottle(() => cluster.state.tuning.rebalance_rate_mb_s),
    keys,
    vault: options.vault,
    backups: options.backups ?? {},
    holdGc() {
      gcHolds += 1;
      return () => {
        gcHolds -= 1;
      };
    },
  };
  const jobs = openJobs({
    store,
    clock,
    random,
    log,
    kinds: {
      scrub: (job) => runScrub(parts, job),
      backup: (job) => runBackup(parts, job),
      restore: (job) => runRestore(parts, job),
      evacuation: (job) => runEvacuation(parts, job),
      rebalance: (job) => runRebalance(parts, job),
      async gc(job) {
        return { ...(await collectGarbage(parts, job.signal)) };
      },
    },
    audit: (job) => [
      {
        stream: "storage",
        event: { action: `job.${job.kind}.${job.state}`, job: job.id, params: job.params, actor: job.created_by },
      },
    ],
  });

  const running = async (kind: string, match: (job: Job) => boolean): Promise<Job | undefined> => {
    for (const state of ["queued", "running"] as const)
      for (const job of await jobs.list({ state, limit: 1000 })) if (job.kind === kind && match(job)) return job;
    return undefined;
  };
  const submit = (kind: string, params: JsonObject, actor: Actor) =>
    jobs.submit({ kind, params, created_by: actor.id, owner: "storage" });
  const unknown = (field: string, id: string) => storageError("NotFound", `no such ${field}: ${id}`, { field });

  const scrubWith = async (scope: ScrubScope, actor: Actor, extra: JsonObject): Promise<Job> => {
    if (scope.kind === "pool" && cluster.state.pools[scope.id] === undefined) throw unknown("pool", scope.id);
    if (scope.kind === "device" && cluster.state.devices[scope.id] === undefined) throw unknown("device", scope.id);
    const params = { scope: scope.kind, ...(scope.kind === "cluster" ? {} : { id: scope.id }), ...extra };
    const key = scopeKey(scope);
    const same = await running("scrub", (job) => [job.params["scope"], job.params["id"]].filter(Boolean).join(":") === key);
    if (same !== undefined) throw storageError("AlreadyExists", `a scrub of ${key} runs`, { job_id: same.id });
    return submit("scrub", params, actor);
  };

  const evacuateWith = async (
    id: string,
    actor: Actor,
    trigger: "automatic" | "operator",
    reason: string,
    reading?: SmartReading,
  ): Promise<Job> => {
    const device = cluster.state.devices[id];
    if (device === undefined) throw unknown("device", id);
    const pool = cluster.state.pools[device.pool];
    const stripe = stripeOf(pool?.durability ?? classDurability[device.class]);
    const others = Object.values(cluster.state.devices).filter(
      (d) => d.pool === device.pool && d.id !== id && d.state === "Healthy" && devices.get(d.id) !== undefined,
    );
    const needed = stripe.data + stripe.parity;
    // Room: the others together must take what is on the device, each its share.
    const share = Math.ceil(devices.usedBytes(id) / Math.max(1, others.length));
    const targets = others.filter((d) => devices.usedBytes(d.id) + share <= d.capacityBytes).length;
    const event = { kind: "evacuate", trigger, targets, needed, reason, ...(reading === undefined ? {} : { reading }) } as const;
    await cluster.propose({ kind: "device.event", id, event }, actor);
    return submit("evacuation", { device: id, reason }, actor);
  };

  const loseDevice = async (id: string): Promise<void> => {
    await cluster.propose({ kind: "device.event", id, event: { kind: "lost", reason: "the device does not answer" } }, nodeActor);
    await scrubWith({ kind: "device", id }, nodeActor, { trigger: "under_replication" }).catch((error: unknown) => {
      if (!isCoded(error, "AlreadyExists")) throw error;
    });
  };

  const connections = new Map<string, number>();
  const refusals = new Map<string, string>();
  const monitor = createMonitor({
    context,
    cluster,
    devices,
    repair,
    keys,
    tenants,
    shards,
    readSmart: options.readSmart ?? (async () => undefined),
    async evacuate(device, reason, reading) {
      try {
        await evacuateWith(device, nodeActor, "automatic", reason, reading);
        refusals.delete(device);
      } catch (error) {
        if (!isCoded(error, "EvacuationRefused", "DeviceTransitionRefused")) throw error;
        // It stays Degraded and is tried again each round; one event per reason is enough.
        if (refusals.get(device) !== error.message)
          context.emit("warning", "device", `automatic evacuation waits: ${error.message}`, { device });
        refusals.set(device, error.message);
      }
    },
    onLost: loseDevice,
    transportConnections: () => [...connections.values()].reduce((a, b) => a + b, 0),
    peers: () => new Map(),
    async systemDisk() {
      const { soft, hard } = options.systemDiskLimits ?? { soft: 50, hard: 75 };
      if (options.metadataDirectory === undefined) return { percent: 0, soft, hard, freeBytes: Number.MAX_SAFE_INTEGER };
      const fs = await statfs(options.metadataDirectory);
      const freeBytes = fs.bavail * fs.bsize;
      return { percent: (100 * (fs.blocks - fs.bavail)) / fs.blocks, soft, hard, freeBytes };
    },
  });

  cluster.onChange(({ command, transitions, actor, before, after }) => {
    if (command.kind === "device.event")
      for (const t of transitions)
        context.emit(
          t.to === "Failed" ? "error" : t.to === "Removed" ? "info" : "warning",
          "device",
          `device ${command.id}: ${t.from} to ${t.to}`,
          {
            device: command.id,
            reason: t.reason,
            by: actor.id,
          },
        );
    if (command.kind === "maintenance.set")
      context.emit("warning", "admin", `maintenance ${command.enabled ? "on" : "off"}: ${command.shard ?? "cluster"}`, {
        by: actor.id,
      });
    if (command.kind === "tuning.set")
      for (const [name, value] of Object.entries(command.values))
        context.emit("info", "admin", `tuning ${name}: ${before.tuning[name as keyof typeof before.tuning]} to ${value}`, {
          by: actor.id,
        });
    if (command.kind === "pool.thresholds")
      context.emit("info", "admin", `thresholds of pool ${command.id} changed`, { by: actor.id });
    if (command.kind === "shard.split")
      context.emit("info", "shard", `shard ${command.id} split, ${after.shards.length} shards now`, { shard: command.id });
    if (command.kind === "shard.move")
      context.emit("info", "shard", `shard ${command.id} moved from ${command.from} to ${command.to}`, { shard: command.id });
    if (command.kind === "key.rotate")
      context.emit("info", "security", `master key rotated to epoch ${command.epoch}`, { by: actor.id });
  });

  const background = (work: Promise<unknown>): void => {
    work.catch((error: unknown) => log.error({ error }, "background work failed"));
  };

  /** Removes backups past their time, but never one that is being written. */
  const cleanUpBackups = async (): Promise<void> => {
    const writing = [
      ...(await jobs.list({ state: "running", limit: 1000 })),
      ...(await jobs.list({ state: "queued", limit: 1000 })),
    ]
      .filter((job) => job.kind === "backup")
      .map(snapshotId);
    const before = clock.now() - backupDefaults.retention_days * 86_400_000;
    for (const target of Object.values(parts.backups)) await expireBackups(target, before, writing);
  };

  let lastGc = clock.now();
  let lastCleanUp = clock.now();
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> = Promise.resolve();
  if (cluster.state.lastPeriodicScrubAt === 0) await cluster.propose({ kind: "scrub.periodic", at: clock.now() }, nodeActor);

  const tickOnce = async (): Promise<void> => {
    await monitor.sample();
    const now = clock.now();
    if (gcHolds === 0 && now - lastGc >= cluster.state.tuning.gc_interval_s * 1000) {
      lastGc = now;
      await collectGarbage(parts);
    }
    if (now - lastCleanUp >= (options.backupCleanupMs ?? 86_400_000)) {
      lastCleanUp = now;
      background(cleanUpBackups());
    }
    if (now >= nextScrubAt(cluster.state.lastPeriodicScrubAt, cluster.state.tuning.scrub_interval_h))
      await scrubWith({ kind: "cluster" }, nodeActor, { periodic: true }).catch((error: unknown) => {
        if (!isCoded(error, "AlreadyExists")) throw error;
      });
    // A Failed device whose fragments have all been rebuilt elsewhere is Removed.
    for (const device of Object.values(cluster.state.devices))
      if (device.state === "Failed" && (await countReferences(store, device.id)) === 0)
        await cluster.propose({ kind: "device.event", id: device.id, event: { kind: "remove", references: 0 } }, nodeActor);
    await shards.save();
  };

  const tick = (): Promise<void> => {
    round = round.then(tickOnce, tickOnce);
    return round;
  };

  return {
    context,
    cluster,
    devices,
    events,
    jobs,
    keys,
    tenants,
    metrics,
    monitor,
    objects,
    parts,
    repair,
    connections,
    scrub: (scope, actor) => scrubWith(scope, actor, {}),
    async backup(params, actor) {
      const same = await running("backup", () => true);
      if (same !== undefined) throw storageError("AlreadyExists", "a backup runs", { job_id: same.id });
      return submit("backup", { ...backupDefaults, ...params }, actor);
    },
    async restore(params, actor) {
      const same = await running("restore", () => true);
      if (same !== undefined) throw storageError("AlreadyExists", "a restore runs", { job_id: same.id });
      const pool_id = params["pool_id"] ?? options.pools[0]?.id ?? "";
      if (cluster.state.pools[pool_id as string] === undefined) throw unknown("pool", String(pool_id));
      const snapshot = params["snapshot_id"] as string;
      const target = targetOf(parts, params);
      if (!(await target.list()).includes(snapshot)) throw unknown("snapshot", snapshot);
      await readManifest(target, snapshot);
      return submit("restore", { ...params, pool_id }, actor);
    },
    evacuate: (device, actor) => evacuateWith(device, actor, "operator", `asked by ${actor.id}`),
    async cancelEvacuation(device, actor) {
      if (cluster.state.devices[device] === undefined) throw unknown("device", device);
      await cluster.propose(
        { kind: "device.event", id: device, event: { kind: "cancel", reading: monitor.reading(device) } },
        actor,
      );
      const job = await running("evacuation", (j) => j.params["device"] === device);
      if (job !== undefined) await jobs.cancel(job.id).catch(() => undefined);
    },
    async rebalance(pool, actor) {
      if (cluster.state.pools[pool] === undefined) throw unknown("pool", pool);
      const same = await running("rebalance", (j) => j.params["pool"] === pool);
      if (same !== undefined) throw storageError("AlreadyExists", `a rebalance of ${pool} runs`, { job_id: same.id });
      return submit("rebalance", { pool }, actor);
    },
    async collectGarbage(actor) {
      const same = await running("gc", () => true);
      if (same !== undefined) throw storageError("AlreadyExists", "a collection runs", { job_id: same.id });
      return submit("gc", {}, actor);
    },
    async removeDevice(device, actor) {
      await cluster.propose({ kind: "device.delete", id: device }, actor);
      await devices.get(device)?.close();
      devices.remove(device);
    },
    async rotateKeys(actor) {
      const epoch = await keys.rotate();
      await cluster.propose({ kind: "key.rotate", epoch }, actor);
      return epoch;
    },
    tick,
    start() {
      jobs.start();
      timer ??= setInterval(() => background(tick()), sampleMs).unref();
      background(tick());
    },
    async stop() {
      clearInterval(timer);
      await jobs.stop();
      await round.catch(() => undefined);
      await shards.save().catch(() => undefined);
      for (const id of devices.ids()) await devices.get(id)?.close();
    },
  };
}

/** Joins the cluster, creates the configured pools, adds new devices, lays out the shards. Repeats change nothing. */
async function configure(options: StorageNodeOptions, cluster: ClusterControl, devices: DeviceSet): Promise<void> {
  const node = { id: options.nodeId, address: options.address, dataAddress: options.dataAddress };
  const known = cluster.state.nodes[node.id];
  if (known?.address !== node.address || known.dataAddress !== node.dataAddress)
    await cluster.propose({ kind: "node.join", node }, nodeActor);
  for (const { id, class: deviceClass, durability } of options.pools) {
    if (cluster.state.pools[id] !== undefined) continue;
    await cluster.propose(
      { kind: "pool.create", id, class: deviceClass, durability: durability ?? classDurability[deviceClass] },
      nodeActor,
    );
  }
  for (const local of options.devices) {
    const { id } = local.device;
    await devices.add(local.device);
    if (cluster.state.devices[id] !== undefined) continue;
    const device = { id, node: options.nodeId, pool: local.pool, class: local.class, capacityBytes: local.capacityBytes };
    await cluster.propose({ kind: "device.add", device }, nodeActor);
  }
  await cluster.propose({ kind: "shards.init" }, nodeActor);
}

/** `ec-4-2` or `replication-3`, for replies. */
export function poolDurability(cluster: ClusterControl, pool: string): string {
  const found = cluster.state.pools[pool];
  return found === undefined ? "" : durabilityName(found.durability);
}
