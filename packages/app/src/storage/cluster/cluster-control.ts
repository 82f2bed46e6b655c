import type { JsonObject } from "@seneschal/core";
import type { DocumentStore } from "@seneschal/core/ports";
import {
  type ClusterCommand,
  type ClusterState,
  type DeviceTransition,
  emptyCluster,
  stepCluster,
  storageError,
} from "@seneschal/core/storage";
import { type Actor, commit } from "../context.ts";

/** A committed change of the cluster state. */
export interface ClusterChange {
  readonly command: ClusterCommand;
  readonly before: ClusterState;
  readonly after: ClusterState;
  readonly changed: boolean;
  readonly transitions: readonly DeviceTransition[];
  readonly actor: Actor;
}

/** What the nodes agree on, and the only way to change it. */
export interface ClusterControl {
  /** The newest state this node has seen. */
  readonly state: ClusterState;
  /** Resolves when the change is committed. Throws the refusal as a storage error; then nothing changed. */
  propose(command: ClusterCommand, actor: Actor): Promise<ClusterChange>;
  /** Called after every change that this node commits. */
  onChange(listener: (change: ClusterChange) => void): void;
  /** Reads what other nodes committed. */
  refresh(): Promise<void>;
  status(): { readonly entries: number; readonly role: "leader" | "follower" | "candidate"; readonly lastLatencySeconds: number };
}

/**
 * The cluster state as one document, changed by compare-and-set with its audit event in the same commit. Several
 * processes on one database agree; a loser applies its command to the newer state.
 */
export async function openClusterControl(
  store: DocumentStore,
  now: () => number,
  onLatency: (seconds: number) => void = () => undefined,
): Promise<ClusterControl> {
  const coll = "storage_cluster";
  const id = "state";
  let state: ClusterState = emptyCluster;
  let version = 0;
  let entries = 0;
  let lastLatencySeconds = 0;
  let queue: Promise<unknown> = Promise.resolve();
  const listeners: ((change: ClusterChange) => void)[] = [];

  const refresh = async (): Promise<void> => {
    const found = await store.get(coll, id);
    if (found === undefined || found.version === version) return;
    version = found.version;
    entries = found.doc["entries"] as number;
    state = found.doc["state"] as unknown as ClusterState;
  };

  const attempt = async (command: ClusterCommand, actor: Actor): Promise<ClusterChange> => {
    const started = performance.now();
    for (;;) {
      const before = state;
      const step = stepCluster(before, command, now());
      if (!step.ok) throw storageError(step.error, step.message, step.details);
      const change = { command, before, after: step.state, changed: step.changed, transitions: step.transitions, actor };
      if (!step.changed) return change;
      const result = await commit(store, {
        puts: [{ coll, id, doc: { entries: entries + 1, state: step.state as unknown as JsonObject }, ifVersion: version }],
        audit: [{ stream: "storage", event: auditEvent(command, actor, step.transitions, now()) }],
      });
      if (!result.ok) {
        await refresh();
        continue;
      }
      version = result.versions[`${coll}/${id}`] ?? version;
      entries += 1;
      state = step.state;
      lastLatencySeconds = (performance.now() - started) / 1000;
      onLatency(lastLatencySeconds);
      for (const listener of listeners) listener(change);
      return change;
    }
  };

  await refresh();
  return {
    get state() {
      return state;
    },
    propose(command, actor) {
      const work = queue.then(() => attempt(command, actor));
      queue = work.catch(() => undefined);
      return work;
    },
    onChange(listener) {
      listeners.push(listener);
    },
    refresh,
    status: () => ({ entries, role: "leader", lastLatencySeconds }),
  };
}

function auditEvent(command: ClusterCommand, actor: Actor, transitions: readonly DeviceTransition[], at: number): JsonObject {
  return {
    action: command.kind,
    command: command as unknown as JsonObject,
    transitions: transitions.map((t) => ({ from: t.from, to: t.to, reason: t.reason })),
    actor: actor.id,
    source: actor.source,
    at: new Date(at).toISOString(),
  };
}
