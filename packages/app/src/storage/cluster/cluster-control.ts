import { join } from "node:path";
import { openLevelLog } from "@seneschal/adapters/level";
import { createMemoryLog } from "@seneschal/adapters/memory";
import {
  type ClusterCommand,
  type ClusterLog,
  type ClusterProposal,
  type ClusterRecord,
  type ClusterState,
  type ClusterVerdict,
  type CommittedChange,
  clusterEvents,
  clusterMachine,
  storageError,
} from "@seneschal/core/storage";
import { checkArgument, isCoded, type Json } from "@seneschal/kernel";
import { type Machine, openReplicated, rememberCommands, type Sha256 } from "@seneschal/kernel/log";
import type { Clock, DocumentStore, LogErrorCode, ReplicatedLog } from "@seneschal/kernel/ports";
import { etcdOptions } from "../../platform/index.ts";
import { type Actor, commit } from "../context.ts";
import { refusedSetting } from "../refused-setting.ts";
import type { StorageConfig } from "../settings.ts";

/** A committed change of the cluster state, this node's or another's. */
export interface ClusterChange extends CommittedChange {
  readonly actor: Actor;
}

/** What the nodes agree on, and the only way to change it. */
export interface ClusterControl {
  /** The newest state this node has seen. */
  readonly state: ClusterState;
  /** Resolves when the change is committed and seen here. Throws the refusal as a storage error; then nothing changed. */
  propose(command: ClusterCommand, actor: Actor): Promise<void>;
  /** Called for every change that any node commits, in order. */
  onChange(listener: (change: ClusterChange) => void): void;
  /** Reads what other nodes committed. Throws `QuorumLost`. */
  refresh(): Promise<void>;
  /** The same, unless it was done within the last second: what writes stand on. */
  confirm(): Promise<void>;
  status(): ClusterStatus;
  /** The newest changes, oldest first. */
  journal(): readonly ClusterRecord[];
  close(): Promise<void>;
}

interface ClusterStatus {
  /** Changes ever. */
  readonly entries: number;
  /** The log's sequence that this node has applied. */
  readonly seq: number;
  /** The log answered when it was last asked. */
  readonly available: boolean;
}

export interface ClusterControlOptions {
  readonly log: ReplicatedLog;
  readonly clock: Clock;
  readonly sha256: Sha256;
  readonly newId: () => string;
  /** Writes what was committed to the audit log; called again with the same when it failed. */
  readonly audit: (log: ClusterLog) => Promise<void>;
  readonly onLatency?: (seconds: number) => void;
}

const freshMs = 1000;
const attempts = 3;

