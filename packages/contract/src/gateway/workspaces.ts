import {
  classifications,
  invitationStatuses,
  joinRequestStatuses,
  limits,
  modes,
  shareStages,
  workspaceStatuses,
} from "@seneschal/core/keys";
import * as z from "zod";
import { limitParam, offsetParam } from "../query.ts";
import type { Contract } from "../route.ts";
import { secret } from "../secret.ts";
import {
  aliased,
  base64,
  idParam,
  inBase64,
  inHex,
  listOf,
  moment,
  name,
  organizationId,
  reference,
  signature,
  signatureParams,
  signed,
  text,
  timestamp,
} from "./shapes.ts";

const workspace = z
  .object({
    id: z.uuid(),
    org_id: organizationId,
    name: z.string(),
    group_id: z.string().nullable(),
    classification: z.enum(classifications),
    mode: z.enum(modes),
    purpose: z.string(),
    owner_org_id: organizationId,
    group_bindings: z.record(z.string(), z.string()),
    participant_orgs: z.array(organizationId),
    participants: z.array(z.object({ org_id: organizationId, role: z.enum(["owner", "participant"]), joined_at: timestamp })),
    status: z.enum(workspaceStatuses),
    archived: z.boolean().meta({ deprecated: true }),
    crk_protected: z.boolean(),
    dek_version: z.int(),
    revision: z.int(),
    created_by: z.string(),
    created_at: timestamp,
    updated_at: timestamp,
    expires_at: timestamp.nullable(),
    state_sha256: inHex(
      "of one workspace, where instances share it: SHA-256 of this revision as it travels, which owner and participants see the same",
    ).optional(),
    /** The owner's view of one workspace: how far the instances of partners followed it. */
    followers: z
      .array(
        z.object({
          org_id: organizationId,
          stage: z.enum(shareStages),
          up_to_date: z.boolean(),
          /** What it confirmed; `null` before it did. */
          revision: z.int().nullable(),
          state_sha256: inHex().nullable(),
          dek_version: z.int().nullable(),
          confirmed_at: timestamp.nullable(),
          /** Why the last try did not reach it. */
          error_detail: z.string().nullable(),
        }),
      )
      .optional(),
  })
  .meta({ id: "Workspace" });

const invitation = z
  .object({
    id: z.uuid(),
    org_id: organizationId,
    workspace_id: z.uuid(),
    invited_by: z.string(),
    status: z.enum(invitationStatuses),
    expires_at: timestamp,
    responded_at: timestamp.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "WorkspaceInvitation" });

/** Access result and join request are one shape. */
export const joinRequest = z
  .object({
    id: z.uuid(),
    org_id: organizationId,
    workspace_id: z.uuid().nullable(),
    group_id: z.string(),
    requester_id: z.string(),
    reason: z.string(),
    status: z.enum(joinRequestStatuses),
    admission_id: z.uuid().nullable(),
    reviewed_by: z.string().nullable(),
    reviewed_at: timestamp.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "JoinRequest" });

/** An invitation as the invited organisation sees it. */
const receivedInvitation = invitation
  .extend({ owner_org_id: organizationId, workspace_name: z.string() })
  .meta({ id: "ReceivedInvitation" });

export const bundledPolicy = z.strictObject({
  id: z.uuid(),
  name: z.string().max(256),
  rego: z.string().max(262_144),
  version: z.int().min(1),
});

export type ReplicatedPolicy = z.output<typeof bundledPolicy>;

/** The part of a workspace that travels between instances. */
export const replicatedWorkspace = z.strictObject({
  id: z.uuid(),
  name,
  owner_org_id: organizationId,
  classification: z.enum(classifications),
  mode: z.enum(modes),
  purpose: text,
  participants: z
    .array(z.strictObject({ org_id: organizationId, role: z.enum(["owner", "participant"]), joined_at: z.iso.datetime() }))
    .min(1)
    .max(1000),
  group_bindings: z
    .record(organizationId, z.string().max(256))
    .refine((bindings) => Object.keys(bindings).length <= 1000, "at most 1000 groups")
    .meta({ maxProperties: 1000 }),
  status: z.enum(["active", "archived"]),
  crk_protected: z.boolean(),
  dek_version: z.int().min(1).max(limits.keyVersions.max),
  dek_created_at: z.iso.datetime(),
  revision: z.int().min(1),
  created_by: z.string().max(256),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  expires_at: z.iso.datetime().nullable(),
});

export type ReplicatedWorkspace = z.output<typeof replicatedWorkspace>;

