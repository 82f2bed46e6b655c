import { ceremonyOperations, ceremonyStatuses, crkStatuses, custodianTypes } from "@seneschal/core/keys";
import * as z from "zod";
import type { Contract } from "../route.ts";
import { secret } from "../secret.ts";
import { aliased, base64, identityId, idParam, inBase64, listOf, name, organizationId, page, timestamp } from "./shapes.ts";

const stored = { id: z.uuid(), org_id: organizationId, created_at: timestamp, updated_at: timestamp };

const custodian = z
  .object({
    index: z.int(),
    identity_id: z.string(),
    identity_type: z.enum(custodianTypes),
    name: z.string().meta({ description: "As the organisation's records name the identity" }),
  })
  .meta({ id: "Custodian" });

/** Who sits, or is to sit, at an index of a key in a ceremony or session. */
export const seats = z.array(
  custodian
    .extend({ taken_at: timestamp.nullable().meta({ description: "null while the seat is kept for its holder" }) })
    .meta({ id: "CustodianSeat" }),
);

const custodianInput = z.strictObject({ identity_id: identityId, identity_type: z.enum(custodianTypes) });

/** Names the holders of indexes: registered, active admins or users, each person once. */
export const namedCustodians = z
  .array(custodianInput.extend({ index: z.int().min(1).max(255) }))
  .max(255)
  .optional();

export const crk = z
  .object({
    ...stored,
    public_key: inBase64("Ed25519 key of 32 bytes"),
    version: z.int(),
    threshold: z.int(),
    total_shares: z.int(),
    status: z.enum(crkStatuses),
    rotated_at: timestamp.nullable(),
    custodians: z.array(custodian),
  })
  .meta({ id: "Crk" });

const dealtShare = z
  .object({ id: z.uuid(), crk_id: z.uuid(), index: z.int(), data: secret(inBase64("the share's envelope")) })
  .meta({ id: "CrkShare" });

/** The index and the opaque envelope of one share. */
const share = z.strictObject({ index: z.int().min(1).max(255), data: base64(16, 4096) }).meta({ id: "Share" });

/** A share as the only content of a body, wrapped or bare. */
export const shareBody = z.union([share, z.strictObject({ share }).transform((body) => body.share)]);

const ceremony = z
  .object({
    ...stored,
    crk_id: z.uuid().nullable(),
    operation: z.enum(ceremonyOperations),
    status: z.enum(ceremonyStatuses),
    threshold: z.int(),
    total_shares: z.int(),
    required_shares: z.int(),
    shares_collected: z.int(),
    submitted_indexes: z.array(z.int()),
    seats,
    custodians: z.array(custodian).meta({ description: "Whom the shares are for that the ceremony makes" }),
    started_by: z.string(),
    started_at: timestamp,
    expires_at: timestamp,
    completed_at: timestamp.nullable(),
    witness: z.string().nullable(),
    witness_confirmed: z.boolean().meta({
      description: "Whether the witness has said so itself: false here, where whoever completes the ceremony names one",
    }),
  })
  .meta({ id: "Ceremony" });

/** An index in a path. */
export const shareIndex = z.string().regex(/^[1-9][0-9]{0,2}$/);

const count = z
  .int()
  .min(-(2 ** 31))
  .max(2 ** 31);
const ownOrg = organizationId.optional();
const data = base64(0, 512 * 1024);
const publicKey = base64(32, 32);

/** Bytes for 255 custodians by name, or for a message with as many shares. */
const large = 1 << 20;

const tag = "crk";
const errors = [409, 422, 503] as const;
const start = { tag, auth: "principal", status: 200, errors } as const;

