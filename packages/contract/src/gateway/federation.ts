import { federationStatuses, limits, witnessTroubles } from "@seneschal/core/keys";
import * as z from "zod";
import { base64Bytes } from "../base64-text.ts";
import type { Contract } from "../route.ts";
import { cardStatement } from "./custody.ts";
import { base64, identityId, inBase64, inHex, listOf, organizationId, page, signature, signed, timestamp } from "./shapes.ts";
import { bundledPolicy, replicatedWorkspace } from "./workspaces.ts";

const federation = z
  .object({
    id: z.uuid(),
    org_id: organizationId,
    partner_org_id: organizationId,
    partner_url: z.string(),
    certificate: z.string().nullable(),
    status: z.enum(federationStatuses),
    outbound_ready: z.boolean(),
    /** Of the certificate that we signed for the partner. */
    certificate_expires_at: timestamp.nullable(),
    /** Of the certificate that the partner signed for us; `null` before one was taken in. */
    outbound_expires_at: timestamp.nullable().optional(),
    /** When the partner's gateway last answered or called. */
    last_heard_at: timestamp.nullable().optional(),
    established_at: timestamp.nullable(),
    last_health_check: timestamp.nullable(),
    revoked_at: timestamp.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "Federation" });

/** Why a log does not go on from what its witness has seen. */
const witnessTrouble = z
  .object({
    growth: z.enum(witnessTroubles).meta({
      description:
        "the log is shorter than it was, another of the same size, does not go on as proven, is another instance's; or a witness refuses and shows no reason",
    }),
    /** What was signed before, by the log itself, and what it signs now: together they are the evidence. */
    before: z.string(),
    now: z.string(),
    since: timestamp,
  })
  .nullable();

/** A checkpoint that a witness has cosigned (C2SP tlog-cosignature). */
const cosigned = {
  size: z.int().meta({ description: "events of the log that the witness has seen; 0 before the first" }),
  cosigned_at: timestamp.nullable(),
  note: z.string().nullable().meta({ description: "the cosigned checkpoint, a signed note" }),
};

/** What one federation is like, with what waits on either side. */
const federationDetail = federation
  .extend({
    /** What the partner has had us keep that nobody here answered or read, beside what it may. */
    use: z.object({
      offers: z.int(),
      workspaces: z.int(),
      message_bytes: z.int(),
      budgets: z.object({ offers: z.int(), workspaces: z.int(), message_bytes: z.int() }),
    }),
    /** What the partner was not told yet. */
    outbox: z.object({
      count: z.int(),
      oldest_at: timestamp.nullable(),
      /** Of the oldest entry's last try. */
      error_detail: z.string().nullable(),
    }),
    /** Workspaces of ours that the partner takes part in, and how far it followed; a hundred, those that lag first. */
    follows: z.array(
      z.object({
        workspace_id: z.uuid(),
        up_to_date: z.boolean(),
        revision: z.int().nullable(),
        state_sha256: inHex().nullable(),
        confirmed_at: timestamp.nullable(),
      }),
    ),
    /** Our audit log, as the partner has witnessed it; `null` before it was asked, or where its release does not know how. */
    witnessed_by: z
      .object({
        ...cosigned,
        verifier_key: z.string().meta({ description: "the partner's, by the certificate that was pinned" }),
        trouble: witnessTrouble,
      })
      .nullable()
      .optional(),
    /** The partner's audit log, as we have witnessed it. */
    witness_of: z
      .object({
        ...cosigned,
        log_key: z.string().meta({ description: "the verifier key of the partner's log" }),
        verifier_key: z.string().meta({ description: "ours, as a witness" }),
        trouble: witnessTrouble,
      })
      .nullable()
      .optional(),
  })
  .meta({ id: "FederationDetail" });

const pemDescription = "base64 of PEM, one certificate or request and what is above it";
/** Base64 of PEM; PEM text itself is taken too. */
const pem = z
  .string()
  .min(2)
  .max(87_386)
  .refine((text) => text.includes("-----BEGIN ") || (base64Bytes(text) ?? 0) > 0, "expected PEM, or base64 of PEM")
  .meta({ description: pemDescription });
/** As partners of any release send it. */
const partnerPem = z
  .union([
    base64(1, 65_536),
    z
      .string()
      .regex(/-----BEGIN /, "expected PEM, or base64 of PEM")
      .max(65_536),
  ])
  .meta({ description: pemDescription });
const crkSignature = { crk_signature: signature.optional(), signature_params: signed.signature_params };
const partnerParam = z.strictObject({ partner_id: organizationId });
const route = { tag: "federation", auth: "principal" } as const;
const base = "/api/v1/federation";
/** What the owner of a workspace says of it to a partner. `sequence` grows with everything that is said. */
const sequence = z
  .int()
  .min(1)
  .max(2 ** 48);
export const peerState = z
  .discriminatedUnion("stage", [
    z.strictObject({
      workspace_id: z.uuid(),
      sequence,
      stage: z.literal("offered"),
      invitation: z.strictObject({
        id: z.uuid(),
        invited_by: z.string().max(256),
        created_at: z.iso.datetime(),
        expires_at: z.iso.datetime(),
      }),
      workspace: replicatedWorkspace.pick({
        name: true,
        classification: true,
        mode: true,
        purpose: true,
        crk_protected: true,
      }),
    }),
    z.strictObject({
      workspace_id: z.uuid(),
      sequence,
      stage: z.literal("shared"),
      workspace: replicatedWorkspace,
      policies: z.array(bundledPolicy).max(limits.policies.count),
      /** The key versions that the partner does not hold yet, sealed to its organisation (HPKE, auth mode). */
      deks: base64(1, 1 << 20),
    }),
    z.strictObject({ workspace_id: z.uuid(), sequence, stage: z.literal("ended") }),
  ])
  .meta({ id: "FederatedWorkspaceState" });

