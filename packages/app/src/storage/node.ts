import { statfs } from "node:fs/promises";
import type { BackupTarget } from "@seneschal/adapters/backups";
import { newId, sha256 } from "@seneschal/adapters/log";
import type { PortableKeys } from "@seneschal/adapters/vault";
import {
  createEventLog,
  diskPercent,
  durabilityName,
  durabilityOf,
  type EventLog,
  type EventQuery,
  nextScrubAt,
  type ScrubScope,
  type SmartReading,
  type StorageEvent,
  scopeKey,
  storageError,
} from "@seneschal/core/storage";
import { checkOptions, isCoded, type JsonObject } from "@seneschal/kernel";
import type { Clock, CryptoProvider, DocumentStore, Random, ReplicatedLog, Vault } from "@seneschal/kernel/ports";
import { type Background, type Job, type Jobs, openBackground, openJobs, type Stoppable } from "../platform/index.ts";
import { createClusterAudit } from "./cluster/audit-changes.ts";
import { type ClusterControl, openClusterControl } from "./cluster/cluster-control.ts";
import { coordinates, electLeaders, migrateShards, splitShards } from "./cluster/lead-shards.ts";
import { createShardStats } from "./cluster/shard-stats.ts";
import { watchAbsences } from "./cluster/watch-absences.ts";
import { type Actor, nodeActor, type StorageContext } from "./context.ts";
import { createChunkStore } from "./data/chunk-store.ts";
import { createDeviceSet, type DeviceSet } from "./data/device-set.ts";
import { createFragmentIo } from "./data/fragment-io.ts";
import { joinCluster, type Membership } from "./data/join-cluster.ts";
import { createLocalDevices, type OpenDevice } from "./data/local-devices.ts";
import { createMemoryBudget, type MemoryBudgetOptions } from "./data/memory-budget.ts";
import { type ChunkRepair, createChunkRepair } from "./data/rebuild-chunk.ts";
import { runBackup, snapshotId, targetOf } from "./jobs/backup.ts";
import { expireBackups, readManifest } from "./jobs/backup-manifest.ts";
import { countReferences } from "./jobs/chunk-pages.ts";
import { collectGarbage } from "./jobs/collect-garbage.ts";
import { beginDrain, cancelDrain, evictNode, runDrain } from "./jobs/drain-node.ts";
import { beginEvacuation, runEvacuation } from "./jobs/evacuate.ts";
import { expireVersions } from "./jobs/expire-versions.ts";
import type { MaintenanceParts } from "./jobs/parts.ts";
import { runRebalance } from "./jobs/rebalance.ts";
import { repairUnderReplicated } from "./jobs/repair-under-replicated.ts";
import { openBackupKeys, runRestore } from "./jobs/restore.ts";
import { runScrub } from "./jobs/scrub.ts";
import { createThrottle } from "./jobs/throttle.ts";
import { createKeyManager, type KeyManager } from "./keys/key-manager.ts";
import { createTenantKeys, type TenantKeys } from "./keys/tenant-keys.ts";
import { createStorageMetrics, type StorageMetrics } from "./metrics.ts";
import { type BucketWebhook, type Notifications, openNotifications } from "./notify/open-notifications.ts";
import { countBucket, countsToGoOn } from "./objects/bucket-usage.ts";
import { createReadAhead } from "./objects/read-ahead.ts";
import type { ObjectServices } from "./objects/services.ts";
import type { NewDevice } from "./peers/new-device.ts";
import type { NodeReport } from "./peers/node-report.ts";
import { openPeers, type Peers, type PeersOptions } from "./peers/open-peers.ts";
import { shardStore } from "./shard-store.ts";
import { announceChange } from "./watch/announce-changes.ts";
import { createMonitor, type Monitor } from "./watch/monitor.ts";
import { watchDamage } from "./watch/watch-damage.ts";

