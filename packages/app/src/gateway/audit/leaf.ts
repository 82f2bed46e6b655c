import type { JsonObject } from "@seneschal/core";
import { canonicalJson } from "@seneschal/crypto";
import type { Sha256 } from "@seneschal/crypto/merkle";
import type { AuditEvent } from "./event.ts";
import type { AuditRecord } from "./indexes.ts";

/** What a leaf covers. */
export type AuditLeafContent = Pick<AuditRecord, "stream" | "stream_seq" | "event">;

/**
 * The canonical JSON (RFC 8785) of an audit event: every stored field and the event's place in its log. Written in one go, its fields
 * named in canonical order, because a log of a million events is read through here; an event with other fields than ours, or
 * with metadata that is not in order, takes the general way, to the same text.
 */
export function auditText({ stream, stream_seq: sequence, event }: AuditLeafContent): string {
  if (!isOurs(event) || !isInOrder(event.metadata)) return canonicalJson({ ...event, stream, sequence });
  const { actor, actor_type, event_type, id, metadata, org_id, purpose, request_id, result, timestamp, workspace } = event;
  // biome-ignore format: one line shows that the names are in order
  return JSON.stringify({ actor, actor_type, event_type, id, metadata, org_id, purpose, request_id, result, sequence, stream, timestamp, workspace });
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
  return sha256(Buffer.from(`\0${auditText(record)}`, "utf8"));
}
