import type { JsonObject } from "@seneschal/core";
import { canonicalJson } from "@seneschal/crypto";
import type { Sha256 } from "@seneschal/crypto/merkle";
import type { AuditEvent } from "./event.ts";
import type { AuditRecord } from "./indexes.ts";

/** What a leaf covers. */
export type AuditLeafContent = Pick<AuditRecord, "stream" | "stream_seq" | "event">;

/**
 * The canonical JSON (RFC 8785) of an audit event: every stored field and the event's place in its log. Written field by field in
 * canonical order, because a log of a million events is read through here; an event with other fields than ours takes the
 * general way, to the same text.
 */
export function auditText({ stream, stream_seq, event }: AuditLeafContent): string {
  if (!isOurs(event)) return canonicalJson({ ...event, stream, sequence: stream_seq });
  const s = JSON.stringify;
  return `{"actor":${s(event.actor)},"actor_type":${s(event.actor_type)},"event_type":${s(event.event_type)},"id":${s(event.id)},"metadata":${metadataText(event.metadata)},"org_id":${s(event.org_id)},"purpose":${s(event.purpose)},"request_id":${s(event.request_id)},"result":${s(event.result)},"sequence":${s(stream_seq)},"stream":${s(stream)},"timestamp":${s(event.timestamp)},"workspace":${s(event.workspace)}}`;
}

/** Metadata is nearly always a few scalars, which need no walk. */
function metadataText(metadata: JsonObject): string {
  let text = "";
  for (const key of Object.keys(metadata).sort()) {
    const value = metadata[key];
    if (typeof value === "object" && value !== null) return canonicalJson(metadata);
    text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${JSON.stringify(value)}`;
  }
  return `{${text}}`;
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
