import { recoveryStatuses, recoveryTypes } from "@seneschal/core/keys";
import * as z from "zod";
import type { Contract } from "../route.ts";
import { secret } from "../secret.ts";
import { seats, shareBody } from "./crk.ts";
import { idParam, organizationId, reference, text, timestamp } from "./shapes.ts";

const recovery = z
  .object({
    id: z.uuid(),
    org_id: organizationId,
    admin_id: z.uuid(),
    recovery_type: z.enum(recoveryTypes),
    reason: z.string(),
    status: z.enum(recoveryStatuses),
    initiated_by: z.string(),
    shares_needed: z.int(),
    shares_collected: z.int(),
    seats,
    initiated_at: timestamp,
    expires_at: timestamp,
    completed_at: timestamp.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "Recovery" });

const route = { tag: "account recovery", auth: "principal" } as const;
const base = "/api/v1/account-recovery";

/** An admin's way back, opened by a quorum of custodians. */
export const recoveryRoutes = {
  initiateRecovery: {
    ...route,
    method: "POST",
    path: `${base}/initiate`,
    summary: "Open a recovery for another admin",
    action: "recovery:manage",
    body: z.strictObject({ admin_id: reference, recovery_type: z.enum(recoveryTypes), reason: text.min(1) }),
    status: 201,
    reply: recovery,
    errors: [409],
  },
  getRecovery: {
    ...route,
    method: "GET",
    path: `${base}/:id`,
    summary: "One recovery: how many shares are there, how many are needed",
    action: "recovery:submit",
    entity: "recovery",
    extension: true,
    params: idParam,
    status: 200,
    reply: recovery,
  },
  submitRecoveryShare: {
    ...route,
    method: "POST",
    path: `${base}/:id/share`,
    summary: "A custodian's share, verified before it counts",
    action: "recovery:submit",
    entity: "recovery",
    params: idParam,
    body: shareBody,
    status: 200,
    reply: recovery,
    errors: [409, 422],
  },
  completeRecovery: {
    ...route,
    method: "POST",
    path: `${base}/:id/complete`,
    summary: "Rebuild the quorum's proof and reset the credentials or clear the lock",
    action: "recovery:manage",
    entity: "recovery",
    params: idParam,
    bodyOptional: true,
    body: z.strictObject({}),
    status: 200,
    reply: recovery.extend({ enrollment_token: secret(z.string()).optional() }).meta({ id: "RecoveryCompleted" }),
    errors: [409, 422],
  },
} as const satisfies Contract;
