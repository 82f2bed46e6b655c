import * as z from "zod";
import { jsonValue } from "../json-value.ts";
import type { Contract } from "../route.ts";
import { idParam, inBase64, inHex, organizationId, timestamp } from "./shapes.ts";

/** Every operation that a CRK signature may cover, and the field of its request that carries the signature. */
export const signedOperations = {
  "workspace.create": "crk_signature",
  "workspace.import": "crk_signature",
  "workspace.update": "signature",
  "workspace.archive": "signature",
  "workspace.delete": "signatures",
  "workspace.rotate-dek": "signature",
  "workspace.export": "signature",
  "workspace.extend": "signature",
  "workspace.invite": "signature",
  "workspace.accept": "signature",
  "workspace.request-access": "signature",
  "federation.init": "crk_signature",
  "federation.establish": "crk_signature",
  "federation.revoke": "signature",
  "federation.renew-cert": "signature",
  "federation.import": "signature",
  "policy.create": "crk_signature",
  "policy.update": "signature",
  "policy.delete": "signature",
  "backup.create": "crk_signature",
  "backup.restore": "crk_signature",
  "emergency.verify": "signature",
} as const;

export type SignedOperation = keyof typeof signedOperations;

const operation = z.enum(Object.keys(signedOperations) as SignedOperation[]);

const signingRequest = z
  .object({
    id: z.uuid(),
    org_id: organizationId,
    operation,
    resource_id: z.string(),
    body_sha256: inHex(),
    message: inBase64("The exact bytes to sign"),
    nonce: z.string().meta({ description: "text as it is" }),
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
      operation,
      resource_id: z.string().max(256).default(""),
      body: z.record(z.string(), jsonValue).default({}),
      ttl_seconds: z.int().min(10).max(86_400).optional(),
    }),
    bodyLimit: 1 << 20,
    status: 201,
    reply: signingRequest.extend({
      covered: z
        .record(z.string(), jsonValue)
        .meta({ description: "Facts beside the body that are merged into it before it is hashed" }),
    }),
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
