import { checkArgument, type JsonObject } from "@seneschal/kernel";
import type { ClusterLog, ClusterRecord } from "./machine.ts";

/**
 * The audit events of the changes behind number `written`, oldest first. Changes that left the journal before anybody wrote them are named as a gap;
 * where all of them did nothing can be said yet: it is with the next one.
 *
 * @example
 * ```ts
 * import { clusterEvents } from "@seneschal/core/storage";
 * const command = { kind: "maintenance.set", enabled: true } as const;
 * const record = { n: 3, at: 0, actor: { id: "ada", source: "a" }, command, transitions: [] };
 * const events = clusterEvents({ journal: [record], changes: 3 }, 1);
 * console.log(events.map(({ action }) => action)); // [ 'cluster.gap', 'maintenance.set' ]
 * ```
 */
export function clusterEvents(log: Pick<ClusterLog, "journal" | "changes">, written: number): readonly JsonObject[] {
  checkArgument("log", log, "object");
  checkArgument("written", written, "number");
  const fresh = log.journal.filter(({ n }) => n > written);
  const [first] = fresh;
  if (first === undefined) return [];
  const gap = first.n > written + 1 ? [{ action: "cluster.gap", after: written, before: first.n }] : [];
  return [...gap, ...fresh.map(eventOf)];
}

function eventOf({ n, at, actor, command, transitions }: ClusterRecord): JsonObject {
  return {
    action: command.kind,
    change: n,
    command: command as unknown as JsonObject,
    transitions: transitions.map(({ from, to, reason }) => ({ from, to, reason })),
    actor: actor.id,
    source: actor.source,
    at: new Date(at).toISOString(),
  };
}
