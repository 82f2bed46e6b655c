import * as z from "zod";
import type { Contract } from "../route.ts";
import { secret } from "../secret.ts";
import { durationText, listOf, page, timestamp, trimmed } from "./shapes.ts";

const certificate = z
  .object({
    serial_number: z.string().meta({ description: "colon hex" }),
    common_name: z.string(),
    status: z.enum(["active", "revoked", "expired"]),
    certificate: z.string(),
    issuing_ca: z.string(),
    ca_chain: z.array(z.string()),
    not_before: timestamp,
    expiration: timestamp,
    revoked_at: timestamp.nullable(),
  })
  .meta({ id: "Certificate" });

const authority = z.enum(["servers", "clients"]);
// What is asked by GET has 255 bytes at most (RFC 5019, 5); heads of requests have room for this, however it is escaped.
const ocspRequest = z.string().min(1).max(1024);
const serial = z.string().min(1).max(64);
const route = { tag: "certificates", auth: "principal" } as const;
const base = "/api/v1/certificates";

/** The organisation's certificate authority. */
export const certificateRoutes = {
  issueCertificate: {
    ...route,
    method: "POST",
    path: `${base}/issue`,
    summary: "A certificate with its private key, shown once",
    action: "certificate:write",
    body: z.strictObject({
      common_name: trimmed(64),
      alt_names: z.array(z.string().min(1).max(253)).max(64).default([]),
      usage: z
        .enum(["client", "server"])
        .default("client")
        .meta({ description: "a server's names are those that the operator gave the organisation" }),
      ttl: durationText.optional(),
    }),
    status: 200,
    reply: certificate
      .extend({ private_key: secret(z.string()), private_key_type: z.string() })
      .meta({ id: "IssuedCertificate" }),
    errors: [503],
  },
  revokeCertificate: {
    ...route,
    method: "POST",
    path: `${base}/revoke`,
    summary: "Refuse a serial from the next request on; a repeat changes nothing",
    action: "certificate:write",
    body: z.strictObject({ serial_number: serial }),
    status: 204,
  },
  listCertificates: {
    ...route,
    method: "GET",
    path: base,
    summary: "Certificates, newest first",
    action: "certificate:read",
    query: page(),
    status: 200,
    reply: listOf("certificates", certificate),
  },
  caChain: {
    ...route,
    method: "GET",
    path: `${base}/ca-chain`,
    summary: "The organisation's CA certificates",
    action: "certificate:ca-chain",
    status: 200,
    reply: z.object({ ca_chain: z.string().meta({ description: "PEM" }) }),
  },
  getCertificate: {
    ...route,
    method: "GET",
    path: `${base}/:serial`,
    summary: "One certificate",
    action: "certificate:read",
    entity: "certificate",
    params: z.strictObject({ serial }),
    status: 200,
    reply: certificate,
  },
  tidyCertificates: {
    ...route,
    method: "POST",
    path: `${base}/tidy`,
    summary: "Drop records that ended longer ago than the safety buffer",
    action: "certificate:tidy",
    body: z.strictObject({ safety_buffer: durationText.optional() }),
    bodyOptional: true,
    status: 200,
    reply: z.object({ message: z.string() }),
  },
  certificateRevocationList: {
    tag: "certificates",
    auth: "public",
    method: "GET",
    path: "/api/v1/crl/:org",
    summary: "The CRL of an organisation's CA, DER",
    params: z.strictObject({ org: z.string().min(1).max(128) }),
    status: 200,
    produces: "application/pkix-crl",
    extension: true,
  },
  ocsp: {
    tag: "certificates",
    auth: "public",
    method: "POST",
    path: "/api/v1/ocsp/:org",
    summary: "OCSP (RFC 6960) of an organisation's CA",
    consumes: "application/ocsp-request",
    bodyLimit: 65_536,
    params: z.strictObject({ org: z.string().min(1).max(128) }),
    status: 200,
    produces: "application/ocsp-response",
    extension: true,
  },
  ocspByGet: {
    tag: "certificates",
    auth: "public",
    method: "GET",
    path: "/api/v1/ocsp/:org/:request",
    summary: "The same by GET (RFC 6960 A.1): the request in base64, URL-encoded",
    params: z.strictObject({ org: z.string().min(1).max(128), request: ocspRequest }),
    status: 200,
    produces: "application/ocsp-response",
    extension: true,
  },
  instanceAuthority: {
    tag: "certificates",
    auth: "public",
    method: "GET",
    path: "/api/v1/pki/:authority/ca",
    summary:
      "The instance's own trust anchors, PEM: what clients verify its servers against, what servers verify clients against",
    params: z.strictObject({ authority }),
    status: 200,
    produces: "application/x-pem-file",
    extension: true,
  },
  instanceRevocationList: {
    tag: "certificates",
    auth: "public",
    method: "GET",
    path: "/api/v1/pki/:authority/crl",
    summary: "The CRL of one of the instance's own CAs, DER",
    params: z.strictObject({ authority }),
    status: 200,
    produces: "application/pkix-crl",
    extension: true,
  },
  serverOcsp: {
    tag: "certificates",
    auth: "public",
    method: "POST",
    path: "/api/v1/pki/servers/ocsp",
    summary: "OCSP (RFC 6960) of the instance's server CA",
    consumes: "application/ocsp-request",
    bodyLimit: 65_536,
    status: 200,
    produces: "application/ocsp-response",
    extension: true,
  },
  serverOcspByGet: {
    tag: "certificates",
    auth: "public",
    method: "GET",
    path: "/api/v1/pki/servers/ocsp/:request",
    summary: "The same by GET (RFC 6960 A.1): the request in base64, URL-encoded",
    params: z.strictObject({ request: ocspRequest }),
    status: 200,
    produces: "application/ocsp-response",
    extension: true,
  },
} as const satisfies Contract;
