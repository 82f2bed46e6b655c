import type { JsonObject } from "@seneschal/kernel";
import type { IndexSpec, IndexValue } from "@seneschal/kernel/ports";
import type { AuditEvent } from "./event.ts";

/** An item of the store's audit pseudo-collection. */
export interface AuditRecord {
  readonly seq: number;
  readonly stream: string;
  readonly stream_seq: number;
  readonly event: AuditEvent;
}

const index = (key: (record: AuditRecord) => readonly IndexValue[]): IndexSpec => ({
  key: (doc: JsonObject) => key(doc as unknown as AuditRecord),
});

/** The indexes that the gateway's store is opened with for its audit log; each ends in the time. */
export const auditIndexes = {
  by_id: index(({ event }) => [event.id]),
  by_time: index(({ stream, event }) => [stream, event.timestamp]),
  by_workspace: index(({ stream, event }) => [stream, event.workspace, event.timestamp]),
  by_type: index(({ stream, event }) => [stream, event.event_type, event.timestamp]),
  by_actor: index(({ stream, event }) => [stream, event.actor, event.timestamp]),
} as const;
