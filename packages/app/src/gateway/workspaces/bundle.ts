import type { JsonObject } from "@seneschal/core";
import { isCoded } from "@seneschal/core";
import { type Participant, refusal, type Workspace } from "@seneschal/core/keys";
import { canonicalJson } from "@seneschal/crypto";
import { hpkeOpen, hpkeSeal } from "@seneschal/crypto/hpke";
import { signingBytes } from "@seneschal/crypto/signing";
import { base64, bytes, utf8 } from "../bytes.ts";
import type { GatewayUnit } from "../call.ts";
import type { GatewayServices } from "../services.ts";
import { seatId, seats } from "./collections.ts";

/** The part of a workspace that travels. */
export type BundledWorkspace = Omit<Workspace, "org_id"> & { readonly owner_org_id: string };

/** What the checksum covers. */
export interface BundleContent {
  readonly format_version: 1;
  readonly workspace: BundledWorkspace;
  readonly policies: readonly { readonly id: string; readonly name: string; readonly rego: string; readonly version: number }[];
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

const INFO = utf8("seneschal/workspace-export/v1");

function associated(workspace: string, exporter: string, recipient: string): Uint8Array {
  return utf8(canonicalJson({ workspace, exporter, recipient }));
}

/** Every key version of a workspace, sealed to each recipient by HPKE in auth mode: the recipient learns who sent it. */
export async function sealDeks(
  services: GatewayServices,
  unit: GatewayUnit,
  workspace: Workspace,
  recipients: readonly string[],
): Promise<Record<string, string>> {
  const exporter = unit.call.principal.org;
  const seat = await unit.get(seats, seatId(workspace.id, exporter));
  if (seat === undefined) throw new Error(`workspace ${workspace.id} has no seat of the exporter`);
  const deks: Record<string, string> = {};
  for (const version of Object.keys(seat.deks)) {
    const dek = await services.deks.open(seat, Number(version));
    if (dek !== undefined) deks[version] = base64(dek);
    dek?.fill(0);
  }
  const plain = utf8(JSON.stringify(deks));
  const keys: [string, Uint8Array][] = [];
  for (const org of recipients) keys.push([org, (await services.organizationKeys.publicKeys(unit, org)).exchange]);
  const sealed = await services.organizationKeys.withExchangeSecret(unit, exporter, (senderSecret) =>
    keys.map(([org, recipientKey]) => {
      const aad = associated(workspace.id, exporter, org);
      const text = hpkeSeal(services.crypto, recipientKey, plain, { info: INFO, aad, senderSecret, random: services.random });
      return [org, base64(text)] as const;
    }),
  );
  plain.fill(0);
  return Object.fromEntries(sealed);
}

/** The key versions sealed to the caller's organisation. Throws `BUNDLE_INVALID`. */
export async function openDeks(
  services: GatewayServices,
  unit: GatewayUnit,
  content: BundleContent,
): Promise<Readonly<Record<string, Uint8Array>>> {
  const { org } = unit.call.principal;
  const sealed = content.export_dek[org];
  const sender = await services.organizationKeys.known(unit, content.exporter_org);
  if (sealed === undefined || sender === undefined) throw invalidBundle("recipient");
  try {
    const aad = associated(content.workspace.id, content.exporter_org, org);
    const plain = await services.organizationKeys.withExchangeSecret(unit, org, (secret) =>
      hpkeOpen(services.crypto, secret, bytes(sealed), { info: INFO, aad, senderKey: sender.exchange }),
    );
    const deks = JSON.parse(Buffer.from(plain).toString("utf8")) as JsonObject;
    plain.fill(0);
    const versions = Array.from({ length: content.workspace.dek_version }, (_, i) => String(i + 1));
    const out = Object.fromEntries(versions.map((version) => [version, bytes(String(deks[version] ?? ""))]));
    if (Object.values(out).some((dek) => dek.length !== 32)) throw invalidBundle("keys");
    return out;
  } catch (error) {
    if (isCoded(error, "decryption_failed")) throw invalidBundle("keys");
    throw error;
  }
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
  const signer = await services.organizationKeys.known(unit, content.exporter_org);
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