export interface StorageNodeOptions extends Membership {
  /** Certificate and key as `store-server` for calls to other nodes; absent: plaintext. */
  readonly peerTls?: NonNullable<PeersOptions["tls"]>;
  readonly peerTimeoutMs?: number;
  /** Between rounds, milliseconds; default 10,000. */
  readonly sampleMs?: number;
  /** What the nodes of the cluster agree on; closed with the node. */
  readonly clusterLog: ReplicatedLog;
  /** Opened with `storageSchema`. */
  readonly store: DocumentStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly crypto: CryptoProvider;
  readonly log: Parameters<typeof openJobs>[0]["log"];
  /** Seals the master keys. */
  readonly vault: Vault & Partial<PortableKeys>;
  /** A tenant's key service; default the node's own vault. */
  readonly vaultFor?: (tenant: string) => Vault;
  readonly kekTtlSeconds?: number;
  readonly readSmart?: (device: string) => Promise<SmartReading | undefined>;
  /** Opens devices that the node is given while it runs; absent: it takes none. */
  readonly openDevice?: OpenDevice;
  /** Where backups go, by name; the first is the default. */
  readonly backups?: Readonly<Record<string, BackupTarget>>;
  /** What a backup has when its request does not say. */
  readonly backupDefaults?: { readonly retention_days: number; readonly include_data: boolean };
  /** Between two rounds that remove expired backups; default a day. */
  readonly backupCleanupMs?: number;
  /** How long jobs that are over are remembered; default 30 days. */
  readonly jobRetentionMs?: number;
  /** The directory whose disk keeps the metadata, for the inline threshold. */
  readonly metadataDirectory?: string;
  /** What bodies of clients may take of the memory. */
  readonly memory?: Pick<MemoryBudgetOptions, "limitBytes" | "waitMs" | "maxWaiting">;
  /** Where notifications of buckets go, by the names that buckets have for them. */
  readonly webhooks?: ReadonlyMap<string, BucketWebhook>;
  /** Notifications that may wait for one webhook; default 100,000. */
  readonly maxWaitingNotifications?: number;
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
  readonly background: Background;
  readonly objects: ObjectServices;
  readonly parts: MaintenanceParts;
  readonly repair: ChunkRepair;
  readonly notifications: Notifications;
  scrub(scope: ScrubScope, actor: Actor): Promise<Job>;
  backup(params: JsonObject, actor: Actor): Promise<Job>;
  /** `snapshot_id`; optionally `destination` and `pool_id`. */
  restore(params: JsonObject, actor: Actor): Promise<Job>;
  /** Adds a device to a node, which opens its directory; this one passes it on to another. */
  addDevice(node: string, device: NewDevice, actor: Actor): Promise<void>;
  evacuate(device: string, actor: Actor): Promise<Job>;
  cancelEvacuation(device: string, actor: Actor): Promise<void>;
  rebalance(pool: string, actor: Actor): Promise<Job>;
  collectGarbage(actor: Actor): Promise<Job>;
  removeDevice(device: string, actor: Actor): Promise<void>;
  /** Takes away a pool without devices and data that this node's settings do not name. */
  removePool(pool: string, actor: Actor): Promise<void>;
  /** Evacuates a node's devices and moves its shards away. */
  drainNode(node: string, actor: Actor): Promise<Job>;
  cancelDrain(node: string, actor: Actor): Promise<void>;
  evictNode(node: string, actor: Actor): Promise<void>;
  rotateKeys(actor: Actor): Promise<number>;
  /** Events of all nodes that answer, newest first. */
  clusterEvents(query: EventQuery): Promise<readonly StorageEvent[]>;
  /** One round of everything periodic: samples, garbage collection, due scrubs. */
  tick(): Promise<void>;
  /** Begins jobs and the ten-second rounds. */
  start(): void;
  stop(): Promise<void>;
  /** What this node says of itself to the others. */
  report(): NodeReport;
  /** What this node shows other nodes from now on, and trusts about them. */
  readonly setSecureContext: Peers["setSecureContext"];
  /** Connections of the gateways, by transport; the servers fill it in. */
  readonly connections: Map<string, number>;
}

const defaultSampleMs = 10_000;
const lifecycleMs = 3_600_000;
/** How often old changes are looked for. */
const forgetMs = 3_600_000;
/** A restart of a node is shorter; what it holds need not be rebuilt for that. */
const absentAfterMs = 600_000;

