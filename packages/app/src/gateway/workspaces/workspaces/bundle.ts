import { type Participant, refusal } from "@seneschal/core/keys";
import { canonicalJson } from "@seneschal/crypto";
import { signingBytes } from "@seneschal/crypto/signing";
import { base64, bytes, type GatewayUnit, type PublicKeys, utf8 } from "../../ground/index.ts";
import type { WorkspaceServices } from "../services.ts";
import type { BundleContent } from "./bundle-content.ts";
import { openKeys } from "./sealed-keys.ts";

/** Base64 SHA-256 over the canonical JSON of the content. */
export function bundleChecksum(services: WorkspaceServices, content: BundleContent): string {
  return base64(services.crypto.hash("sha256", utf8(canonicalJson(content))));
}

/** What the exporter's organisation signs. */
export function bundleBytes(content: BundleContent, checksum: string): Uint8Array {
  return signingBytes("bundle", { checksum, exporter_org: content.exporter_org, workspace_id: content.workspace.id });
}

/** The public keys of an exporter: of this instance, or of one with which the importer is federated. */
async function exporterKeys(services: WorkspaceServices, unit: GatewayUnit, exporter: string): Promise<PublicKeys | undefined> {
  const { org } = unit.call.principal;
  return (await services.organizationKeys.known(unit, exporter)) ?? (await services.replication.keysOf(unit, exporter, org));
}

/** The key versions sealed to the caller's organisation. Throws `BUNDLE_INVALID`. The caller zeroes them. */
export async function openDeks(
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
export async function checkBundle(
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
