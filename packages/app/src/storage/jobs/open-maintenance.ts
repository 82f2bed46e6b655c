import type { Job } from "@seneschal/core/jobs";
import {
  admitJob,
  type ClusterCommand,
  drainNode,
  evacuateDevice,
  evictNode,
  keepDevice,
  keepNode,
  type MaintenanceRequest,
  removeDevice,
  removePool,
  type ScrubScope,
  type SmartReading,
  snapshotOf,
  storageError,
} from "@seneschal/core/storage";
import { isCoded, type JsonObject } from "@seneschal/kernel";
import { type Background, type Jobs, openJobs } from "../../platform/index.ts";
import { type Actor, nodeActor } from "../context.ts";
import type { LocalDevices } from "../data/devices.ts";
import type { NewDevice } from "../peers/new-device.ts";
import type { Peers } from "../peers/open-peers.ts";
import { expireBackups, readManifest, runBackup, targetOf } from "./backup.ts";
import { countReferences } from "./chunk-pages.ts";
import { collectGarbage } from "./collect-garbage.ts";
import { devicesSeen, runDrain, runEvacuation, runRebalance } from "./move-fragments.ts";
import type { MaintenanceParts } from "./parts.ts";
import { openBackupKeys, runRestore } from "./restore.ts";
import { runScrub } from "./scrub.ts";

/** What operators, and the node itself, tell the cluster to do with its devices and data. */
export interface Maintenance {
  readonly jobs: Jobs;
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
}

/** What the node does of itself. */
export interface OwnMaintenance {
  /** A scrub, unless the same one runs. `why`: what is noted of it. */
  scrubUnlessRunning(scope: ScrubScope, why: JsonObject): Promise<void>;
  /** Empties a device that its readings condemn. While that is refused it stays as it is, which is told once for one reason. */
  evacuateCondemned(device: string, reason: string, reading: SmartReading): Promise<void>;
  /** Gives a silent device up, and rebuilds what lay on it. */
  loseDevice(device: string): Promise<void>;
  /** Removes backups past their time, but never one that is being written. */
  expireBackups(): Promise<void>;
}

export interface MaintenanceOptions {
  readonly parts: MaintenanceParts;
  readonly local: LocalDevices;
  readonly peers: Pick<Peers, "addDevice">;
  readonly background: Background;
  readonly log: Parameters<typeof openJobs>[0]["log"];
  /** The pools of this node's settings; data goes to the first. */
  readonly pools: readonly string[];
  /** What a backup has when its request does not say. */
  readonly backupDefaults: { readonly retention_days: number; readonly include_data: boolean };
  /** The last reading of a device. */
  readonly reading: (device: string) => SmartReading;
}

