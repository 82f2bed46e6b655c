import type { AuditSink } from "@seneschal/adapters/audit-sinks";
import { type AuditMessage, selects } from "@seneschal/core/audit";
import type { AuditEntry, DocumentStore } from "@seneschal/kernel/ports";
import type { Lease } from "../jobs/lease.ts";
import { placeDocument, placeOf } from "./places.ts";
import type { AuditSinkSettings } from "./settings.ts";
import type { AuditSource } from "./source.ts";

const LARGEST_BATCH = 500;

export interface SinkTurn {
  readonly name: string;
  readonly sink: AuditSink;
  readonly settings: AuditSinkSettings;
  readonly store: DocumentStore;
  readonly source: AuditSource;
  /** What is told of events; nothing of those that have nothing of the kind that this sink tells. */
  readonly messages: (entries: readonly AuditEntry[]) => Promise<readonly AuditMessage[]>;
  /** Where several processes share the store: one of them tells a sink at a time. */
  readonly lease: Lease | undefined;
  readonly now: () => number;
  readonly commitId: () => string;
  readonly signal: AbortSignal;
  /** So many events have come to the receiver. */
  readonly delivered: (events: number) => void;
  /** So many events between two that are there are not in the log any more. */
  readonly missing: (events: number) => void;
}

/**
 * The turns of one sink: each tells it all that it has not heard, in order, batch by batch, and writes down how far it came after each. What a crash
 * leaves between the two is told again. Rejects when the sink does not take a batch, which is smaller the next time, in
 * case it was too much; nothing is ever passed over.
 */
export function tellSink(turn: SinkTurn): () => Promise<void> {
  const { name, sink, settings, store, source, messages, lease, now, commitId, signal } = turn;
  let batch = LARGEST_BATCH;
  return async () => {
    const mine = async (): Promise<boolean> => lease === undefined || lease.hold(now(), commitId());
    while (!signal.aborted && (await mine())) {
      const place = await placeOf(store, name);
      const entries = place === undefined ? [] : await source.read(place.seq, batch);
      const last = entries.at(-1);
      if (place === undefined || last === undefined) return;
      const told = (await messages(entries)).filter((one) => selects(settings, one));
      if (told.length > 0) {
        try {
          await sink.send(told, signal);
        } catch (error) {
          if (signal.aborted) return;
          batch = Math.max(1, Math.floor(batch / 2));
          throw error;
        }
        batch = Math.min(LARGEST_BATCH, batch * 2);
      }
      const puts = [placeDocument(name, last.seq, place.version)];
      // Another process was here: it goes on from where it stands.
      if (!(await store.commit({ commitId: commitId(), puts, checks: lease === undefined ? [] : [lease.check()] })).ok) return;
      turn.delivered(told.length);
      const gone = last.seq - place.seq - entries.length;
      if (gone > 0) turn.missing(gone);
    }
  };
}
