import type { Period } from "@seneschal/core/keys";
import type { DocumentStore } from "@seneschal/kernel/ports";
import type { AuditRecord } from "../../ground/index.ts";
import { scanAudit } from "./query.ts";

/** Actors that are remembered while counting; more are counted along the index. */
const REMEMBERED = 10_000;

/**
 * What happened in a period, counted over a whole stream up to its event `size`. One pass, one page in memory: of any number of
 * events and actors.
 */
export async function auditFigures(
  store: DocumentStore,
  stream: string,
  period: Period,
  size = Number.MAX_SAFE_INTEGER,
  remembered = REMEMBERED,
) {
  const results = { success: 0, error: 0, denied: 0 };
  const byType = new Map<string, number>();
  const actors = new Set<string>();
  let total = 0;
  for await (const { event, stream_seq } of scanAudit(store, stream, period)) {
    if (stream_seq > size) continue;
    total += 1;
    results[event.result] += 1;
    byType.set(event.event_type, (byType.get(event.event_type) ?? 0) + 1);
    if (actors.size <= remembered) actors.add(event.actor);
  }
  return {
    total_events: total,
    success_count: results.success,
    error_count: results.error,
    denied_count: results.denied,
    events_by_type: Object.fromEntries([...byType].sort()),
    unique_actors: actors.size <= remembered ? actors.size : await countActors(store, stream, period, size),
  };
}

/** From actor to actor along the index, which sorts by actor and time. */
async function countActors(store: DocumentStore, stream: string, period: Period, size: number): Promise<number> {
  let count = 0;
  let after: readonly [actor: string, beyond: string] | undefined;
  for (;;) {
    const { items } = await store.list("audit", "by_actor", [stream], { limit: 1, ...(after && { from: after }) });
    const actor = (items[0]?.doc as AuditRecord | undefined)?.event.actor;
    if (actor === undefined) return count;
    for await (const { stream_seq } of scanAudit(store, stream, { ...period, actor })) {
      if (stream_seq > size) continue;
      count += 1;
      break;
    }
    // No time sorts behind "~".
    after = [actor, "~"];
  }
}