/** Opens the jobs of a node, which begin with {@link Jobs.start}. What may begin is decided by the rules of core alone. */
export function openMaintenance(options: MaintenanceOptions): Maintenance & OwnMaintenance {
  const { parts, local, peers, background, log, pools, backupDefaults, reading } = options;
  const { context, cluster } = parts;
  const { store, clock, random, nodeId } = context;
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

  const active = async (): Promise<readonly Job[]> => [
    ...(await jobs.list({ state: "queued", limit: 1000 })),
    ...(await jobs.list({ state: "running", limit: 1000 })),
  ];
  const admit = async (request: MaintenanceRequest) => admitJob(cluster.state, await active(), request);
  const begin = ({ kind, params }: ReturnType<typeof admitJob>, { id }: Actor): Promise<Job> =>
    jobs.submit({ kind, params, created_by: id, owner: "storage" });
  const ask = async (request: MaintenanceRequest, actor: Actor): Promise<Job> => begin(await admit(request), actor);
  const propose = async (commands: readonly ClusterCommand[], actor: Actor): Promise<void> => {
    for (const command of commands) await cluster.propose(command, actor);
  };
  const cancel = async (kind: string, match: (params: JsonObject) => boolean): Promise<void> => {
    const job = (await active()).find((one) => one.kind === kind && match(one.params));
    if (job !== undefined) await jobs.cancel(job.id).catch(() => undefined);
  };
  const empty = async (device: string, why: Parameters<typeof evacuateDevice>[2], actor: Actor): Promise<Job> => {
    await cluster.propose(evacuateDevice(cluster.state, device, why, devicesSeen(parts)), actor);
    return ask({ kind: "evacuation", device, reason: why.reason }, actor);
  };
  const scrubUnlessRunning: OwnMaintenance["scrubUnlessRunning"] = async (scope, why) => {
    await ask({ kind: "scrub", scope, why }, nodeActor).catch((error: unknown) => {
      if (!isCoded(error, "AlreadyExists")) throw error;
    });
  };
  const refusals = new Map<string, string>();

  return {
    jobs,
    scrub: (scope, actor) => ask({ kind: "scrub", scope }, actor),
    scrubUnlessRunning,
    backup: (params, actor) => ask({ kind: "backup", params: { ...backupDefaults, ...params } }, actor),
    async restore(params, actor) {
      const job = await admit({ kind: "restore", params, defaultPool: pools[0] ?? "" });
      const snapshot = params["snapshot_id"] as string;
      const target = targetOf(parts, params);
      if (!(await target.list()).includes(snapshot))
        throw storageError("NotFound", `no such snapshot: ${snapshot}`, { field: "snapshot" });
      await openBackupKeys(parts, await readManifest(target, snapshot));
      return begin(job, actor);
    },
    async expireBackups() {
      const writing = (await active()).filter(({ kind }) => kind === "backup").map(snapshotOf);
      const facts = { writing, retentionDays: backupDefaults.retention_days, now: clock.now() };
      for (const target of Object.values(parts.backups)) await expireBackups(context, target, facts);
    },
    async addDevice(id, device, actor) {
      const node = cluster.state.nodes[id];
      if (node === undefined) throw storageError("NotFound", `no such node: ${id}`, { field: "node" });
      if (id === nodeId) return local.add(device, actor);
      await peers.addDevice(node, device, actor);
      // What the other node was told must be seen here before the answer.
      await cluster.refresh();
    },
    evacuate: (device, actor) => empty(device, { trigger: "operator", reason: `asked by ${actor.id}` }, actor),
    async evacuateCondemned(device, reason, found) {
      try {
        await empty(device, { trigger: "automatic", reason, reading: found }, nodeActor);
        refusals.delete(device);
      } catch (error) {
        if (!isCoded(error, "EvacuationRefused", "DeviceTransitionRefused")) throw error;
        // It stays Degraded and is tried again each round; one event per reason is enough.
        if (refusals.get(device) !== error.message)
          context.emit("warning", "device", `automatic evacuation waits: ${error.message}`, { device });
        refusals.set(device, error.message);
      }
    },
    async loseDevice(id) {
      const lost = { kind: "lost", reason: "the device does not answer" } as const;
      await cluster.propose({ kind: "device.event", id, event: lost }, nodeActor);
      await scrubUnlessRunning({ kind: "device", id }, { trigger: "under_replication" });
    },
    async cancelEvacuation(device, actor) {
      await cluster.propose(keepDevice(cluster.state, device, reading(device)), actor);
      await cancel("evacuation", (params) => params["device"] === device);
    },
    rebalance: (pool, actor) => ask({ kind: "rebalance", pool }, actor),
    collectGarbage: (actor) => ask({ kind: "gc" }, actor),
    async removeDevice(device, actor) {
      const removed = cluster.state.devices[device]?.state === "Removed";
      await cluster.propose(removeDevice(device, removed ? await countReferences(store, device) : 0), actor);
    },
    async removePool(id, actor) {
      const holdsData = (await store.count("storage_chunks", "by_pool", [id])) > 0;
      await cluster.propose(removePool(id, { configured: pools, holdsData }), actor);
    },
    async drainNode(node, actor) {
      const job = await admit({ kind: "drain", node });
      const seen = { ...devicesSeen(parts), up: parts.objects.up };
      await cluster.propose(drainNode(cluster.state, node, seen), actor);
      return begin(job, actor);
    },
    async cancelDrain(node, actor) {
      await propose(keepNode(cluster.state, node), actor);
      await cancel("drain", (params) => params["node"] === node);
    },
    async evictNode(node, actor) {
      await cluster.propose(evictNode(cluster.state, node, nodeId), actor);
    },
  };
}