/** The portable form of a workspace. `checksum` covers everything but itself and the signature. */
const workspaceBundle = z
  .strictObject({
    format_version: z.literal(1),
    workspace: replicatedWorkspace,
    policies: z.array(bundledPolicy).max(1000),
    export_dek: z.record(organizationId, base64(1, 4 << 20)),
    recipient_orgs: z.array(organizationId).max(1000),
    exported_at: z.iso.datetime(),
    exported_by: z.string().max(256),
    exporter_org: organizationId,
    checksum: base64(32, 32),
    signature: base64(1, 1024).meta({ description: "By the exporting organisation's bundle signing key, base64" }).optional(),
    signature_params: signatureParams.optional(),
  })
  .meta({ id: "WorkspaceBundle" });

const context = z
  .record(z.string().max(limits.context.key), z.string().max(limits.context.value))
  .refine((entries) => Object.keys(entries).length <= limits.context.entries, "at most 32 entries")
  .meta({ maxProperties: limits.context.entries })
  .default({});

const large = 8 << 20;
const payload = base64(0, large);
const encryptItem = z.strictObject({ plaintext: payload, context });
const decryptItem = z.strictObject({ ciphertext: payload, context });

const mode = z.preprocess((value) => (value === "connected" ? "standard" : value), z.enum(modes));

const participant = z.union([
  organizationId,
  z.strictObject({ org_id: organizationId, role: z.literal("participant").optional() }).transform((entry) => entry.org_id),
]);

const route = { tag: "workspaces", auth: "principal", errors: [409] } as const;
const one = { ...route, params: idParam } as const;
const base = "/api/v1/workspaces";

