import type { BackupTarget } from "@seneschal/adapters/backups";
import { diskOf } from "@seneschal/adapters/files";
import { newId, sha256 } from "@seneschal/adapters/log";
import type { PortableKeys } from "@seneschal/adapters/vault";
import {
  announceChange,
  coordinates,
  createEventLog,
  diskPercent,
  durabilityName,
  durabilityOf,
  type EventLog,
  type EventQuery,
  type SmartReading,
  type StorageEvent,
} from "@seneschal/core/storage";
import { checkOptions } from "@seneschal/kernel";
import type { Clock, CryptoProvider, DocumentStore, Random, ReplicatedLog, Vault } from "@seneschal/kernel/ports";
import { type Background, openBackground, type openJobs } from "../platform/index.ts";
import { createBuffers } from "./bytes/buffers.ts";
import { type ClusterControl, createClusterAudit, openClusterControl } from "./cluster/cluster-control.ts";
import { createShardStats } from "./cluster/shards.ts";
import { type Actor, nodeActor, type StorageContext } from "./context.ts";
import { createChunkStore } from "./data/chunk-store.ts";
import { createDeviceSet, createLocalDevices, type DeviceSet, type OpenDevice } from "./data/devices.ts";
import { type DeviceAt, overcommittedDisks } from "./data/disk-room.ts";
import { createFragmentIo } from "./data/fragment-io.ts";
import { joinCluster, type Membership } from "./data/join-cluster.ts";
import { createMemoryBudget, type MemoryBudgetOptions } from "./data/memory-budget.ts";
import { type ChunkRepair, createChunkRepair } from "./data/rebuild-chunk.ts";
import { type Maintenance, openMaintenance } from "./jobs/open-maintenance.ts";
import { openRounds } from "./jobs/open-rounds.ts";
import type { MaintenanceParts } from "./jobs/parts.ts";
import { createThrottle } from "./jobs/throttle.ts";
import { createKeyManager, type KeyManager } from "./keys/key-manager.ts";
import { createTenantKeys, type TenantKeys } from "./keys/tenant-keys.ts";
import { createStorageMetrics, type StorageMetrics } from "./metrics.ts";
import { type BucketWebhook, type Notifications, openNotifications } from "./notify/open-notifications.ts";
import { createReadAhead } from "./objects/read-ahead.ts";
import type { ObjectServices } from "./objects/services.ts";
import type { NodeReport } from "./peers/node-report.ts";
import { openPeers, type Peers, type PeersOptions } from "./peers/open-peers.ts";
import { refusedSetting } from "./refused-setting.ts";
import { type BucketDestination, openReplication, type ReplicationWork } from "./replicate/open-replication.ts";
import { shardStore } from "./shard-store.ts";
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
  /** Where buckets may be copied, by the names that buckets have for them; closed with the node. */
  readonly destinations?: ReadonlyMap<string, BucketDestination>;
  /** Notifications that may wait for one webhook; default 100,000. */
  readonly maxWaitingNotifications?: number;
  readonly systemDiskLimits?: { readonly soft: number; readonly hard: number };
}

