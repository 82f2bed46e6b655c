import type { JsonObject } from "@seneschal/kernel";
import { createRing } from "./ring.ts";

export const severities = ["info", "warning", "error", "critical"] as const;
export type Severity = (typeof severities)[number];

export const eventCategories = ["node", "shard", "device", "tenant", "security", "admin", "raft", "gateway"] as const;
export type EventCategory = (typeof eventCategories)[number];

/** An entry of the node's event log. `timestamp` is milliseconds since the epoch. */
export interface StorageEvent {
  readonly id: number;
  readonly timestamp: number;
  readonly severity: Severity;
  readonly category: EventCategory;
  readonly message: string;
  readonly source: string;
  readonly details: JsonObject;
}

export interface EventQuery {
  readonly severity?: Severity;
  readonly category?: EventCategory;
  readonly since: number;
  readonly limit: number;
}

export interface EventLog {
  append(event: Omit<StorageEvent, "id">): StorageEvent;
  /** Newest first; filters match exactly. */
  query(query: EventQuery): readonly StorageEvent[];
}

/**
 * The in-memory categorised event log (spec 3 A, Events).
 *
 * @example
 * ```ts
 * import { createEventLog } from "@seneschal/core/storage";
 * const log = createEventLog();
 * log.append({ timestamp: 0, severity: "info", category: "device", source: "n1", message: "device added", details: {} });
 * console.log(log.query({ since: 0, limit: 10 }).map(({ id, message }) => `${id} ${message}`)); // [ '1 device added' ]
 * ```
 */
export function createEventLog(capacity = 10_000): EventLog {
  const ring = createRing<StorageEvent>(capacity);
  let id = 0;
  return {
    append(draft) {
      id += 1;
      const event = { ...draft, id };
      ring.push(event);
      return event;
    },
    query({ severity, category, since, limit }) {
      const found: StorageEvent[] = [];
      const items = ring.items();
      for (let i = items.length - 1; i >= 0 && found.length < limit; i--) {
        const event = items[i];
        if (event === undefined || event.timestamp < since) continue;
        if (severity !== undefined && event.severity !== severity) continue;
        if (category !== undefined && event.category !== category) continue;
        found.push(event);
      }
      return found;
    },
  };
}

/**
 * Remembers the last value per subject, so that an event is emitted on a transition only.
 *
 * @example
 * ```ts
 * import { createEdges } from "@seneschal/core/storage";
 * const edges = createEdges<string>();
 * edges.observe("d1", "free");
 * console.log(edges.observe("d1", "full"), edges.observe("d1", "full")); // { before: 'free' } undefined
 * ```
 */
export function createEdges<V extends string>(): {
  /** The value before, when it differs from `value`; `undefined` when nothing changed or the subject was new. */
  observe(subject: string, value: V): { readonly before: V } | undefined;
  forget(subject: string): void;
} {
  const last = new Map<string, V>();
  return {
    observe(subject, value) {
      const before = last.get(subject);
      last.set(subject, value);
      return before === undefined || before === value ? undefined : { before };
    },
    forget(subject) {
      last.delete(subject);
    },
  };
}
