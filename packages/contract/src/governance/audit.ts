import * as z from "zod";
import { archivedPart } from "../archived-part.ts";
import { flagParam, integerParam, limitParam, MAX_PAGE, offsetParam, timeParam } from "../query.ts";
import type { Contract } from "../route.ts";
import { auditRecord, time } from "./shapes.ts";

const instant = z.iso.datetime({ offset: true, local: true, message: "expected an ISO 8601 time" });
const ORDER = { path: ["end_date"], message: "expected a time not before start_date" };

function inOrder(start: string | number | undefined, end: string | number | undefined): boolean {
  return start === undefined || end === undefined || new Date(start).getTime() <= new Date(end).getTime();
}

/** SHA-256 in base64, as checkpoints have it. */
const rootHash = z.string().regex(/^[A-Za-z0-9+/]{43}=$/, "expected the base64 of 32 bytes");
const guarded = { tag: "audit", auth: "principal", action: "audit:read" } as const;
const archived = {
  archived: archivedPart
    .optional()
    .meta({ description: "What of the log, and of the asked period, is in the archive; record `log_index + 1` is its sequence" }),
};
const page = z.strictObject({ total: z.int(), records: z.array(auditRecord), ...archived }).meta({ id: "AuditQueryResponse" });

/** The record of operations. */
export const auditRoutes = {
  queryAudit: {
    ...guarded,
    method: "POST",
    path: "/api/v1/audit/query",
    summary: "Audit records by filter, newest first",
    body: z
      .strictObject({
        user_id: z.string().max(256).optional(),
        start_date: instant.optional(),
        end_date: instant.optional(),
        operation_types: z.array(z.string().max(64)).max(100).optional(),
        allowed_only: z.boolean().default(false),
        limit: z.int().min(1).max(MAX_PAGE).default(100),
        offset: z.int().min(0).max(1_000_000_000).default(0),
      })
      .refine(({ start_date, end_date }) => inOrder(start_date, end_date), ORDER)
      .meta({ id: "AuditQueryRequest" }),
    bodyOptional: true,
    status: 200,
    reply: page,
  },
  listAudit: {
    ...guarded,
    method: "GET",
    path: "/api/v1/audit",
    summary: "Audit records page by page, newest first",
    query: z
      .strictObject({
        limit: limitParam(100),
        offset: offsetParam(),
        user_id: z.string().max(256).optional(),
        start_date: timeParam().optional(),
        end_date: timeParam().optional(),
        operation_type: z.string().max(64).optional(),
        allowed_only: flagParam().optional(),
      })
      .refine(({ start_date, end_date }) => inOrder(start_date, end_date), ORDER),
    status: 200,
    reply: page,
  },
  verifyAudit: {
    ...guarded,
    method: "POST",
    path: "/api/v1/audit/verify",
    summary: "Recompute the Merkle tree of the log and compare it with the checkpoints",
    body: z.strictObject({
      size: z.int().min(1).optional(),
      root: rootHash.optional(),
    }),
    bodyOptional: true,
    status: 200,
    reply: z.strictObject({
      valid: z.boolean(),
      records: z.int(),
      root: z.string(),
      checkpoints: z.int(),
      first_bad_checkpoint: z.int().nullable(),
      missing: z.int(),
      checked_client_checkpoint: z.boolean(),
      ...archived,
    }),
    extension: true,
  },
  auditCheckpoint: {
    ...guarded,
    method: "GET",
    path: "/api/v1/audit/checkpoint",
    summary: "The head of the log as a signed checkpoint (C2SP tlog-checkpoint, Ed25519)",
    status: 200,
    reply: z.strictObject({ size: z.int(), root: z.string(), checkpoint: z.string(), verifier_key: z.string(), timestamp: time }),
    extension: true,
  },
  auditProof: {
    ...guarded,
    method: "GET",
    path: "/api/v1/audit/:id/proof",
    summary: "Inclusion proof of one record in the newest tree (RFC 9162)",
    params: z.strictObject({ id: z.string().max(64) }),
    status: 200,
    reply: z.strictObject({
      record: auditRecord,
      person: z.strictObject({ commitment: z.string(), salt: z.string().nullable() }),
      leaf: z.string(),
      index: z.int(),
      size: z.int(),
      root: z.string(),
      proof: z.array(z.string()),
    }),
    extension: true,
  },
  auditConsistency: {
    ...guarded,
    method: "GET",
    path: "/api/v1/audit/checkpoint/consistency",
    summary: "Proof that the log of one size begins with that of an earlier one (RFC 9162)",
    query: z.strictObject({
      first: integerParam(1, Number.MAX_SAFE_INTEGER),
      second: integerParam(1, Number.MAX_SAFE_INTEGER).optional(),
    }),
    status: 200,
    reply: z.strictObject({
      first: z.int(),
      second: z.int(),
      first_root: z.string(),
      second_root: z.string(),
      proof: z.array(z.string()),
    }),
    extension: true,
  },
  erasePerson: {
    tag: "audit",
    auth: "principal",
    action: "admin",
    method: "DELETE",
    path: "/api/v1/audit/persons/:user_id",
    summary: "Erase a person's name from the log; the records and their proofs stay",
    params: z.strictObject({ user_id: z.string().min(1).max(256) }),
    status: 204,
    extension: true,
  },
  exportDecisionLog: {
    ...guarded,
    method: "GET",
    path: "/api/v1/audit/decision-log",
    summary: "Decisions in the form of OPA's decision log, one JSON document per line",
    query: z
      .strictObject({ start_date: timeParam().optional(), end_date: timeParam().optional() })
      .refine(({ start_date, end_date }) => inOrder(start_date, end_date), ORDER),
    status: 200,
    produces: "application/x-ndjson",
    extension: true,
  },
} as const satisfies Contract;