/** Puts a storage node together and brings the cluster state up to its configuration. */
export async function openStorageNode(options: StorageNodeOptions): Promise<StorageNode> {
  checkOptions("options", options, {
    peerTls: "object?",
    peerTimeoutMs: "number?",
    sampleMs: "number?",
    clusterLog: "object",
    store: "object",
    clock: "object",
    random: "function",
    crypto: "object",
    log: "object",
    vault: "object",
    vaultFor: "function?",
    kekTtlSeconds: "number?",
    readSmart: "function?",
    openDevice: "function?",
    backups: "object?",
    backupDefaults: "object?",
    backupCleanupMs: "number?",
    jobRetentionMs: "number?",
    metadataDirectory: "string?",
    memory: "object?",
    webhooks: "object?",
    maxWaitingNotifications: "number?",
    systemDiskLimits: "object?",
    nodeId: "string",
    address: "string",
    dataAddress: "string",
    peerAddress: "string?",
    expectedNodes: "number?",
    devices: "array",
    pools: "array",
  });
  const { nodeId, clock, random, crypto, log } = options;
  const damage = watchDamage([options.store, options.clusterLog]);
  const store = shardStore(options.store, damage);
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
  const cluster = await openClusterControl({
    log: options.clusterLog,
    clock,
    sha256,
    newId,
    audit: createClusterAudit(store),
    onLatency(seconds) {
      for (const shard of cluster.state.shards) metrics.raftCommitLatency.observe({ shard: shard.id }, seconds);
    },
  });
  const background = openBackground(log, {
    backgroundFailure: (step) => metrics.backgroundFailures.inc({ step }),
    backgroundFailing(step, failing, error) {
      metrics.backgroundFailing.set({ step }, failing ? 1 : 0);
      if (failing) context.emit("critical", "node", `background work fails: ${step}`, { step, error: String(error) });
      else context.emit("info", "node", `background work goes on: ${step}`, { step });
    },
  });
  const devices = createDeviceSet();
  const shards = createShardStats(context);
  const peers = openPeers({
    nodeId,
    clock,
    ...(options.peerTls === undefined ? {} : { tls: options.peerTls }),
    ...(options.peerTimeoutMs === undefined ? {} : { timeoutMs: options.peerTimeoutMs }),
    onReport(report) {
      for (const { device_id, used_bytes } of report.devices) devices.note(device_id, used_bytes);
      shards.foreign(report);
    },
  });
  const up = peers.reachable;
  await joinCluster(options, cluster, devices);
  const local = createLocalDevices(context, cluster, devices, options.openDevice);
  await local.reopen();

  const keys = createKeyManager(context, options.vault, () => cluster.state.keyEpoch);
  const tenants = createTenantKeys(context, {
    shared: options.vault,
    vaultFor: options.vaultFor ?? (() => options.vault),
    async onShred(tenant, actor, done) {
      await cluster.propose({ kind: "tenant.shred", tenant, ...(done ? { done } : {}) }, actor).catch((error: unknown) => {
        const what = done ? "the tenant's key was destroyed" : "other nodes forget the key only after its time";
        context.emit("critical", "security", `crypto-shred: ${what}`, { tenant });
        log.error({ error }, "a crypto-shred could not be announced");
      });
    },
    ...(options.kekTtlSeconds === undefined ? {} : { ttlSeconds: options.kekTtlSeconds }),
  });
  const memory = createMemoryBudget({
    ...options.memory,
    onChange(usedBytes, waiting) {
      metrics.memoryUsed.set(usedBytes);
      metrics.memoryWaiting.set(waiting);
    },
    onRefused: () => metrics.memoryRefused.inc(),
  });
  metrics.memoryLimit.set(memory.limitBytes);
  const io = createFragmentIo({
    context,
    cluster,
    devices,
    up,
    onSilence(id) {
      const node = cluster.state.nodes[id];
      if (node !== undefined) peers.suspect(node);
    },
  });
  const repair = createChunkRepair(context, cluster, io, up);
  /** Devices of other nodes, as the cluster knows them now. */
  const attachDevices = (): void => {
    const { nodes, devices: known } = cluster.state;
    for (const id of devices.ids()) if (known[id] === undefined && !devices.isLocal(id)) devices.remove(id);
    for (const { id, node } of Object.values(known)) {
      const home = nodes[node];
      if (node !== nodeId && home !== undefined) devices.attach(peers.device(home, id));
    }
  };
  attachDevices();
  await shards.recount(cluster.state);
  /** Chunks that a read since the last round found damaged. */
  let badReads = new Set<string>();
  const chunks = createChunkStore({
    context,
    cluster,
    devices,
    io,
    memory,
    keys,
    tenants,
    defaultPool: () => options.pools.find(({ id }) => cluster.state.pools[id] !== undefined)?.id ?? "",
    onLost(chunk) {
      void background.step("repair after a read", () => repair.check(chunk, { trigger: "under_replication", repair: true }));
    },
    onBadFragments(chunk) {
      if (badReads.has(chunk)) return;
      badReads.add(chunk);
      void background.step("repair after a read", () => repair.check(chunk, { trigger: "under_replication", repair: true }));
    },
  });
  const { webhooks = new Map() } = options;
  const objects: ObjectServices = {
    context,
    cluster,
    chunks,
    tenants,
    shards,
    up,
    readAhead: createReadAhead(metrics),
    memory,
    webhooks,
  };
  const leads = (): boolean => cluster.status().available && coordinates(cluster.state, nodeId);
  const notifications = openNotifications({ context, background, webhooks, leads, maxWaiting: options.maxWaitingNotifications });
  const parts: MaintenanceParts = {
    damage,
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
  };
  const jobs = openJobs({
    store,
    clock,
    random,
    log,
    background,
    kinds: {
      scrub: (job) => runScrub(parts, job),
      backup: (job) => runBackup(parts, job),
      restore: (job) => runRestore(parts, job),
      evacuation: (job) => runEvacuation(parts, job),
      drain: (job) => runDrain(parts, job),
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
    await beginEvacuation(parts, device, { trigger, reason, ...(reading === undefined ? {} : { reading }) }, actor);
    return submit("evacuation", { device: id, reason }, actor);
  };

  const loseDevice = async (id: string): Promise<void> => {
    await cluster.propose({ kind: "device.event", id, event: { kind: "lost", reason: "the device does not answer" } }, nodeActor);
    await scrubWith({ kind: "device", id }, nodeActor, { trigger: "under_replication" }).catch((error: unknown) => {
      if (!isCoded(error, "AlreadyExists")) throw error;
    });
  };

  const incarnation = newId();
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
    damage: () => damage.places,
    transportConnections: () => [...connections.values()].reduce((a, b) => a + b, 0),
    peers,
    background,
    async systemDisk() {
      const { soft, hard } = options.systemDiskLimits ?? { soft: 50, hard: 75 };
      if (options.metadataDirectory === undefined) return { percent: 0, soft, hard, freeBytes: Number.MAX_SAFE_INTEGER };
      const fs = await statfs(options.metadataDirectory);
      return { percent: diskPercent(fs), soft, hard, freeBytes: fs.bavail * fs.bsize };
    },
  });

  cluster.onChange((change) => {
    announceChange(context, change);
    for (const { id } of change.after.shards) metrics.raftEntries.inc({ shard: id });
    const { command } = change;
    if (["node.join", "device.add", "device.delete"].includes(command.kind)) attachDevices();
    if (command.kind === "device.add" || command.kind === "device.delete")
      void background.step("device directories", () => local.follow(change));
    if (command.kind === "shard.split") void background.step("recount", () => shards.recount(change.after));
    if (command.kind === "tenant.shred") tenants.purge(command.tenant);
  });

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
  let lastLifecycle = clock.now();
  let lastForgotten = clock.now();
  let lastCleanUp = clock.now();
  let rounds: Stoppable | undefined;
  let round: Promise<void> = Promise.resolve();
  if (cluster.state.lastPeriodicScrubAt === 0) await cluster.propose({ kind: "scrub.periodic", at: clock.now() }, nodeActor);

  const tickOnce = async (): Promise<void> => {
    await monitor.sample();
    if (badReads.size > 0) {
      context.emit("warning", "device", "reads met bad fragments, parity covered them", { chunks: badReads.size });
      badReads = new Set();
    }
    // Without quorum nothing can be led; the monitor has said so.
    if (!cluster.status().available) return;
    await background.step("shard layout", async () => {
      // More nodes may have joined than this one saw when it did.
      if (cluster.state.shards.length === 0)
        await cluster.propose({ kind: "shards.init", nodes: options.expectedNodes ?? 1 }, nodeActor);
    });
    await background.step("shard leaders", () => electLeaders(leadParts));
    const leads = coordinates(cluster.state, nodeId);
    for (const [step, work] of Object.entries(coordination))
      if (leads) await background.step(step, work);
      else background.skip(step);
    if (leads)
      await background.each("bucket usage", countsToGoOn(store), ({ bucket, pages }) => countBucket(store, bucket, pages));
    else {
      for (const step of ["expired backups", "expired versions", "bucket usage"]) background.skip(step);
      metrics.notificationsWaiting.reset();
    }
    await background.step("counters", () => shards.save());
  };

  const logSeq = (node: string): number => (node === nodeId ? cluster.status().seq : (peers.view(node)?.report.log_seq ?? 0));

  const leadParts = { context, cluster, shards, up, logSeq };

  const absences = watchAbsences(absentAfterMs);
  const scrubUnlessRunning = async (extra: JsonObject): Promise<void> => {
    await scrubWith({ kind: "cluster" }, nodeActor, extra).catch((error: unknown) => {
      if (!isCoded(error, "AlreadyExists")) throw error;
    });
  };

  /** What one node does for the cluster, by step. */
  const coordination: Readonly<Record<string, () => Promise<void>>> = {
    "ended jobs": () => jobs.forget(clock.now() - (options.jobRetentionMs ?? 30 * 86_400_000)),
    "shard split": () => splitShards(leadParts),
    "shard migration": () => migrateShards(leadParts),
    async "garbage collection"() {
      const now = clock.now();
      if (now - lastGc < cluster.state.tuning.gc_interval_s * 1000) return;
      const before = lastGc;
      lastGc = now;
      await collectGarbage(parts).catch((error: unknown) => {
        if (!isCoded(error, "backup_running")) throw error;
        lastGc = before;
      });
    },
    async "absent nodes"() {
      const away = Object.values(cluster.state.nodes).filter((n) => n.state !== "Evicted" && !up(n.id));
      const ids = away.map((n) => n.id);
      for (const node of absences(ids, clock.now())) {
        context.emit("error", "node", `node ${node} stays away: what it holds is rebuilt on the others`, { node });
        await scrubUnlessRunning({ trigger: "under_replication" });
      }
    },
    async lifecycle() {
      const now = clock.now();
      if (now - lastLifecycle < lifecycleMs) return;
      const before = lastLifecycle;
      lastLifecycle = now;
      // As long as it takes to look at every version; nothing waits for it.
      void background.step("expired versions", () =>
        expireVersions(parts).catch((error: unknown) => {
          lastLifecycle = before;
          throw error;
        }),
      );
    },
    notifications: () => notifications.watch(),
    async "old changes"() {
      const now = clock.now();
      if (now - lastForgotten < forgetMs) return;
      await notifications.forget();
      lastForgotten = now;
    },
    "crypto-shred": () => tenants.finishShreds(),
    repair: () => repairUnderReplicated(parts),
    async "backup clean-up"() {
      const now = clock.now();
      if (now - lastCleanUp < (options.backupCleanupMs ?? 86_400_000)) return;
      const before = lastCleanUp;
      lastCleanUp = now;
      // A slow target holds up nothing else.
      void background.step("expired backups", () =>
        cleanUpBackups().catch((error: unknown) => {
          lastCleanUp = before;
          throw error;
        }),
      );
    },
    async "periodic scrub"() {
      if (clock.now() >= nextScrubAt(cluster.state.lastPeriodicScrubAt, cluster.state.tuning.scrub_interval_h))
        await scrubUnlessRunning({ periodic: true });
    },
    /** A Failed device whose fragments have all been rebuilt elsewhere is Removed. */
    async "failed devices"() {
      for (const device of Object.values(cluster.state.devices))
        if (device.state === "Failed" && (await countReferences(store, device.id)) === 0)
          await cluster.propose({ kind: "device.event", id: device.id, event: { kind: "remove", references: 0 } }, nodeActor);
    },
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
    background,
    objects,
    parts,
    repair,
    notifications,
    connections,
    report: () => ({
      node_id: nodeId,
      ready: monitor.ready(),
      log_seq: cluster.status().seq,
      incarnation,
      figures: monitor.figures(),
      devices: devices
        .ids()
        .filter(devices.isLocal)
        .map((id) => ({ device_id: id, used_bytes: devices.usedBytes(id), flags: monitor.flags(id) })),
      shards: shards.changes(),
      view: monitor.view(),
    }),
    setSecureContext: peers.setSecureContext,
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
      await openBackupKeys(parts, await readManifest(target, snapshot));
      return submit("restore", { ...params, pool_id }, actor);
    },
    async addDevice(id, device, actor) {
      const node = cluster.state.nodes[id];
      if (node === undefined) throw unknown("node", id);
      if (id === nodeId) return local.add(device, actor);
      await peers.addDevice(node, device, actor);
      // What the other node was told must be seen here before the answer.
      await cluster.refresh();
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
      const backup = await running("backup", () => true);
      if (backup !== undefined)
        throw storageError("AlreadyExists", "a backup runs: collect garbage once it is over", { job_id: backup.id });
      return submit("gc", {}, actor);
    },
    async removeDevice(device, actor) {
      const removed = cluster.state.devices[device]?.state === "Removed";
      const references = removed ? await countReferences(store, device) : 0;
      if (references > 0)
        throw storageError("DeviceNotEvacuated", `${references} fragments still lie on device ${device}: scrub it first`, {
          device,
        });
      await cluster.propose({ kind: "device.delete", id: device }, actor);
    },
    async removePool(id, actor) {
      if (options.pools.some((pool) => pool.id === id))
        throw storageError("PoolNotEmpty", `pool ${id} is in the settings of this node, which would make it again`, { pool: id });
      const holdsData = (await store.count("storage_chunks", "by_pool", [id])) > 0;
      await cluster.propose({ kind: "pool.delete", id, holdsData }, actor);
    },
    async drainNode(node, actor) {
      const same = await running("drain", (j) => j.params["node"] === node);
      if (same !== undefined) throw storageError("AlreadyExists", `node ${node} drains`, { job_id: same.id });
      await beginDrain(parts, node, actor);
      return submit("drain", { node }, actor);
    },
    async cancelDrain(node, actor) {
      await cancelDrain(parts, node, actor);
      const job = await running("drain", (j) => j.params["node"] === node);
      if (job !== undefined) await jobs.cancel(job.id).catch(() => undefined);
    },
    evictNode: (node, actor) => evictNode(parts, node, actor),
    async rotateKeys(actor) {
      const epoch = await keys.rotate();
      await cluster.propose({ kind: "key.rotate", epoch }, actor);
      return epoch;
    },
    async clusterEvents(query) {
      const others = Object.values(cluster.state.nodes).filter(({ id }) => id !== nodeId && up(id));
      const all = [events.query(query), ...(await Promise.all(others.map((node) => peers.events(node, query))))];
      return all
        .flat()
        .sort((a, b) => b.timestamp - a.timestamp)
        .slice(0, query.limit);
    },
    tick,
    start() {
      jobs.start();
      notifications.start();
      context.emit("info", "node", `node ${nodeId} started`, { node: nodeId });
      rounds ??= background.every("round", options.sampleMs ?? defaultSampleMs, tick);
      void background.step("round", tick);
    },
    async stop() {
      await rounds?.stop();
      await notifications.stop();
      await jobs.stop();
      await round.catch(() => undefined);
      await shards.save().catch(() => undefined);
      for (const id of devices.ids()) await devices.get(id)?.close();
      peers.close();
      await cluster.close();
    },
  };
}

/** `ec-4-2` or `replication-3`, for replies. */
export function poolDurability(cluster: ClusterControl, pool: string): string {
  const found = cluster.state.pools[pool];
  return found === undefined ? "" : durabilityName(durabilityOf(cluster.state, found).durability);
}
