import {
  type Absences,
  beginTurns,
  coordinates,
  failedDevices,
  giveTurnBack,
  nextScrubAt,
  removeFailed,
  stepAbsences,
  takeTurn,
} from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import type { Background, Stoppable } from "../../platform/index.ts";
import { electLeaders, migrateShards, type ShardLeadParts, splitShards } from "../cluster/shards.ts";
import { nodeActor } from "../context.ts";
import type { TenantKeys } from "../keys/tenant-keys.ts";
import type { Notifications } from "../notify/open-notifications.ts";
import { countBucket, countsToGoOn } from "../objects/bucket-usage.ts";
import type { ReplicationWork } from "../replicate/open-replication.ts";
import { forgetReplication } from "../replicate/replication-queues.ts";
import type { Monitor } from "../watch/monitor.ts";
import { countReferences } from "./chunk-pages.ts";
import { collectGarbage } from "./collect-garbage.ts";
import { expireVersions } from "./expire-versions.ts";
import type { Maintenance, OwnMaintenance } from "./open-maintenance.ts";
import type { MaintenanceParts } from "./parts.ts";
import { repairUnderReplicated } from "./scrub.ts";

/** Everything periodic of a node, round by round. */
export interface Rounds {
  /** Looks at the cluster once, then does once what is to be done for it; neither overlaps another of its kind. */
  tick(): Promise<void>;
  start(): void;
  /** Resolves when the last round is over. */
  stop(): Promise<void>;
}

export interface RoundsOptions {
  readonly parts: MaintenanceParts;
  readonly maintenance: Pick<Maintenance & OwnMaintenance, "jobs" | "scrubUnlessRunning" | "expireBackups">;
  readonly lead: ShardLeadParts;
  readonly monitor: Pick<Monitor, "sample">;
  readonly tenants: Pick<TenantKeys, "finishShreds">;
  readonly notifications: Pick<Notifications, "watch" | "forget">;
  readonly replication: Pick<ReplicationWork, "watch" | "awaitExisting">;
  readonly background: Background;
  /** Chunks with damaged fragments that reads have met since this was asked last. */
  readonly takeBadReads: () => number;
  /** Between rounds, milliseconds. */
  readonly sampleMs: number;
  /** Nodes that must have joined before the shards are laid out. */
  readonly expectedNodes: number;
  /** Between two rounds that remove expired backups. */
  readonly backupCleanupMs: number;
  /** How long jobs that are over are remembered. */
  readonly jobRetentionMs: number;
}

const lifecycleMs = 3_600_000;
/** How often old changes are looked for. */
const forgetMs = 3_600_000;
/** A restart of a node is shorter; what it holds need not be rebuilt for that. */
const absentAfterMs = 600_000;

/**
 * Samples what this node sees, leads the shards, and does for the cluster what one node does for all, while it is that node. The looks do not
 * wait for that work.
 */
