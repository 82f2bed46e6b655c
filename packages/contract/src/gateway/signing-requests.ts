import { z } from "zod";
import type { Contract } from "../route.ts";
import { idParam, organizationId, timestamp } from "./shapes.ts";

/** Every operation that a CRK signature may cover. */
const signedOperations = [
  "workspace.create",
  "workspace.import",
  "workspace.update",
  "workspace.archive",
  "workspace.delete",
  "workspace.rotate-dek",
  "workspace.export",
  "workspace.extend",
  "workspace.invite",
  "workspace.accept",
  "workspace.request-access",
  "federation.init",
  "federation.establish",
  "federation.revoke",
  "federation.renew-cert",
  "federation.import",
  "policy.create",
  "policy.update",
  "policy.delete",
  "backup.create",
  "backup.restore",
  "emergency.verify",
] as const;

const signingRequest = z
  .object({
    id: z.uuid(),
    org_id: organizationId,
    operation: z.enum(signedOperations),
    resource_id: z.string(),
    body_sha256: z.string(),
    /** The exact bytes to sign, base64. */
    message: z.string(),
    nonce: z.string(),
    status: z.enum(["pending", "used", "expired"]),
    created_by: z.string(),
    created_at: timestamp,
    expires_at: timestamp,
  })
  .meta({ id: "SigningRequest" });

const route = { tag: "crk", auth: "principal", action: "signing-request:create", extension: true } as const;

/** Beyond the interface: the prepare step that makes offline signing possible. */
export const signingRequestRoutes = {
  createSigningRequest: {
    ...route,
    method: "POST",
    path: "/api/v1/crk/signing-requests",
    summary: "The exact bytes to sign for a later call with this body",
    body: z.strictObject({
      operation: z.enum(signedOperations),
      resource_id: z.string().max(256).default(""),
      body: z.record(z.string(), z.json()).default({}),
      ttl_seconds: z.int().min(10).max(86_400).optional(),
    }),
    bodyLimit: 1 << 20,
    status: 201,
    reply: signingRequest,
    errors: [409],
  },
  getSigningRequest: {
    ...route,
    method: "GET",
    path: "/api/v1/crk/signing-requests/:id",
    summary: "One signing request",
    params: idParam,
    status: 200,
    reply: signingRequest,
  },
} as const satisfies Contract;
