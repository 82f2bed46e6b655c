import { adminRoles, enrollmentStatuses } from "@seneschal/core/keys";
import * as z from "zod";
import type { Contract } from "../route.ts";
import { secret } from "../secret.ts";
import { email, idParam, name, organizationId, signature, timestamp } from "./shapes.ts";

export const admin = z
  .object({
    id: z.uuid(),
    org_id: organizationId,
    email: z.string(),
    name: z.string(),
    role: z.enum(adminRoles),
    active: z.boolean(),
    mfa_enabled: z.boolean(),
    enrollment_status: z.enum(enrollmentStatuses),
    is_bootstrap: z.boolean(),
    cert_serial: z.string().nullable(),
    cert_cn: z.string().nullable(),
    cert_expiry: timestamp.nullable(),
    created_by: z.string().nullable(),
    last_login_at: timestamp.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "Admin" });

/** The only reply that shows an enrolment token, once. */
export const adminWithToken = admin.extend({ enrollment_token: secret(z.string()) }).meta({ id: "AdminWithToken" });

/** A certificate fresh from the CA. */
export const issued = {
  certificate: z.string().meta({ description: "PEM" }),
  ca_chain: z.array(z.string()),
  serial_number: z.string(),
  expiration: timestamp,
};

const route = { tag: "enrollment", auth: "public" } as const;

/** How the first admin comes in, and how every admin gets a certificate. No authentication: tokens and signatures decide. */
export const enrollmentRoutes = {
  bootstrapAdmin: {
    ...route,
    method: "POST",
    path: "/api/v1/bootstrap/admin",
    summary: "The first admin, while none exists",
    body: z.strictObject({
      email: email,
      name,
      crk_signature: signature.optional(),
      org_id: organizationId.optional(),
      role: z.literal("super_admin").optional(),
    }),
    status: 201,
    reply: adminWithToken,
    errors: [403, 409],
  },
  enrollmentSetup: {
    ...route,
    method: "GET",
    path: "/api/v1/enrollment/admins/:id/setup",
    summary: "What an admin needs to enrol; personal data only with the token",
    params: idParam,
    query: z.strictObject({ token: z.string().max(512).optional() }),
    status: 200,
    reply: z
      .object({
        admin_id: z.uuid(),
        enrollment_status: z.enum(enrollmentStatuses),
        key_algorithms: z.array(z.string()),
        expires_at: timestamp.nullable(),
        email: z.string().optional(),
        name: z.string().optional(),
        provisioning_url: secret(z.string()).optional(),
      })
      .meta({ id: "EnrollmentSetup" }),
  },
  enrollAdmin: {
    ...route,
    method: "POST",
    path: "/api/v1/enrollment/admins/:id",
    summary: "Enrol with a certificate signing request and the one-time token",
    params: idParam,
    body: z.strictObject({
      enrollment_token: z.string().min(1).max(512),
      csr: z.string().min(1).max(32_768).meta({ description: "PEM, or base64 of PEM" }),
    }),
    status: 200,
    reply: z.object({ admin, ...issued }).meta({ id: "Enrolled" }),
    errors: [409, 422, 503],
  },
} as const satisfies Contract;