export function openRounds(options: RoundsOptions): Rounds {
  const { parts, maintenance, lead, monitor, notifications, replication, background } = options;
  const { context, cluster } = parts;
  const { store, clock, metrics, nodeId } = context;
  const { up } = lead;

  /** What is due once in a while: `again` gives a turn back. */
  const turns = () => {
    let kept = beginTurns(clock.now());
    return {
      due(ms: number): boolean {
        const taken = takeTurn(kept, clock.now(), ms);
        kept = taken ?? kept;
        return taken !== undefined;
      },
      again(): void {
        kept = giveTurnBack(kept);
      },
    };
  };
  const [garbage, lifecycle, changes, backups] = [turns(), turns(), turns(), turns()];
  /** Work that failed is due again. */
  const failed = (of: ReturnType<typeof turns>) => (error: unknown) => {
    of.again();
    throw error;
  };
  let existing: Promise<unknown> | undefined;
  let absences: Absences = new Map();

  /** What one node does for the cluster, by step. */
  const coordination: Readonly<Record<string, () => Promise<void>>> = {
    "ended jobs": () => maintenance.jobs.forget(clock.now() - options.jobRetentionMs),
    "shard split": () => splitShards(lead),
    "shard migration": () => migrateShards(lead),
    async "garbage collection"() {
      if (!garbage.due(cluster.state.tuning.gc_interval_s * 1000)) return;
      await collectGarbage(parts).catch((error: unknown) => {
        if (!isCoded(error, "backup_running")) throw error;
        garbage.again();
      });
    },
    async "absent nodes"() {
      const seen = stepAbsences(absences, cluster.state, up, clock.now(), absentAfterMs);
      absences = seen.absences;
      for (const node of seen.told) {
        context.emit("error", "node", `node ${node} stays away: what it holds is rebuilt on the others`, { node });
        await maintenance.scrubUnlessRunning({ kind: "cluster" }, { trigger: "under_replication" });
      }
    },
    async lifecycle() {
      if (!lifecycle.due(lifecycleMs)) return;
      // As long as it takes to look at every version; nothing waits for it.
      void background.step("expired versions", () => expireVersions(parts).catch(failed(lifecycle)));
    },
    notifications: () => notifications.watch(),
    async replication() {
      await replication.watch();
      // As long as it takes to look at every version; nothing else waits for it.
      existing ??= background
        .step("existing versions", () => replication.awaitExisting())
        .finally(() => {
          existing = undefined;
        });
    },
    async "old changes"() {
      if (changes.due(forgetMs)) await notifications.forget().catch(failed(changes));
    },
    "crypto-shred": () => options.tenants.finishShreds(),
    repair: () => repairUnderReplicated(parts),
    async "backup clean-up"() {
      // A slow target holds up nothing else.
      if (backups.due(options.backupCleanupMs))
        void background.step("expired backups", () => maintenance.expireBackups().catch(failed(backups)));
    },
    async "periodic scrub"() {
      if (clock.now() >= nextScrubAt(cluster.state.lastPeriodicScrubAt, cluster.state.tuning.scrub_interval_h))
        await maintenance.scrubUnlessRunning({ kind: "cluster" }, { periodic: true });
    },
    /** A Failed device whose fragments have all been rebuilt elsewhere is Removed. */
    async "failed devices"() {
      for (const { id } of failedDevices(cluster.state)) {
        const command = removeFailed(id, await countReferences(store, id));
        if (command !== undefined) await cluster.propose(command, nodeActor);
      }
    },
  };

  const look = async (): Promise<void> => {
    await monitor.sample();
    const chunks = options.takeBadReads();
    if (chunks > 0) context.emit("warning", "device", "reads met bad fragments, parity covered them", { chunks });
    // Without quorum nothing can be led; the monitor has said so.
    if (!cluster.status().available) return;
    await background.step("shard layout", async () => {
      // More nodes may have joined than this one saw when it did.
      if (cluster.state.shards.length === 0)
        await cluster.propose({ kind: "shards.init", nodes: options.expectedNodes }, nodeActor);
    });
    await background.step("shard leaders", () => electLeaders(lead));
    await background.step("counters", () => lead.shards.save());
  };

  const coordinate = async (): Promise<void> => {
    if (!cluster.status().available) return;
    const leads = coordinates(cluster.state, nodeId);
    for (const [step, work] of Object.entries(coordination))
      if (leads) await background.step(step, work);
      else background.skip(step);
    if (leads)
      await background.each("bucket usage", countsToGoOn(store), ({ bucket, pages }) => countBucket(store, bucket, pages));
    else {
      for (const step of ["expired backups", "expired versions", "existing versions", "bucket usage"]) background.skip(step);
      metrics.notificationsWaiting.reset();
      forgetReplication(metrics);
    }
  };

  // Apart, so that a node that mends what another one's absence has left sees all the same who is back, and who is gone next.
  const [looks, coordinations] = [inTurn(look), inTurn(coordinate)];
  let timers: readonly Stoppable[] = [];
  return {
    async tick() {
      await looks.next();
      await coordinations.next();
    },
    start() {
      if (timers.length > 0) return;
      timers = [
        background.every("round", options.sampleMs, looks.next),
        background.every("coordination", options.sampleMs, coordinations.next),
      ];
      void background.step("round", looks.next).then(() => background.step("coordination", coordinations.next));
    },
    async stop() {
      await Promise.all(timers.map((timer) => timer.stop()));
      await looks.last().catch(() => undefined);
      await coordinations.last().catch(() => undefined);
      await existing;
    },
  };
}

/** Work whose turns never overlap, however often it is asked for. */
function inTurn(work: () => Promise<void>): { next(): Promise<void>; last(): Promise<void> } {
  let last: Promise<void> = Promise.resolve();
  return {
    next() {
      last = last.then(work, work);
      return last;
    },
    last: () => last,
  };
}
