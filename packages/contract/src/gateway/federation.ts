import { federationStatuses } from "@seneschal/core/keys";
import { z } from "zod";
import type { Contract } from "../route.ts";
import { base64, listOf, organizationId, page, signature, signed, timestamp } from "./shapes.ts";

export const federation = z
  .object({
    id: z.uuid(),
    org_id: organizationId,
    partner_org_id: organizationId,
    partner_url: z.string(),
    certificate: z.string().nullable(),
    status: z.enum(federationStatuses),
    outbound_ready: z.boolean(),
    certificate_expires_at: timestamp.nullable(),
    established_at: timestamp.nullable(),
    last_health_check: timestamp.nullable(),
    revoked_at: timestamp.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "Federation" });

/** Base64 of PEM; PEM text itself is taken too. */
const pem = z
  .union([
    base64(1, 65_536),
    z
      .string()
      .regex(/-----BEGIN /, "expected PEM, or base64 of PEM")
      .max(65_536),
  ])
  .meta({ description: "base64 of PEM, one certificate or request and what is above it" });
const crkSignature = { crk_signature: signature.optional(), signature_params: signed.signature_params };
const partnerParam = z.strictObject({ partner_id: organizationId });
const route = { tag: "federation", auth: "principal" } as const;
const base = "/api/v1/federation";
/** Calls between gateways. */
const peer = { tag: "federation", auth: "principal", action: "federation:peer", extension: true } as const;

/** Bilateral channels between organisations, each on its own instance. */
export const federationRoutes = {
  initFederation: {
    ...route,
    method: "POST",
    path: `${base}/init`,
    summary: "The organisation's federation key, certificate and signing request, to be exchanged out of band",
    action: "federation:write",
    body: z.strictObject({ org_id: organizationId.optional(), ...crkSignature }),
    status: 200,
    reply: z
      .object({
        org_id: organizationId,
        csr: z.string(),
        certificate: z.string(),
        public_key: z.string(),
        serial_number: z.string(),
        expires_at: timestamp,
      })
      .meta({ id: "FederationInit" }),
    errors: [409, 503],
  },
  establishFederation: {
    ...route,
    method: "POST",
    path: `${base}/establish`,
    summary: "Federate with a partner; its CSR, if sent, is signed",
    action: "federation:write",
    body: z.strictObject({
      partner_org_id: organizationId,
      partner_url: z.url().max(2048),
      partner_cert: pem,
      partner_csr: pem.optional(),
      ...crkSignature,
    }),
    status: 201,
    reply: federation,
    errors: [409, 422, 503],
  },
  listFederations: {
    ...route,
    method: "GET",
    path: base,
    summary: "Federations, newest first",
    action: "federation:read",
    query: page(),
    status: 200,
    reply: listOf("federations", federation),
  },
  federationHealth: {
    ...route,
    method: "GET",
    path: `${base}/health`,
    summary: "Calls every active partner",
    action: "federation:read",
    status: 200,
    reply: z
      .object({
        results: z.record(
          z.string(),
          z.object({
            healthy: z.boolean(),
            status: z.string(),
            last_check: timestamp,
            latency_ms: z.number(),
            certificate_expires_at: timestamp.optional(),
            error: z.string().optional(),
          }),
        ),
      })
      .meta({ id: "FederationHealth" }),
  },
  getFederation: {
    ...route,
    method: "GET",
    path: `${base}/:partner_id`,
    summary: "One federation",
    action: "federation:read",
    params: partnerParam,
    status: 200,
    reply: federation,
  },
  revokeFederation: {
    ...route,
    method: "DELETE",
    path: `${base}/:partner_id`,
    summary: "End the federation: calls are refused at once, the partner leaves the workspaces, data keys rotate",
    action: "federation:write",
    params: partnerParam,
    body: z.strictObject({
      ...signed,
      notify_partner: z.boolean().default(false),
      revoke_certs: z.boolean().default(true),
    }),
    bodyOptional: true,
    status: 204,
    errors: [409],
  },
  renewFederationCertificate: {
    ...route,
    method: "POST",
    path: `${base}/:partner_id/renew-cert`,
    summary: "A new certificate for the partner's channel, without downtime",
    action: "federation:write",
    params: partnerParam,
    body: z.strictObject(signed),
    bodyOptional: true,
    status: 200,
    reply: z
      .object({
        partner_id: organizationId,
        certificate: z.string(),
        serial_number: z.string(),
        expires_at: timestamp,
        /** The partner has taken it over the channel; else it has to be carried to it. */
        delivered: z.boolean(),
      })
      .meta({ id: "FederationRenewal" }),
    errors: [409, 502, 503],
  },
  importFederationCertificate: {
    ...route,
    method: "POST",
    path: `${base}/certificate/import`,
    summary: "Take in the certificate that the partner signed for us (air-gapped exchange)",
    action: "federation:write",
    body: z.strictObject({ partner_org_id: organizationId, certificate: pem, ...signed }),
    status: 204,
    errors: [409, 422],
  },
  peerHealth: {
    ...peer,
    method: "GET",
    path: `${base}/peer/health`,
    summary: "Answers a partner's gateway, naming the organisation that it is federated with",
    status: 200,
    reply: z
      .object({ org_id: organizationId, status: z.literal("healthy"), time: timestamp })
      .meta({ id: "FederationPeerHealth" }),
    errors: [409],
  },
  peerCertificate: {
    ...peer,
    method: "PUT",
    path: `${base}/peer/certificate`,
    summary: "Takes in a renewed certificate that the partner signed for us",
    body: z.strictObject({ certificate: pem }),
    status: 204,
    errors: [409, 422],
  },
  peerRevocation: {
    ...peer,
    method: "POST",
    path: `${base}/peer/revocation`,
    summary: "The partner tells that it ended the federation",
    body: z.strictObject({}),
    bodyOptional: true,
    status: 204,
    errors: [409],
  },
} as const satisfies Contract;