/** Workspaces: the main job. */
export const workspaceRoutes = {
  createWorkspace: {
    ...route,
    method: "POST",
    path: base,
    summary: "Create a workspace",
    action: "workspace:create",
    body: z.strictObject({
      name,
      group_id: reference.optional(),
      classification: z.enum(classifications).default("CONFIDENTIAL"),
      mode: mode.default("standard"),
      purpose: text.default(""),
      participants: z.array(participant).max(100).default([]).meta({ deprecated: true }),
      crk_signature: signature.optional(),
      signature_params: signatureParams.optional(),
    }),
    status: 201,
    reply: workspace,
  },
  listWorkspaces: {
    ...route,
    method: "GET",
    path: base,
    summary: "Workspaces that the caller's organisation takes part in, newest first",
    action: "workspace:read",
    query: z.strictObject({ limit: limitParam(limits.page.default), offset: offsetParam() }),
    status: 200,
    reply: listOf("workspaces", workspace),
  },
  getWorkspace: {
    ...one,
    method: "GET",
    path: `${base}/:id`,
    summary: "One workspace",
    action: "workspace:read",
    entity: "workspace",
    status: 200,
    reply: workspace,
  },
  updateWorkspace: {
    ...one,
    method: "PUT",
    path: `${base}/:id`,
    summary: "Change purpose, classification or mode",
    action: "workspace:update",
    entity: "workspace",
    body: z.strictObject({
      purpose: text.optional(),
      classification: z.enum(classifications).optional(),
      mode: mode.optional(),
      ...signed,
    }),
    bodyOptional: true,
    status: 200,
    reply: workspace,
  },
  deleteWorkspace: {
    ...one,
    method: "DELETE",
    path: `${base}/:id`,
    summary: "Delete a workspace and destroy its keys",
    action: "workspace:delete",
    entity: "workspace",
    body: z.strictObject({
      signatures: z.record(organizationId, signature).default({}),
      signature_params: signatureParams.optional(),
    }),
    bodyLimit: 1 << 20,
    bodyOptional: true,
    status: 204,
  },
  encrypt: {
    ...one,
    method: "POST",
    path: `${base}/:id/encrypt`,
    summary: "Encrypt under the workspace's current key, bound to the context",
    action: "workspace:encrypt",
    body: aliased(encryptItem, { data: "plaintext" }),
    bodyLimit: large,
    status: 200,
    reply: z.object({ ciphertext: inBase64() }),
  },
  decrypt: {
    ...one,
    method: "POST",
    path: `${base}/:id/decrypt`,
    summary: "Decrypt what any version of the workspace's key encrypted",
    action: "workspace:decrypt",
    safe: true,
    body: aliased(decryptItem, { data: "ciphertext" }),
    bodyLimit: large,
    status: 200,
    reply: z.object({ plaintext: secret(inBase64()) }),
  },
  encryptBatch: {
    ...one,
    method: "POST",
    path: `${base}/:id/encrypt-batch`,
    summary: "Encrypt up to 100 items",
    action: "workspace:encrypt",
    extension: true,
    body: z.strictObject({ items: z.array(encryptItem).min(1).max(limits.batch) }),
    bodyLimit: large,
    values: 8192,
    status: 200,
    reply: z.object({ items: z.array(z.object({ ciphertext: inBase64() })), count: z.int() }),
  },
  decryptBatch: {
    ...one,
    method: "POST",
    path: `${base}/:id/decrypt-batch`,
    summary: "Decrypt up to 100 items, all or none",
    action: "workspace:decrypt",
    safe: true,
    extension: true,
    body: z.strictObject({ items: z.array(decryptItem).min(1).max(limits.batch) }),
    bodyLimit: large,
    values: 8192,
    status: 200,
    reply: z.object({ items: z.array(z.object({ plaintext: secret(inBase64()) })), count: z.int() }),
  },
  rotateDek: {
    ...one,
    method: "POST",
    path: `${base}/:id/rotate-dek`,
    summary: "Add a key version; every old ciphertext stays readable",
    action: "workspace:rotate-dek",
    entity: "workspace",
    body: z.strictObject(signed),
    bodyOptional: true,
    status: 204,
  },
  extendWorkspace: {
    ...one,
    method: "POST",
    path: `${base}/:id/extend`,
    summary: "Set a later expiry",
    action: "workspace:extend",
    entity: "workspace",
    body: z.strictObject({ expires_at: moment, ...signed }),
    status: 204,
  },
  inviteOrganization: {
    ...one,
    method: "POST",
    path: `${base}/:id/invite`,
    summary: "Invite another organisation",
    action: "workspace:invite",
    body: z.strictObject({ org_id: organizationId, ...signed }),
    status: 201,
    reply: invitation,
  },
  acceptInvitation: {
    ...one,
    method: "POST",
    path: `${base}/:id/accept-invitation`,
    summary: "Join as the invited organisation",
    action: "workspace:accept",
    body: z.strictObject({ org_id: organizationId.optional(), group_id: reference.optional(), ...signed }),
    bodyOptional: true,
    status: 204,
  },
  declineInvitation: {
    ...one,
    method: "POST",
    path: `${base}/:id/decline-invitation`,
    summary: "Decline as the invited organisation",
    action: "workspace:decline",
    body: z.strictObject({ org_id: organizationId.optional() }),
    bodyOptional: true,
    status: 204,
  },
  listInvitations: {
    ...one,
    method: "GET",
    path: `${base}/:id/invitations`,
    summary: "Invitations of a workspace; an invited organisation sees its own",
    action: "workspace:read",
    extension: true,
    query: z.strictObject({ limit: limitParam(limits.page.auditDefault), offset: offsetParam() }),
    status: 200,
    reply: listOf("invitations", invitation),
  },
  receivedInvitations: {
    ...route,
    method: "GET",
    path: "/api/v1/invitations",
    summary: "Invitations of the caller's organisation to workspaces of others, newest first",
    action: "admission:read",
    extension: true,
    query: z.strictObject({ limit: limitParam(limits.page.auditDefault), offset: offsetParam() }),
    status: 200,
    reply: listOf("invitations", receivedInvitation),
  },
  consentToDeletion: {
    ...one,
    method: "POST",
    path: `${base}/:id/deletion-consent`,
    summary: "Sign the deletion of a workspace that another instance owns; the owner's instance is told",
    action: "workspace:delete",
    extension: true,
    body: z.strictObject(signed),
    bodyOptional: true,
    status: 200,
    reply: z.object({ workspace_id: z.uuid(), org_id: organizationId, revision: z.int(), delivered: z.boolean() }),
  },
  requestAccess: {
    ...one,
    method: "POST",
    path: `${base}/:id/request-access`,
    summary: "Ask to be let in through group membership",
    action: "workspace:request-access",
    body: z.strictObject({ group_id: reference.optional(), reason: text.default(""), justification: text.optional(), ...signed }),
    bodyOptional: true,
    status: 200,
    reply: joinRequest,
  },
  archiveWorkspace: {
    ...one,
    method: "POST",
    path: `${base}/:id/archive`,
    summary: "Archive for good; decrypt, export and delete stay possible",
    action: "workspace:archive",
    entity: "workspace",
    body: z.strictObject(signed),
    bodyOptional: true,
    status: 204,
  },
  exportWorkspace: {
    ...one,
    method: "POST",
    path: `${base}/:id/export`,
    summary: "A portable bundle, its keys sealed to the participating organisations",
    action: "workspace:export",
    body: z.strictObject(signed),
    bodyOptional: true,
    status: 200,
    reply: workspaceBundle,
  },
  importWorkspace: {
    ...route,
    method: "POST",
    path: `${base}/import`,
    summary: "Import a bundle; the id stays, the first importer is admitted",
    action: "workspace:import",
    body: workspaceBundle
      .extend({
        crk_signature: base64(1, 1024)
          .meta({
            description:
              "By the importing organisation's CRK, for `workspace.import`; needed when the workspace is CRK-protected",
          })
          .optional(),
      })
      .meta({ id: "WorkspaceBundleImport" }),
    bodyLimit: large,
    values: 16_384,
    status: 201,
    reply: workspace,
  },
} as const satisfies Contract;
