import type { Collections, DocumentStore } from "@seneschal/kernel/ports";

/** How far each sink was told of the log, by its name, and the leases of those who tell them. Merge it into the collections of the service. */
export const auditSinkCollections: Collections = { audit_sinks: { indexes: {} }, leases: { indexes: {} } };

/** How far a sink was told. */
export interface SinkPlace {
  /** Number of the last event. */
  readonly seq: number;
  /** Of the document. */
  readonly version: number;
}

export const placeDocument = (name: string, seq: number, ifVersion: number) => ({
  coll: "audit_sinks",
  id: name,
  doc: { seq },
  ifVersion,
});

export async function placeOf(store: DocumentStore, name: string): Promise<SinkPlace | undefined> {
  const found = await store.get("audit_sinks", name);
  return found && { seq: found.doc["seq"] as number, version: found.version };
}