/** A storage node without its network surfaces. */
export interface StorageNode extends Maintenance {
  readonly context: StorageContext;
  readonly cluster: ClusterControl;
  readonly devices: DeviceSet;
  readonly events: EventLog;
  readonly keys: KeyManager;
  readonly tenants: TenantKeys;
  readonly metrics: StorageMetrics;
  readonly monitor: Monitor;
  readonly background: Background;
  readonly objects: ObjectServices;
  readonly parts: MaintenanceParts;
  readonly repair: ChunkRepair;
  readonly notifications: Notifications;
  readonly replication: ReplicationWork;
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
    destinations: "object?",
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
      for (const { device_id, used_bytes, disk } of report.devices) devices.note(device_id, used_bytes, disk);
      shards.foreign(report);
    },
  });
  const up = peers.reachable;
  const directories = new Map(options.devices.map(({ id, directory }) => [id, directory]));
  /** This node's devices that take writes, where they are and what they hold. */
  const places = (): readonly DeviceAt[] =>
    Object.values(cluster.state.devices).flatMap(({ id, node, state, capacityBytes, directory = directories.get(id) }) =>
      node !== nodeId || state === "Failed" || state === "Removed" || directory === undefined
        ? []
        : [{ id, directory, capacityBytes, usedBytes: devices.usedBytes(id) }],
    );
  const local = createLocalDevices(context, cluster, devices, options.openDevice, places);
  const closeAll = async (): Promise<void> => {
    for (const id of devices.ids()) await devices.get(id)?.close();
    peers.close();
    await cluster.close();
  };
  try {
    await expectFree(options, cluster, peers);
    await joinCluster(options, cluster, devices);
    await local.reopen();
  } catch (error) {
    await closeAll();
    throw error;
  }

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
  const buffers = createBuffers(memory.limitBytes / 8);
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
  // INVARIANT: from this look at the state on every change of it is heard; nothing is awaited in between.
  cluster.onChange((change) => {
    for (const { severity, category, message, details } of announceChange(change))
      context.emit(severity, category, message, details);
    for (const { id } of change.after.shards) metrics.raftEntries.inc({ shard: id });
    const { command } = change;
    if (["node.join", "device.add", "device.delete"].includes(command.kind)) attachDevices();
    if (command.kind === "device.add" || command.kind === "device.delete")
      void background.step("device directories", () => local.follow(change));
    if (command.kind === "shard.split") void background.step("recount", () => shards.recount(change.after));
    if (command.kind === "tenant.shred") tenants.purge(command.tenant);
  });
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
    buffers,
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
  const { webhooks = new Map(), destinations = new Map() } = options;
  const objects: ObjectServices = {
    context,
    cluster,
    chunks,
    tenants,
    shards,
    up,
    readAhead: createReadAhead(metrics),
    memory,
    buffers,
    webhooks,
    destinations,
  };
  const leads = (): boolean => cluster.status().available && coordinates(cluster.state, nodeId);
  const notifications = openNotifications({ context, background, webhooks, leads, maxWaiting: options.maxWaitingNotifications });
  const replication = openReplication({ services: objects, background, destinations, leads });
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
  const incarnation = newId();
  const connections = new Map<string, number>();
  const maintenance = openMaintenance({
    parts,
    local,
    peers,
    background,
    log,
    pools: options.pools.map(({ id }) => id),
    backupDefaults: options.backupDefaults ?? { retention_days: 7, include_data: false },
    reading: (device) => monitor.reading(device),
  });
  const { jobs } = maintenance;
  const monitor = createMonitor({
    context,
    cluster,
    devices,
    repair,
    keys,
    tenants,
    shards,
    readSmart: options.readSmart ?? (async () => undefined),
    evacuate: maintenance.evacuateCondemned,
    onLost: maintenance.loseDevice,
    damage: () => damage.places,
    transportConnections: () => [...connections.values()].reduce((a, b) => a + b, 0),
    peers,
    background,
    overcommitted: () => overcommittedDisks(places()),
    async systemDisk() {
      const { soft, hard } = options.systemDiskLimits ?? { soft: 50, hard: 75 };
      if (options.metadataDirectory === undefined) return { percent: 0, soft, hard, freeBytes: Number.MAX_SAFE_INTEGER };
      const disk = await diskOf(options.metadataDirectory);
      return { percent: diskPercent(disk), soft, hard, freeBytes: disk.freeBytes };
    },
  });

  if (cluster.state.lastPeriodicScrubAt === 0) await cluster.propose({ kind: "scrub.periodic", at: clock.now() }, nodeActor);
  const rounds = openRounds({
    parts,
    maintenance,
    lead: {
      context,
      cluster,
      shards,
      up,
      logSeq: (node) => (node === nodeId ? cluster.status().seq : (peers.view(node)?.report.log_seq ?? 0)),
    },
    monitor,
    tenants,
    notifications,
    replication,
    background,
    takeBadReads() {
      const { size } = badReads;
      badReads = new Set();
      return size;
    },
    sampleMs: options.sampleMs ?? 10_000,
    expectedNodes: options.expectedNodes ?? 1,
    backupCleanupMs: options.backupCleanupMs ?? 86_400_000,
    jobRetentionMs: options.jobRetentionMs ?? 30 * 86_400_000,
  });

  return {
    ...maintenance,
    context,
    cluster,
    devices,
    events,
    keys,
    tenants,
    metrics,
    monitor,
    background,
    objects,
    parts,
    repair,
    notifications,
    replication,
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
        .map((id) => ({ device_id: id, used_bytes: devices.usedBytes(id), flags: monitor.flags(id), disk: devices.disk(id) })),
      shards: shards.changes(),
      view: monitor.view(),
    }),
    setSecureContext: peers.setSecureContext,
    async rotateKeys(actor) {
      const epoch = await keys.rotate(actor);
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
    tick: rounds.tick,
    start() {
      jobs.start();
      notifications.start();
      replication.start();
      context.emit("info", "node", `node ${nodeId} started`, { node: nodeId });
      rounds.start();
    },
    async stop() {
      await rounds.stop();
      await notifications.stop();
      await replication.stop();
      await jobs.stop();
      await shards.save().catch(() => undefined);
      await closeAll();
    },
  };
}

/** `ec-4-2` or `replication-3`, for replies. */
export function poolDurability(cluster: ClusterControl, pool: string): string {
  const found = cluster.state.pools[pool];
  return found === undefined ? "" : durabilityName(durabilityOf(cluster.state, found).durability);
}

/**
 * Throws `config_invalid` where another process is this node: one that answers at the address which the cluster has for it. Taking its
 * place would leave its devices with nobody who serves them.
 */
async function expectFree(
  { nodeId, peerAddress = "" }: Pick<StorageNodeOptions, "nodeId" | "peerAddress">,
  cluster: ClusterControl,
  peers: Peers,
): Promise<void> {
  await cluster.refresh();
  const known = cluster.state.nodes[nodeId];
  if (known === undefined || known.state === "Evicted" || known.peerAddress === "" || known.peerAddress === peerAddress) return;
  if ((await peers.whoIsAt(known.peerAddress)) !== nodeId) return;
  throw refusedSetting(
    "storage.node_id",
    `another process is node ${nodeId}, at ${known.peerAddress}: end it, or give this node an id of its own`,
  );
}
