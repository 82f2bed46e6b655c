import { auditFlaws, auditResults } from "@seneschal/core/keys";
import * as z from "zod";
import { archivedPart } from "../archived-part.ts";
import { integerParam, limitParam, offsetParam, timeParam } from "../query.ts";
import type { Contract } from "../route.ts";
import { idParam, inBase64, inHex, inOrder, listOf, moment, organizationId, period, timestamp } from "./shapes.ts";

const auditEvent = z
  .object({
    id: z.uuid(),
    org_id: organizationId,
    /** Dense from 1 over the organisation's log. */
    sequence: z.int(),
    timestamp,
    workspace: z.string(),
    event_type: z.string(),
    actor: z.string(),
    actor_type: z.string(),
    purpose: z.string(),
    result: z.enum(auditResults),
    data_hash: inHex("SHA-256 leaf hash over the canonical form of all stored fields"),
    prev_hash: inHex("data_hash of the event before, empty for the first and behind a gap"),
    metadata: z.record(z.string(), z.unknown()),
    request_id: z.string(),
  })
  .meta({ id: "AuditEvent" });

/** Where the log is archived and the asked period reaches into that. */
const archived = {
  archived: archivedPart.optional().meta({ description: "what of the period is in the archive, and not in this answer" }),
};

const stats = z
  .object({
    total_events: z.int(),
    success_count: z.int(),
    error_count: z.int(),
    denied_count: z.int(),
    events_by_type: z.record(z.string(), z.int()),
    events_by_org: z.record(z.string(), z.int()),
    unique_actors: z.int(),
    since: timestamp,
    until: timestamp,
    ...archived,
  })
  .meta({ id: "AuditStats" });

const filters = {
  org_id: organizationId.optional(),
  workspace: z.string().max(256).optional(),
  event_type: z.string().max(128).optional(),
  actor: z.string().max(256).optional(),
};

const range = { since: moment.optional(), until: moment.optional() };
const format = z.enum(["json", "csv"]).default("json");
const sizeParam = () => integerParam(1, Number.MAX_SAFE_INTEGER);
/** The newest signed state of the log, which a proof was made under. */
const signedNote = { note: z.string(), public_key: inBase64("Ed25519 key of the log") };
const root = inBase64();
const proof = z.array(z.string()).meta({ description: "hashes in the order of RFC 6962, base64" });
const route = { tag: "audit", auth: "principal", action: "audit:read", status: 200 } as const;
const base = "/api/v1/audit";

