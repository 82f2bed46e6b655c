import type { TravellingPolicy, TravellingWorkspace } from "@seneschal/contract/gateway";
import { type Participant, refusal } from "@seneschal/core/keys";
import { canonicalJson } from "@seneschal/crypto";
import { signingBytes } from "@seneschal/crypto/signing";
import { base64, bytes, utf8 } from "../../ground/bytes.ts";
import type { GatewayUnit } from "../../ground/call.ts";
import type { PublicKeys } from "../../ground/organizations/keys.ts";
import { federatedKeys } from "../../partners/federation/certified-keys.ts";
import type { GatewayServices } from "../../services.ts";
import { openKeys } from "./sealed-keys.ts";

/** What the checksum covers. */
export interface BundleContent {
  readonly format_version: 1;
  readonly workspace: TravellingWorkspace;
  readonly policies: readonly TravellingPolicy[];
  readonly export_dek: Readonly<Record<string, string>>;
  readonly recipient_orgs: readonly string[];
  readonly exported_at: string;
  readonly exported_by: string;
  readonly exporter_org: string;
}

/** Base64 SHA-256 over the canonical JSON of the content. */
export function bundleChecksum(services: GatewayServices, content: BundleContent): string {
  return base64(services.crypto.hash("sha256", utf8(canonicalJson(content))));
}

/** What the exporter's organisation signs. */
export function bundleBytes(content: BundleContent, checksum: string): Uint8Array {
  return signingBytes("bundle", { checksum, exporter_org: content.exporter_org, workspace_id: content.workspace.id });
}

/** The public keys of an exporter: of this instance, or of one with which the importer is federated. */
async function exporterKeys(services: GatewayServices, unit: GatewayUnit, exporter: string): Promise<PublicKeys | undefined> {
  const { org } = unit.call.principal;
  return (await services.organizationKeys.known(unit, exporter)) ?? (await federatedKeys(unit, exporter, org));
}

/** The key versions sealed to the caller's organisation. Throws `BUNDLE_INVALID`. The caller zeroes them. */
export async function openDeks(
  services: GatewayServices,
  unit: GatewayUnit,
  content: BundleContent,
): Promise<Readonly<Record<string, Uint8Array>>> {
  const { org } = unit.call.principal;
  const sealed = content.export_dek[org];
  const sender = await exporterKeys(services, unit, content.exporter_org);
  if (sealed === undefined || sender === undefined) throw invalidBundle("recipient");
  const deks = await openKeys(services, unit, {
    ...{ workspace: content.workspace.id, exporter: content.exporter_org, recipient: org },
    ...{ sealed, senderKey: sender.exchange, dek_version: content.workspace.dek_version, complete: true },
  });
  if (deks === undefined) throw invalidBundle("keys");
  return deks;
}

/** Checksum, signer and recipient of a bundle. Throws `BUNDLE_INVALID` naming what does not hold. */
export async function checkBundle(
  services: GatewayServices,
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
