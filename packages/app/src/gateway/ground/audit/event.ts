import { systemRandom } from "@seneschal/adapters/system";
import { type AuditResult, timestamp, uuid } from "@seneschal/core/keys";
import { canonicalJson } from "@seneschal/crypto";
import type { Sha256 } from "@seneschal/crypto/merkle";
import { checkArgument, type JsonObject } from "@seneschal/kernel";
import type { IndexSpec, IndexValue } from "@seneschal/kernel/ports";
import type { AuditSeal } from "../../../compose/operators.ts";

/** Every event type that the gateway writes. */
export const auditEventTypes = [
  "encrypt",
  "decrypt",
  "key.create",
  "key.rotate",
  "workspace.create",
  "workspace.update",
  "workspace.archive",
  "workspace.delete",
  "workspace.delete.consent",
  "workspace.extend",
  "workspace.export",
  "workspace.import",
  "workspace.invite",
  "workspace.invite.accept",
  "workspace.invite.decline",
  "workspace.join",
  "workspace.leave",
  "workspace.request",
  "workspace.group.bind",
  "workspace.auto_admit",
  "workspace.admission.grant",
  "workspace.admission.revoke",
  "workspace.admission.denied",
  "federation.init",
  "federation.create",
  "federation.revoke",
  "federation.cert.renew",
  "federation.cert.import",
  "federation.refuse",
  "federation.witness",
  "federation.card",
  "federation.delivery",
  "policy.create",
  "policy.update",
  "policy.delete",
  "policy.violation",
  "crk.generate",
  "crk.sign",
  "crk.rotate",
  "crk.repair",
  "crk.reconstruct",
  "crk.ceremony",
  "crk.custodian",
  "custodian.enroll",
  "custodian.confirm",
  "custodian.revoke",
  "custodian.share",
  "crk.signing_request",
  "emergency.request",
  "emergency.approve",
  "emergency.deny",
  "emergency.access",
  "emergency.complete",
  "emergency.revoke",
  "emergency.verify",
  "recovery.initiate",
  "recovery.share",
  "recovery.complete",
  "admin.create",
  "admin.update",
  "admin.disable",
  "admin.delete",
  "admin.bootstrap",
  "admin.enrollment.complete",
  "admin.certificate.renew",
  "admin.mfa",
  "user.create.sso",
  "user.delete",
  "service.create",
  "service.rotate",
  "service.delete",
  "device.enroll",
  "device.revoke",
  "group.create",
  "group.update",
  "group.member.add",
  "group.member.remove",
  "group.join.request",
  "group.join.approve",
  "group.join.deny",
  "role.create",
  "role.assign",
  "role.unassign",
  "certificate.issue",
  "certificate.revoke",
  "certificate.tidy",
  "certificate.authority.cross_sign",
  "rotation.policy.set",
  "rotation.policy.remove",
  "backup.create",
  "backup.restore",
  "message.send",
  "message.deliver",
  "message.read",
  "message.delete",
  "edge.register",
  "edge.unregister",
  "edge.sync.policies",
  "edge.sync.keys",
  "organization.create",
  "audit.export",
  "audit.archive",
  "audit.gap.accept",
  "vault.init",
  "vault.unseal",
  "vault.seal",
  "vault.rekey",
  "vault.migrate",
  "auth.failure",
] as const;
type AuditEventType = (typeof auditEventTypes)[number];

/** An audit event as it is stored. The store adds the sequence; hashes are computed from what is stored. */
export interface AuditEvent {
  readonly id: string;
  readonly org_id: string;
  readonly timestamp: string;
  /** Workspace id, or "". */
  readonly workspace: string;
  readonly event_type: string;
  /** Identity id, or `system:<what>`. */
  readonly actor: string;
  readonly actor_type: string;
  readonly purpose: string;
  readonly result: AuditResult;
  readonly metadata: JsonObject;
  readonly request_id: string;
}

/** What a handler says about an event; the rest is known. */
export interface AuditFacts {
  readonly type: AuditEventType;
  /** Whose log; default the caller's organisation. */
  readonly org?: string;
  readonly workspace?: string;
  readonly purpose?: string;
  readonly result?: AuditResult;
  /** Identifiers and figures only: never a secret, never a payload. */
  readonly metadata?: JsonObject;
}

/** The stream of events that belong to no organisation, such as failed authentication. No organisation id has a slash. */
export const instanceStream = "/instance";

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

/** Acts of the operators stand in the instance's own stream: a vault is of all organisations. Who they are, their shares do not say. */
export const auditGatewaySeal: AuditSeal = ({ type, result, now, requestId, metadata }) => {
  const event: AuditEvent = {
    id: uuid(now, systemRandom),
    org_id: instanceStream,
    timestamp: timestamp(now),
    workspace: "",
    event_type: type,
    actor: "system:operator",
    actor_type: "system",
    purpose: "",
    result,
    metadata,
    request_id: requestId,
  };
  return { stream: instanceStream, event: { ...event } };
};