/** The audit trail of the caller's organisation, and its activity feed. */
export const auditRoutes = {
  listAudit: {
    ...route,
    method: "GET",
    path: base,
    summary: "Audit events, newest first",
    query: z.strictObject({ ...filters, ...period, limit: limitParam(100), offset: offsetParam() }).refine(...inOrder),
    reply: listOf("events", auditEvent).extend(archived),
  },
  auditStats: {
    ...route,
    method: "GET",
    path: `${base}/stats`,
    summary: "Figures over a period, by default the last 24 hours",
    query: z.strictObject(period).refine(...inOrder),
    reply: stats,
  },
  getAuditEvent: {
    ...route,
    method: "GET",
    path: `${base}/:id`,
    summary: "One audit event",
    params: idParam,
    reply: auditEvent,
  },
  exportAudit: {
    ...route,
    method: "POST",
    path: `${base}/export`,
    summary: "Audit events as a file, oldest first",
    changesOnRead: true,
    body: z.strictObject({ ...filters, ...range, format }).refine(...inOrder),
    bodyOptional: true,
    produces: ["application/json", "text/csv"],
  },
  verifyAudit: {
    ...route,
    method: "POST",
    path: `${base}/verify`,
    summary: "Whether the log is whole: no event edited, removed, reordered or cut off",
    body: z.strictObject(range).refine(...inOrder),
    bodyOptional: true,
    reply: z
      .object({
        valid: z.boolean(),
        since: timestamp.nullable(),
        until: timestamp.nullable(),
        flaw: z.enum(auditFlaws).nullable().meta({ description: "what is wrong; null when the log is whole" }),
        sequence: z
          .int()
          .nullable()
          .meta({ description: "the first event that is missing, or stands where none may, where that is known" }),
        accepted_gaps: z
          .array(z.object({ first: z.int(), last: z.int() }))
          .meta({ description: "events that are missing, which the operator of the instance has accepted as gone" }),
        archived: archivedPart.optional().meta({
          description:
            "what stands for these events is signed and was verified, with what is kept of their hashes; they themselves are verified in the archive",
        }),
      })
      .meta({ id: "AuditVerification" }),
  },
  auditCheckpoint: {
    ...route,
    method: "GET",
    path: `${base}/checkpoint`,
    summary: "The newest signed checkpoint of the organisation's log, for witnesses",
    extension: true,
    reply: z
      .object({
        org_id: organizationId,
        size: z.int(),
        root,
        ...signedNote,
        verifier_key: z.string().meta({ description: "public_key as a verifier key of C2SP signed-note" }),
        witnesses: z
          .array(
            z.object({
              org_id: organizationId,
              size: z.int(),
              cosigned_at: timestamp,
              note: z.string().meta({ description: "the checkpoint that it cosigned (C2SP tlog-cosignature)" }),
              verifier_key: z.string(),
            }),
          )
          .optional()
          .meta({ description: "what federated partners have witnessed of the log" }),
      })
      .meta({ id: "AuditCheckpoint" }),
  },
  auditProof: {
    ...route,
    method: "GET",
    path: `${base}/:id/proof`,
    summary: "Inclusion proof of one event (RFC 6962), in the log as far as it is signed or of an earlier size",
    params: idParam,
    query: z.strictObject({ size: sizeParam().optional() }),
    errors: [409],
    extension: true,
    reply: z
      .object({
        org_id: organizationId,
        id: z.uuid(),
        data_hash: inHex(),
        index: z.int(),
        size: z.int(),
        root,
        proof,
        ...signedNote,
      })
      .meta({ id: "AuditProof" }),
  },
  auditConsistency: {
    ...route,
    method: "GET",
    path: `${base}/checkpoint/consistency`,
    summary:
      "Proof that the log of one size begins with that of an earlier one (RFC 6962): nothing was changed behind a checkpoint that was kept",
    query: z.strictObject({ first: sizeParam(), second: sizeParam().optional() }),
    errors: [409],
    extension: true,
    reply: z
      .object({
        org_id: organizationId,
        first: z.int(),
        second: z.int(),
        first_root: root,
        second_root: root,
        proof,
        ...signedNote,
      })
      .meta({ id: "AuditConsistency" }),
  },
  listActivity: {
    ...route,
    method: "GET",
    path: "/api/v1/activity",
    summary: "What happened around the caller; auditors see the organisation",
    action: "activity:read",
    query: z
      .strictObject({
        since: timeParam().optional(),
        until: timeParam().optional(),
        limit: limitParam(100),
        offset: offsetParam(),
      })
      .refine(...inOrder),
    reply: z.object({
      events: z.array(
        z.object({
          id: z.uuid(),
          timestamp,
          event_type: z.string(),
          actor: z.string(),
          workspace: z.string(),
          result: z.enum(auditResults),
          summary: z.string(),
        }),
      ),
      count: z.int(),
      total: z.int(),
      actor: z.string(),
    }),
  },
  exportActivity: {
    ...route,
    method: "POST",
    path: "/api/v1/activity/export",
    summary: "The activity feed as a file",
    action: "activity:read",
    body: z.strictObject({ ...range, format }).refine(...inOrder),
    bodyOptional: true,
    produces: ["application/json", "text/csv"],
  },
} as const satisfies Contract;