/** The cluster state on a replicated log: an embedded one for one node, etcd for several. Closes the log with itself. */
export async function openClusterControl(options: ClusterControlOptions): Promise<ClusterControl> {
  const { log, clock, newId, audit } = options;
  const machine = rememberCommands(clusterMachine as Machine<ClusterLog, ClusterProposal, Json>, {
    commands: 10_000,
    ms: 86_400_000,
  });
  const replicated = await openReplicated({ log, machine, clock, sha256: options.sha256, newId });
  const listeners: ((change: ClusterChange) => void)[] = [];
  let { cluster: before } = replicated.state().inner;
  let available = true;
  let contact = clock.now();
  let confirming: Promise<void> | undefined;

  replicated.subscribe(({ commands, results, state }) => {
    const after = state.inner.cluster;
    for (const [i, logged] of commands.entries()) {
      const { command, actor } = logged as unknown as ClusterProposal;
      const verdict = results[i] as unknown as ClusterVerdict;
      if (!verdict.ok) continue;
      for (const listener of listeners) listener({ command, before, after, transitions: verdict.transitions, actor });
    }
    before = after;
  });

  const answered = <T>(value: T): T => {
    available = true;
    contact = clock.now();
    return value;
  };
  const failed = (error: unknown): Error => {
    if (!isCoded(error, ...logErrors)) return error as Error;
    available = false;
    if (isCoded(error, "outcome_unknown"))
      return storageError("QuorumLost", "it is not known whether the change is committed", { outcome: "unknown" }, error);
    return isCoded(error, "no_quorum")
      ? storageError("QuorumLost", "the cluster has no consensus quorum", {}, error)
      : storageError("ShardUnavailable", "this node does not follow the cluster's log", {}, error);
  };

  const send = async (proposal: ClusterProposal): Promise<ClusterVerdict> => {
    let unknown: unknown;
    for (let attempt = 1; ; attempt++) {
      try {
        const [proposed] = await replicated.propose([proposal]);
        return answered(proposed?.result as unknown as ClusterVerdict);
      } catch (error) {
        // The same id again: it is applied once. A repeat that got nowhere says nothing about the first.
        if (isCoded(error, "outcome_unknown")) unknown = error;
        if (unknown === undefined || attempt >= attempts) throw failed(unknown ?? error);
      }
    }
  };

  const refresh = async (): Promise<void> => {
    try {
      answered(await replicated.read());
    } catch (error) {
      throw failed(error);
    }
    await audit(replicated.state().inner);
  };

  return {
    get state() {
      return replicated.state().inner.cluster;
    },
    async propose(command, actor) {
      const started = performance.now();
      const verdict = await send({ id: newId(), actor: { id: actor.id, source: actor.source }, command });
      if (!verdict.ok) throw storageError(verdict.error, verdict.message, verdict.details);
      if (!verdict.changed) return;
      options.onLatency?.((performance.now() - started) / 1000);
      // The change stands whatever becomes of this: its record is in the log, and the next refresh writes it again.
      await audit(replicated.state().inner).catch(() => undefined);
    },
    onChange(listener) {
      listeners.push(listener);
    },
    refresh,
    confirm() {
      if (available && clock.now() - contact < freshMs) return Promise.resolve();
      confirming ??= replicated
        .read()
        .then(answered)
        .then(
          () => undefined,
          (error: unknown) => Promise.reject(failed(error)),
        )
        .finally(() => {
          confirming = undefined;
        });
      return confirming;
    },
    status: () => ({ entries: replicated.state().inner.changes, seq: replicated.health().seq, available }),
    journal: () => replicated.state().inner.journal,
    async close() {
      await replicated.close();
      await log.close();
    },
  };
}

const logErrors: readonly LogErrorCode[] = [
  "outcome_unknown",
  "no_quorum",
  "log_full",
  "log_truncated",
  "snapshot_missing",
  "snapshot_invalid",
  "log_diverged",
  "log_version",
  "log_closed",
  "log_failed",
  "log_misconfigured",
];

/** The configured log of the cluster. Throws `config_invalid`, and what the adapters throw. */
export async function openClusterLog(settings: StorageConfig["cluster"], directory: string): Promise<ReplicatedLog> {
  checkArgument("settings", settings, "object");
  checkArgument("directory", directory, "string");
  switch (settings.kind) {
    case "memory":
      return createMemoryLog().open();
    case "level":
      return openLevelLog({ path: join(directory, "cluster-log") });
    case "etcd": {
      if (settings.endpoints.length === 0) throw refusedSetting("storage.cluster.endpoints", "etcd needs them");
      // Loaded when it is wanted: the client takes several megabytes.
      const { openEtcdLog } = await import("@seneschal/adapters/etcd");
      return openEtcdLog({ ...etcdOptions(settings), prefix: settings.prefix });
    }
  }
}

const coll = "storage_cluster";
const id = "audited";

/**
 * Writes committed cluster changes to the audit log, each once whichever node does it: the number of the last one is
 * committed with them. Changes that left the journal before any node wrote them are named as a gap.
 */
export function createClusterAudit(store: DocumentStore): (log: ClusterLog) => Promise<void> {
  let written = 0;
  return async ({ journal, changes }) => {
    while (written < changes) {
      const found = await store.get(coll, id);
      written = (found?.doc["n"] as number | undefined) ?? 0;
      const events = clusterEvents({ journal, changes }, written);
      if (events.length === 0) return;
      const result = await commit(store, {
        puts: [{ coll, id, doc: { n: changes }, ifVersion: found?.version ?? 0 }],
        audit: events.map((event) => ({ stream: "storage", event })),
      });
      if (result.ok) written = changes;
    }
  };
}
