import { canonicalJson } from "@seneschal/crypto";
import { leafHash, type Sha256 } from "@seneschal/crypto/merkle";
import { utf8 } from "../bytes.ts";
import type { AuditRecord } from "./indexes.ts";

/**
 * The Merkle leaf of an audit event: RFC 6962 leaf hash over the canonical JSON (RFC 8785) of every stored field and the
 * event's place in its log. Nothing about an event can change without changing it.
 */
export function auditLeaf(record: Pick<AuditRecord, "stream" | "stream_seq" | "event">, sha256: Sha256): Uint8Array {
  return leafHash(utf8(canonicalJson({ ...record.event, stream: record.stream, sequence: record.stream_seq })), sha256);
}
