import { isKeyUse } from "@seneschal/core/keys";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { scanAudit } from "../audit-views/query.ts";
import type { Scope } from "./scope.ts";

/** When a workspace's key was last used, out of the audit log. */
export interface LastUses {
  /** By anybody. */
  newest(): Promise<string | null>;
  /** The same people with the time of each. A few hundred of them are held at a time, however many there are and however often they came. */
  of<P extends { readonly identity_id: string }>(
    people: AsyncIterable<P>,
  ): AsyncGenerator<P & { readonly last_access: string | null }>;
}

const BATCH = 500;

/** Looks back from the newest event of the workspace, and no further than it must. */
export function lastUses(store: DocumentStore, { org, period, size }: Scope, workspace: string): LastUses {
  async function* backwards() {
    for await (const { event, stream_seq } of scanAudit(store, org, { ...period, workspace }, true)) {
      if (isKeyUse(event) && stream_seq <= size) yield event;
    }
  }

  async function* timed<P extends { readonly identity_id: string }>(batch: readonly P[]) {
    const wanted = new Set(batch.map(({ identity_id }) => identity_id));
    const times = new Map<string, string>();
    for await (const { actor, timestamp } of backwards()) {
      if (wanted.delete(actor)) times.set(actor, timestamp);
      if (wanted.size === 0) break;
    }
    for (const person of batch) yield { ...person, last_access: times.get(person.identity_id) ?? null };
  }

  return {
    async newest() {
      for await (const { timestamp } of backwards()) return timestamp;
      return null;
    },
    async *of(people) {
      let batch = [];
      for await (const person of people) {
        if (batch.push(person) < BATCH) continue;
        yield* timed(batch);
        batch = [];
      }
      if (batch.length > 0) yield* timed(batch);
    },
  };
}