export type PeerState = z.output<typeof peerState>;

/** The signed bytes' content of an operation; see docs/signing.md. */
const operationPayload = z.strictObject({
  v: z.literal(1),
  op: z.string().max(64),
  org_id: organizationId,
  audience: z.string().max(256),
  resource_type: z.string().max(64),
  resource_id: z.string().max(256),
  body_sha256: z.string().length(64).meta({ description: "hex" }),
  crk_id: z.string().max(64),
  crk_epoch: z.int().min(0),
  nonce: z.string().max(128).meta({ description: "text as it is" }),
  iat: z.int().min(0),
  exp: z.int().min(0),
});

/**
 * Calls between gateways. Both ends take the other for an adversary: what comes in, question or answer, has the route's shape, and no
 * more bytes and values than that shape needs.
 */
const peer = { tag: "federation", auth: "principal", action: "federation:peer", extension: true, values: 64 } as const;
/** Policies with their texts, keys, a thousand participants. */
const state = { bodyLimit: 8 << 20, replyLimit: 8 << 20, values: 16_384 } as const;

/** A checkpoint with its signatures: a log's own gaps stand in it, a line each. */
const note = z.string().min(1).max(8192);
const treeSize = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
/** A path of at most 64 levels, on both sides of a split. */
const growthProof = z.array(base64(32, 32)).max(128);

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
        public_key: inBase64("PEM of the certificate that signs the partner's request"),
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
    bodyLimit: 256 << 10,
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
    changesOnRead: true,
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
    summary: "One federation: what the partner confirmed, what it was not told yet, and what of its budgets it uses",
    action: "federation:read",
    entity: "federation",
    params: partnerParam,
    status: 200,
    reply: federationDetail,
  },
  revokeFederation: {
    ...route,
    method: "DELETE",
    path: `${base}/:partner_id`,
    summary: "End the federation: calls are refused at once, the partner leaves the workspaces, data keys rotate",
    action: "federation:write",
    entity: "federation",
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
    entity: "federation",
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
    bodyLimit: 128 << 10,
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
    body: z.strictObject({ certificate: partnerPem }),
    bodyLimit: 128 << 10,
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
    bodyLimit: 4 << 10,
    status: 204,
    errors: [409],
  },
  peerCheckpoint: {
    ...peer,
    method: "PUT",
    path: `${base}/peer/checkpoint`,
    summary:
      "The partner asks to have its audit log's newest checkpoint witnessed: it is cosigned when it goes on from the last one",
    body: z.strictObject({
      first: treeSize.meta({ description: "the size that was cosigned last, as far as the caller knows; 0: none" }),
      proof: growthProof.meta({ description: "consistency proof from there on (RFC 9162, section 2.1.4)" }),
      note,
      log_key: z.string().max(512).meta({ description: "verifier key of the log (C2SP signed-note)" }),
    }),
    values: 256,
    bodyLimit: 32 << 10,
    replyLimit: 32 << 10,
    status: 200,
    reply: z
      .discriminatedUnion("outcome", [
        z.object({ outcome: z.literal("cosigned"), note: z.string().max(16_384) }),
        z.object({ outcome: z.literal("other_size"), size: treeSize, note: z.string().max(16_384) }),
        z.object({
          outcome: z.literal("refused"),
          growth: z.enum(witnessTroubles).exclude(["unfounded"]),
          size: treeSize,
          note: z.string().max(16_384),
        }),
      ])
      .meta({ id: "FederationWitnessing", description: "`note`: what was cosigned last; empty for none" }),
    errors: [409],
  },
  peerCard: {
    ...peer,
    method: "POST",
    path: `${base}/peer/card`,
    summary: "The partner asks for the card of a person who lets it have it",
    body: z.strictObject({ identity_id: identityId }),
    bodyLimit: 4 << 10,
    replyLimit: 8 << 10,
    status: 200,
    reply: z.object({ statement: cardStatement }).meta({ id: "FederationCard" }),
    errors: [409],
  },
  peerWorkspace: {
    ...peer,
    ...state,
    method: "PUT",
    path: `${base}/peer/workspace`,
    summary: "The owner's instance tells how a workspace is now; answers up to where the partner's instance knows",
    body: peerState,
    replyLimit: 4 << 10,
    status: 200,
    reply: z.object({
      sequence: z
        .int()
        .min(0)
        .max(2 ** 48),
    }),
    errors: [409, 503],
  },
  peerAnswer: {
    ...peer,
    ...state,
    bodyLimit: 16 << 10,
    method: "POST",
    path: `${base}/peer/answer`,
    summary: "The invited organisation's answer to an invitation; replies with how the workspace is now",
    body: z.strictObject({
      workspace_id: z.uuid(),
      invitation_id: z.uuid(),
      accept: z.boolean(),
      group_id: z.string().max(256).nullable(),
    }),
    status: 200,
    reply: peerState,
    errors: [409, 503],
  },
  peerDeletionConsent: {
    ...peer,
    method: "POST",
    path: `${base}/peer/deletion-consent`,
    summary: "A participant's signature for the deletion of a workspace",
    body: z.strictObject({ workspace_id: z.uuid(), payload: operationPayload, signature: base64(64, 64) }),
    bodyLimit: 16 << 10,
    status: 204,
    errors: [409],
  },
} as const satisfies Contract;