/** Customer root keys and their ceremonies. */
export const crkRoutes = {
  generateCrk: {
    ...start,
    method: "POST",
    path: "/api/v1/crk/generate",
    summary: "Make the organisation's root key; each share is shown once and kept nowhere",
    action: "crk:generate",
    body: aliased(z.strictObject({ org_id: ownOrg, total_shares: count, threshold: count, custodians: namedCustodians }), {
      shares: "total_shares",
    }),
    bodyLimit: large,
    reply: crk.extend({ crk, shares: z.array(dealtShare) }).meta({ id: "CrkGenerated" }),
  },
  signWithCrk: {
    ...start,
    method: "POST",
    path: "/api/v1/crk/sign",
    summary: "Sign bytes with a threshold of shares of the caller's organisation",
    action: "crk:sign",
    body: z.strictObject({ shares: z.array(share).min(1).max(255), public_key: publicKey, data }),
    bodyLimit: large,
    reply: z.object({ signature: inBase64("Ed25519") }),
  },
  verifyWithCrk: {
    ...start,
    method: "POST",
    path: "/api/v1/crk/verify",
    summary: "Whether a signature is good under a public key; stateless",
    action: "crk:verify",
    body: z.strictObject({ public_key: publicKey, data, signature: base64(64, 64) }),
    bodyLimit: large,
    reply: z.object({ valid: z.boolean() }),
  },
  rotateCrk: {
    ...start,
    method: "POST",
    path: "/api/v1/crk/rotate",
    summary: "Start the ceremony that deals new shares of the same key",
    action: "crk:rotate",
    body: z.strictObject({ org_id: ownOrg, threshold: count, total_shares: count.optional(), custodians: namedCustodians }),
    bodyLimit: large,
    reply: ceremony,
  },
  assignCustodian: {
    ...start,
    method: "PUT",
    path: "/api/v1/crk/shares/:crk_id/:index/custodian",
    summary: "Record who holds the share of an index: its seats are that identity's only",
    action: "crk:assign",
    extension: true,
    params: z.strictObject({ crk_id: z.uuid(), index: shareIndex }),
    body: custodianInput,
    reply: crk,
  },
  startCeremony: {
    ...start,
    method: "POST",
    path: "/api/v1/crk/ceremony/start",
    summary: "Start a ceremony",
    action: "crk:ceremony",
    body: z.strictObject({
      org_id: ownOrg,
      operation: z.enum(ceremonyOperations),
      threshold: count,
      total_shares: count.optional(),
      data: data.optional(),
      custodians: namedCustodians,
    }),
    bodyLimit: large,
    reply: ceremony,
  },
  listCeremonies: {
    ...start,
    method: "GET",
    path: "/api/v1/crk/ceremony",
    summary: "Ceremonies of the organisation",
    action: "crk:read",
    extension: true,
    query: page(),
    reply: listOf("ceremonies", ceremony),
  },
  getCeremony: {
    ...start,
    method: "GET",
    path: "/api/v1/crk/ceremony/:id",
    summary: "One ceremony",
    action: "crk:read",
    entity: "ceremony",
    extension: true,
    params: idParam,
    reply: ceremony,
  },
  submitCeremonyShare: {
    ...start,
    method: "POST",
    path: "/api/v1/crk/ceremony/:id/share",
    summary: "Bring a share; it is checked now and erased when the ceremony ends",
    action: "crk:submit",
    entity: "ceremony",
    params: idParam,
    body: shareBody,
    status: 204,
  },
  completeCeremony: {
    ...start,
    method: "POST",
    path: "/api/v1/crk/ceremony/:id/complete",
    summary: "End a ceremony with its result, once",
    action: "crk:ceremony",
    entity: "ceremony",
    params: idParam,
    body: z.strictObject({ witness: name }),
    reply: z
      .object({ ceremony, result: z.string(), crk: crk.nullable(), shares: z.array(dealtShare) })
      .meta({ id: "CeremonyResult" }),
  },
  cancelCeremony: {
    ...start,
    method: "DELETE",
    path: "/api/v1/crk/ceremony/:id",
    summary: "Cancel a ceremony; submitted shares are erased",
    action: "crk:ceremony",
    entity: "ceremony",
    params: idParam,
    status: 204,
  },
} as const satisfies Contract;
