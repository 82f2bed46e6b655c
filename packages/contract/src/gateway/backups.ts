import { backupStatuses } from "@seneschal/core/keys";
import * as z from "zod";
import type { Contract } from "../route.ts";
import { idParam, listOf, organizationId, page, signature, signatureParams, timestamp } from "./shapes.ts";

const backup = z
  .object({
    id: z.uuid(),
    org_id: organizationId,
    type: z.enum(["full"]),
    status: z.enum(backupStatuses),
    created_by: z.string(),
    completed_at: timestamp.nullable(),
    size: z.int(),
    checksum: z.string().meta({ description: "base64 SHA-256 of the plaintext" }),
    restored_at: timestamp.nullable(),
    error: z.string().nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "Backup" });

const signed = { crk_signature: signature.optional(), signature_params: signatureParams.optional() };
const route = { tag: "backups", auth: "principal" } as const;
const base = "/api/v1/backups";

/** Encrypted backups of everything that belongs to an organisation. */
export const backupRoutes = {
  createBackup: {
    ...route,
    method: "POST",
    path: base,
    summary: "Back the caller's organisation up",
    action: "backup:create",
    body: z.strictObject({ type: z.enum(["full"]).default("full"), ...signed }),
    status: 201,
    reply: backup,
    errors: [409, 503],
  },
  listBackups: {
    ...route,
    method: "GET",
    path: base,
    summary: "Backups of the caller's organisation, newest first",
    action: "backup:read",
    query: page(),
    status: 200,
    reply: listOf("backups", backup),
  },
  getBackup: {
    ...route,
    method: "GET",
    path: `${base}/:id`,
    summary: "One backup",
    action: "backup:read",
    entity: "backup",
    params: idParam,
    status: 200,
    reply: backup,
  },
  restoreBackup: {
    ...route,
    method: "POST",
    path: `${base}/:id/restore`,
    summary: "All of it or nothing, into the same organisation or a clean instance",
    action: "backup:restore",
    entity: "backup",
    params: idParam,
    body: z.strictObject(signed),
    bodyOptional: true,
    status: 204,
    errors: [409, 422, 503],
  },
} as const satisfies Contract;
