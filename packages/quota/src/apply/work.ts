import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import type { JsonObject } from "@seneschal/kernel";
import { checkArgument, utf8Encode } from "@seneschal/kernel";
import { sortedJson } from "@seneschal/kernel/log";
import type { Command } from "../command.ts";
import type { Rejection } from "../errors.ts";
import { type AuditRecord, type Draft, type QuotaEvent, type QuotaState, seqKey } from "../state/state.ts";

/** One command at work: the state it builds and what it tells. Dropped whole when the command is refused. */
export interface Work {
  readonly draft: Draft;
  readonly at: number;
  readonly events: QuotaEvent[];
}

/** What a handler comes to: the answer for the caller, or why not. A handler that refuses has no effect. */
export type Handled = { readonly ok: true; readonly result: JsonObject } | Rejection;

const EVENTS_KEPT = 10_000;

export function startWork(state: QuotaState, at: number): Work {
  return { draft: { ...state, at }, at, events: [] };
}

/** Tells whoever listens now; nothing is stored. */
export function tell(work: Work, type: string, tenant: string | null, payload: JsonObject): void {
  work.events.push({ seq: 0, type, tenant, at: work.at, payload });
}

/** Tells and keeps: the event stays readable in the state. */
export function record(work: Work, type: string, tenant: string | null, payload: JsonObject): void {
  const { draft } = work;
  const event: QuotaEvent = { seq: draft.nextEvent++, type, tenant, at: work.at, payload };
  work.events.push(event);
  draft.events = draft.events.set(seqKey(event.seq), event);
  if (draft.events.size > EVENTS_KEPT) draft.events = draft.events.delete(seqKey(event.seq - EVENTS_KEPT));
}

/** Appends to the audit chain. */
export function audit(
  work: Work,
  command: Command,
  resourceType: string,
  resourceId: string,
  details: JsonObject,
  action: string = command.kind,
): void {
  const { draft } = work;
  const entry: Omit<AuditRecord, "hash"> = {
    seq: draft.nextAudit++,
    at: work.at,
    action,
    user: command.by,
    resourceType,
    resourceId,
    details: command.why === undefined ? details : { ...details, why: command.why },
  };
  const hash = auditHash(draft.auditHead, entry);
  draft.auditHead = hash;
  draft.audit = draft.audit.set(seqKey(entry.seq), { hash, ...entry });
}

/** Hex SHA-256 of the previous hash, a line feed and the entry's canonical JSON. */
export function auditHash(previous: string, entry: Omit<AuditRecord, "hash">): string {
  checkArgument("previous", previous, "string");
  checkArgument("entry", entry, "object");
  const { seq, at, action, user, resourceType, resourceId, details } = entry;
  return bytesToHex(
    sha256(utf8Encode(`${previous}\n${sortedJson({ seq, at, action, user, resourceType, resourceId, details })}`)),
  );
}
