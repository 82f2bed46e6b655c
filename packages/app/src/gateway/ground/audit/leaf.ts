import { canonicalJson } from "@seneschal/crypto";
import type { Sha256 } from "@seneschal/crypto/merkle";
import type { JsonObject } from "@seneschal/kernel";
import { checkArgument } from "@seneschal/kernel";
import type { AuditEvent } from "./event.ts";
import type { AuditRecord } from "./indexes.ts";

/** What a leaf covers. */
export type AuditLeafContent = Pick<AuditRecord, "stream" | "stream_seq" | "event">;

/**
 * The canonical JSON (RFC 8785) of an audit event: every stored field and the event's place in its log. Our fields are named in canonical
 * order, because a log of a million events is read through here; metadata that is not in order, and an event with other fields
 * than ours, take the general way, to the same text.
 */
export function auditText({ stream, stream_seq: sequence, event }: AuditLeafContent): string {
  if (!isOurs(event)) return canonicalJson({ ...event, stream, sequence });
  const { actor, actor_type, event_type, id, metadata, org_id, purpose, request_id, result, timestamp, workspace } = event;
  const before = JSON.stringify({ actor, actor_type, event_type, id });
  const between = isInOrder(metadata) ? JSON.stringify(metadata) : canonicalJson(metadata);
  const after = JSON.stringify({ org_id, purpose, request_id, result, sequence, stream, timestamp, workspace });
  return `${before.slice(0, -1)},"metadata":${between},${after.slice(1)}`;
}

/** Scalars under names in canonical order, as nearly all metadata is: `JSON.stringify` writes it canonically. */
function isInOrder(metadata: JsonObject): boolean {
  let before = "";
  for (const name of Object.keys(metadata)) {
    const value = metadata[name];
    if (name < before || (typeof value === "object" && value !== null)) return false;
    before = name;
  }
  return true;
}

const texts = [
  "actor",
  "actor_type",
  "event_type",
  "id",
  "org_id",
  "purpose",
  "request_id",
  "result",
  "timestamp",
  "workspace",
] as const satisfies readonly (keyof AuditEvent)[];

/** Exactly our fields, each of our type. The store holds no lone surrogates, so that a string is canonical as JSON writes it. */
function isOurs(event: AuditEvent): boolean {
  let fields = 0;
  for (const _ in event) fields += 1;
  return fields === texts.length + 1 && "metadata" in event && texts.every((name) => typeof event[name] === "string");
}

/** The Merkle leaf of an audit event, RFC 6962: nothing about the event can change without changing it. */
export function auditLeaf(record: AuditLeafContent, sha256: Sha256): Uint8Array {
  checkArgument("record", record, "object");
  checkArgument("sha256", sha256, "function");
  return sha256(Buffer.from(`\0${auditText(record)}`, "utf8"));
}
