import {
  type ReplicatedPolicy,
  type ReplicatedWorkspace,
  replicatedWorkspace as replicatedWorkspaceSchema,
} from "@seneschal/contract/gateway";
import { type Participant, refusal, timestamp, type Workspace } from "@seneschal/core/keys";
import { canonicalJson } from "@seneschal/crypto";
import { signingBytes } from "@seneschal/crypto/signing";
import type { CryptoProvider } from "@seneschal/kernel/ports";
import * as z from "zod";
import { base64, bytes, type GatewayUnit, isLocal, type PublicKeys, utf8 } from "../../ground/index.ts";
import { participationId, participations, policies, workspaces } from "../collections.ts";
import type { WorkspaceServices } from "../services.ts";
import type { BundleContent } from "./bundle-content.ts";
import { openKeys, type Recipient, sealKeys } from "./sealed-keys.ts";

/** Base64 SHA-256 over the canonical JSON of the content. */
function bundleChecksum(services: WorkspaceServices, content: BundleContent): string {
  return base64(services.crypto.hash("sha256", utf8(canonicalJson(content))));
}

/** What the exporter's organisation signs. */
function bundleBytes(content: BundleContent, checksum: string): Uint8Array {
  return signingBytes("bundle", { checksum, exporter_org: content.exporter_org, workspace_id: content.workspace.id });
}

/** The public keys of an exporter: of this instance, or of one with which the importer is federated. */
async function exporterKeys(services: WorkspaceServices, unit: GatewayUnit, exporter: string): Promise<PublicKeys | undefined> {
  const { org } = unit.call.principal;
  return (await services.organizationKeys.known(unit, exporter)) ?? (await services.replication.keysOf(unit, exporter, org));
}

/** The key versions sealed to the caller's organisation. Throws `BUNDLE_INVALID`. The caller zeroes them. */
async function openDeks(
  services: WorkspaceServices,
  unit: GatewayUnit,
  content: BundleContent,
): Promise<Readonly<Record<string, Uint8Array>>> {
  const { org } = unit.call.principal;
  const sealed = content.export_dek[org];
  const sender = await exporterKeys(services, unit, content.exporter_org);
  if (sealed === undefined || sender === undefined) throw invalidBundle("recipient");
  const deks = await openKeys(services, unit, {
    workspace: content.workspace.id,
    exporter: content.exporter_org,
    recipient: org,
    sealed,
    senderKey: sender.exchange,
    dek_version: content.workspace.dek_version,
    complete: true,
  });
  if (deks === undefined) throw invalidBundle("keys");
  return deks;
}

/** Checksum, signer and recipient of a bundle. Throws `BUNDLE_INVALID` naming what does not hold. */
async function checkBundle(
  services: WorkspaceServices,
  unit: GatewayUnit,
  content: BundleContent,
  checksum: string,
  signature: string | undefined,
): Promise<void> {
  const { org } = unit.call.principal;
  if (base64(bytes(checksum)) !== bundleChecksum(services, content)) throw invalidBundle("checksum");
  const signer = await exporterKeys(services, unit, content.exporter_org);
  const genuine =
    signer !== undefined &&
    signature !== undefined &&
    services.crypto.ed25519Verify(signer.signing, bundleBytes(content, base64(bytes(checksum))), bytes(signature));
  if (!genuine) throw invalidBundle("signature");
  const { participants, owner_org_id } = content.workspace;
  const orgs = participants.map((participant: Participant) => participant.org_id);
  const owners = participants.filter((participant: Participant) => participant.role === "owner");
  if (!orgs.includes(org) || !content.recipient_orgs.includes(org)) throw invalidBundle("recipient");
  if (owners.length !== 1 || owners[0]?.org_id !== owner_org_id || new Set(orgs).size !== orgs.length)
    throw invalidBundle("format");
}

function invalidBundle(reason: "checksum" | "signature" | "recipient" | "format" | "keys") {
  return refusal("BUNDLE_INVALID", `the bundle's ${reason} does not hold`, { reason });
}

/** The part of a workspace that travels between instances: what the contract lets partners read of it, however much else is stored. */
export function replicatedWorkspace(workspace: Workspace): ReplicatedWorkspace {
  return told(replicatedWorkspaceSchema, { ...workspace, owner_org_id: workspace.org_id }) as ReplicatedWorkspace;
}

/** Of a value what the schema names. */
function told(schema: unknown, value: unknown): unknown {
  if (schema instanceof z.ZodArray) return (value as readonly unknown[]).map((item) => told(schema.element, item));
  if (!(schema instanceof z.ZodObject)) return value;
  const members = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(Object.entries(schema.shape).map(([name, member]) => [name, told(member, members[name])]));
}

