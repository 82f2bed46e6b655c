import type { AuditResult } from "@seneschal/core/keys";
import type { JsonObject } from "@seneschal/kernel";

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
