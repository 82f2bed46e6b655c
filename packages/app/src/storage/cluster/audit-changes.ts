import type { ClusterLog, ClusterRecord } from "@seneschal/core/storage";
import type { JsonObject } from "@seneschal/kernel";
import type { AuditDraft, DocumentStore } from "@seneschal/kernel/ports";
import { commit } from "../context.ts";

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
      const fresh = journal.filter(({ n }) => n > written);
      const [first] = fresh;
      if (first === undefined) return;
      const gap = first.n > written + 1 ? [draft({ action: "cluster.gap", after: written, before: first.n })] : [];
      const result = await commit(store, {
        puts: [{ coll, id, doc: { n: changes }, ifVersion: found?.version ?? 0 }],
        audit: [...gap, ...fresh.map((record) => draft(eventOf(record)))],
      });
      if (result.ok) written = changes;
    }
  };
}

function draft(event: JsonObject): AuditDraft {
  return { stream: "storage", event };
}

function eventOf({ n, at, actor, command, transitions }: ClusterRecord): JsonObject {
  return {
    action: command.kind,
    change: n,
    command: command as unknown as JsonObject,
    transitions: transitions.map((t) => ({ from: t.from, to: t.to, reason: t.reason })),
    actor: actor.id,
    source: actor.source,
    at: new Date(at).toISOString(),
  };
}