/** A workspace as it is stored, from what travelled. */
export function storedWorkspace({ owner_org_id: org_id, ...rest }: ReplicatedWorkspace): Workspace {
  return { ...rest, org_id };
}

/** What a revision of a workspace says, as one number: SHA-256 over its canonical JSON, hex. Owner and partners compute the same. */
export function stateHash(crypto: CryptoProvider, workspace: ReplicatedWorkspace): string {
  return Buffer.from(crypto.hash("sha256", utf8(canonicalJson(workspace)))).toString("hex");
}

/** The policies of a workspace as they travel. */
export async function replicatedPolicies(unit: GatewayUnit, workspace: string): Promise<ReplicatedPolicy[]> {
  const bound = await unit.list(policies, "by_workspace", [workspace]);
  return bound.map(({ id, name, rego, version }) => ({ id, name, rego, version }));
}

/** Makes the signed bundle of a workspace. Without `withKeys` it holds no key. */
export async function exportBundle(services: WorkspaceServices, unit: GatewayUnit, workspace: Workspace, withKeys: boolean) {
  const { principal, now } = unit.call;
  const recipients = await recipientsOf(services, unit, workspace);
  const content: BundleContent = {
    format_version: 1,
    workspace: replicatedWorkspace(workspace),
    policies: await replicatedPolicies(unit, workspace.id),
    export_dek: withKeys ? await sealKeys(services, unit, workspace, principal.org, recipients) : {},
    recipient_orgs: recipients.map(({ org }) => org),
    exported_at: timestamp(now),
    exported_by: principal.id,
    exporter_org: principal.org,
  };
  const checksum = bundleChecksum(services, content);
  const signature = base64(await services.organizationKeys.sign(unit, principal.org, bundleBytes(content, checksum)));
  return { ...content, checksum, signature };
}

/** The participants whose keys are known: those of this instance, and those with which the exporter is federated. */
async function recipientsOf(
  services: WorkspaceServices,
  unit: GatewayUnit,
  { participants }: Workspace,
): Promise<readonly Recipient[]> {
  const { org: own } = unit.call.principal;
  const recipients: Recipient[] = [];
  for (const { org_id: org } of participants) {
    const here = org === own || (await isLocal(unit, org));
    const keys = here ? await services.organizationKeys.publicKeys(unit, org) : await services.replication.keysOf(unit, org, own);
    if (keys !== undefined) recipients.push({ org, exchange: keys.exchange });
  }
  return recipients;
}

/**
 * Brings a bundle in. The id stays; one that exists is a conflict. Every participant that lives on this instance gets its
 * participation, with the keys wrapped for it. A workspace whose owner lives elsewhere and is federated becomes a replica.
 */
export async function importBundle(
  services: WorkspaceServices,
  unit: GatewayUnit,
  content: BundleContent,
  checksum: string,
  signature: string | undefined,
): Promise<Workspace> {
  const { principal, now } = unit.call;
  await checkBundle(services, unit, content, checksum, signature);
  const owner = content.workspace.owner_org_id;
  const here = owner === principal.org || (await isLocal(unit, owner));
  const taken = here ? undefined : await services.replication.takeBundle(services, unit, content);
  if (taken !== undefined) return taken;
  const before = storedWorkspace(content.workspace);
  const workspace: Workspace = { ...before, revision: before.revision + 1, updated_at: timestamp(now) };
  if ((await unit.get(workspaces, workspace.id)) !== undefined) {
    throw refusal("CONFLICT", "a workspace of that id exists", { id: workspace.id });
  }
  const deks = await openDeks(services, unit, content);
  unit.insert(workspaces, workspace.id, workspace);
  for (const { org_id } of workspace.participants) {
    if (org_id !== principal.org && !(await isLocal(unit, org_id))) continue;
    const wrapped: Record<string, string> = {};
    for (const [version, dek] of Object.entries(deks)) {
      wrapped[version] = await services.deks.wrap(dek, workspace.id, org_id, Number(version));
    }
    unit.insert(participations, participationId(workspace.id, org_id), {
      workspace_id: workspace.id,
      org_id,
      group_id: workspace.group_bindings[org_id] ?? null,
      created_at: workspace.created_at,
      deks: wrapped,
    });
  }
  for (const dek of Object.values(deks)) dek.fill(0);
  for (const policy of content.policies) {
    if ((await unit.get(policies, policy.id)) !== undefined)
      throw refusal("CONFLICT", "a policy of that id exists", { id: policy.id });
    unit.insert(policies, policy.id, {
      ...policy,
      org_id: principal.org,
      workspace_id: workspace.id,
      created_by: principal.id,
      created_at: timestamp(now),
      updated_at: timestamp(now),
    });
  }
  return workspace;
}
