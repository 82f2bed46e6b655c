import type { AuditEntry, DocumentStore } from "@seneschal/kernel/ports";

/** What sinks read of an audit log: its events in order, each by its number in the log of the whole instance. */
export interface AuditSource {
  /** Events behind number `after`, ascending. Numbers may be missing: those are gone, or were archived. */
  read(after: number, limit: number): Promise<readonly AuditEntry[]>;
  /** The newest number; 0 for an empty log. */
  newest(): Promise<number>;
}

/** The audit log of a document store. */
export function auditSourceOf(store: DocumentStore): AuditSource {
  return {
    read: (after, limit) => store.auditRead(after, limit),
    async newest() {
      const { items } = await store.list("audit", "seq", [], { limit: 1, reverse: true });
      return items[0]?.version ?? 0;
    },
  };
}
