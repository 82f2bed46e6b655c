import { isCoded, type JsonObject } from "@seneschal/core";
import type { Workspace } from "@seneschal/core/keys";
import { canonicalJson } from "@seneschal/crypto";
import { hpkeOpen, hpkeSeal } from "@seneschal/crypto/hpke";
import { base64, bytes, utf8 } from "../bytes.ts";
import type { GatewayUnit } from "../call.ts";
import type { GatewayServices } from "../services.ts";
import { seatId, seats } from "./collections.ts";

const INFO = utf8("seneschal/workspace-export/v1");

/** Between whom keys of which workspace travel: what the seal is bound to. */
interface Way {
  readonly workspace: string;
  readonly exporter: string;
  readonly recipient: string;
}

const associated = ({ workspace, exporter, recipient }: Way): Uint8Array =>
  utf8(canonicalJson({ workspace, exporter, recipient }));

/** Somebody who is to get keys. */
export interface Recipient {
  readonly org: string;
  /** Its X25519 public key. */
  readonly exchange: Uint8Array;
}

/**
 * Every key version of a workspace up to the one in force, sealed to each recipient by HPKE in auth mode: the recipient learns who sent
 * it. Base64 by organisation. The exporter has a seat.
 */
export async function sealKeys(
  services: GatewayServices,
  unit: GatewayUnit,
  workspace: Pick<Workspace, "id" | "dek_version">,
  exporter: string,
  recipients: readonly Recipient[],
): Promise<Record<string, string>> {
  const seat = await unit.get(seats, seatId(workspace.id, exporter));
  if (seat === undefined) throw new Error(`workspace ${workspace.id} has no seat of the exporter`);
  const deks: Record<string, string> = {};
  for (let version = 1; version <= workspace.dek_version; version++) {
    const dek = await services.deks.open(seat, version);
    if (dek !== undefined) deks[version] = base64(dek);
    dek?.fill(0);
  }
  const plain = utf8(JSON.stringify(deks));
  const sealed = await services.organizationKeys.withExchangeSecret(unit, exporter, (senderSecret) =>
    recipients.map(({ org, exchange }) => {
      const aad = associated({ workspace: workspace.id, exporter, recipient: org });
      const text = hpkeSeal(services.crypto, exchange, plain, { info: INFO, aad, senderSecret, random: services.random });
      return [org, base64(text)] as const;
    }),
  );
  plain.fill(0);
  return Object.fromEntries(sealed);
}

/**
 * The keys that were sealed to an organisation of this instance, by version. `undefined` when they were not sealed for it, by that
 * sender, for that workspace, or are not 32 bytes for each version from 1 to `dek_version`. The caller zeroes them.
 */
export async function openKeys(
  services: GatewayServices,
  unit: GatewayUnit,
  way: Way & { readonly sealed: string; readonly senderKey: Uint8Array; readonly dek_version: number },
): Promise<Readonly<Record<string, Uint8Array>> | undefined> {
  const aad = associated(way);
  try {
    const plain = await services.organizationKeys.withExchangeSecret(unit, way.recipient, (secret) =>
      hpkeOpen(services.crypto, secret, bytes(way.sealed), { info: INFO, aad, senderKey: way.senderKey }),
    );
    const deks = JSON.parse(Buffer.from(plain).toString("utf8")) as JsonObject;
    plain.fill(0);
    const versions = Array.from({ length: way.dek_version }, (_, i) => String(i + 1));
    const out = Object.fromEntries(versions.map((version) => [version, bytes(String(deks[version] ?? ""))]));
    return Object.values(out).every((dek) => dek.length === 32) ? out : undefined;
  } catch (error) {
    if (isCoded(error, "decryption_failed")) return undefined;
    throw error;
  }
}
