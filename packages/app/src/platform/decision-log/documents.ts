import { checkArgument, type JsonObject } from "@seneschal/kernel";
import type { Collections, DocumentStore, Put } from "@seneschal/kernel/ports";

/** Decisions that are still to be told, by the ids of the audit events that they stand behind. Merge it into the collections of the service. */
export const decisionCollections: Collections = { decisions: { indexes: { by_time: { key: (doc) => [doc["at"] as number] } } } };

/** Decisions in one document: a batch asks policies about each context of its items. */
const IN_ONE = 100;

/** What a commit puts so that decisions, as JSON texts, are told with one audit event of it. */
export function decisionDocuments(auditId: string, at: number, events: readonly string[]): readonly Put[] {
  checkArgument("auditId", auditId, "string");
  checkArgument("at", at, "number");
  checkArgument("events", events, "array");
  const documents = Math.ceil(events.length / IN_ONE);
  return Array.from({ length: documents }, (_, n) => {
    // As texts: what policies say may be what no store holds, such as U+0000.
    const doc: JsonObject = { at, documents, events: events.slice(n * IN_ONE, (n + 1) * IN_ONE) };
    return { coll: "decisions", id: documentId(auditId, n), doc };
  });
}

/** The decisions that are still to be told, by the ids of their audit events, in the order in which they were made. */
export async function decisionsOf(
  store: Pick<DocumentStore, "getMany">,
  auditIds: readonly string[],
): Promise<ReadonlyMap<string, readonly JsonObject[]>> {
  checkArgument("store", store, "object");
  checkArgument("auditIds", auditIds, "array");
  const eventsOf = (doc: JsonObject) => (doc["events"] as readonly string[]).map((text) => JSON.parse(text) as JsonObject);
  const told = new Map<string, readonly JsonObject[]>();
  for (const stored of await store.getMany("decisions", auditIds)) {
    if (stored === undefined) continue;
    const { id, doc } = stored;
    const rest = Array.from({ length: (doc["documents"] as number) - 1 }, (_, n) => documentId(id, n + 1));
    const more = rest.length === 0 ? [] : await store.getMany("decisions", rest);
    told.set(id, [...eventsOf(doc), ...more.flatMap((one) => (one === undefined ? [] : eventsOf(one.doc)))]);
  }
  return told;
}

const documentId = (auditId: string, n: number): string => (n === 0 ? auditId : `${auditId}.${n}`);

/** A request may have begun so long before its record was written. */
const MARGIN_MS = 3_600_000;
const PAGE = 500;

/** Deletes the decisions that every sink has been told; `until` is when the last of them had heard everything. */
export async function forgetDecisions(store: DocumentStore, until: number, commitId: () => string): Promise<void> {
  checkArgument("store", store, "object");
  checkArgument("until", until, "number");
  checkArgument("commitId", commitId, "function");
  for (;;) {
    const { items } = await store.list("decisions", "by_time", [], { to: [until - MARGIN_MS], limit: PAGE });
    if (items.length === 0) return;
    const dels = items.map(({ id }) => ({ coll: "decisions", id }));
    if (!(await store.commit({ commitId: commitId(), dels })).ok || items.length < PAGE) return;
  }
}
