import { type ClusterLog, clusterEvents } from "@seneschal/core/storage";
import type { DocumentStore } from "@seneschal/kernel/ports";
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
