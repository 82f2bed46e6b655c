import { setImmediate } from "node:timers/promises";
import { decodeJson } from "@seneschal/contract";
import { limits, type Workspace } from "@seneschal/core/keys";
import { canonicalJson } from "@seneschal/crypto";
import { hpkeOpen, hpkeSeal } from "@seneschal/crypto/hpke";
import { isCoded } from "@seneschal/kernel";
import { base64, bytes, type GatewayUnit, utf8 } from "../../ground/index.ts";
import { participationId, participations } from "../collections.ts";
import type { WorkspaceServices } from "../services.ts";

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
 * Every key version of a workspace behind `held` up to the one in force, sealed to each recipient by HPKE in auth mode: the recipient
 * learns who sent it. Base64 by organisation. The exporter has a participation.
 */
export async function sealKeys(
  services: WorkspaceServices,
  unit: GatewayUnit,
  workspace: Pick<Workspace, "id" | "dek_version">,
  exporter: string,
  recipients: readonly Recipient[],
  held = 0,
): Promise<Record<string, string>> {
  const participation = await unit.get(participations, participationId(workspace.id, exporter));
  if (participation === undefined) throw new Error(`workspace ${workspace.id} has no participation of the exporter`);
  const deks: Record<string, string> = {};
  for (let version = held + 1; version <= workspace.dek_version; version++) {
    await breathe(version);
    const dek = await services.deks.open(participation, version);
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

/** Keys are many and the vault may be in this process: others get their turn in between. */
export async function breathe(step: number): Promise<void> {
  if (step % 64 === 0) await setImmediate();
}

/** What the JSON of so many keys needs: a name, a text and what is between them. */
const MAX_KEYS_BYTES = limits.keyVersions.max * 64;

/**
 * The keys that were sealed to an organisation of this instance, by version. `undefined` when they were not sealed for it, by that
 * sender, for that workspace, or are not 32 bytes each, for versions from 1 to `dek_version`: some of them, all if `complete`. What was
 * sealed is judged by its size before anything is made of it. The caller zeroes the keys.
 */
export async function openKeys(
  services: WorkspaceServices,
  unit: GatewayUnit,
  way: Way & {
    readonly sealed: string;
    readonly senderKey: Uint8Array;
    readonly dek_version: number;
    readonly complete?: boolean;
  },
): Promise<Readonly<Record<string, Uint8Array>> | undefined> {
  const aad = associated(way);
  if (way.dek_version > limits.keyVersions.max || way.sealed.length > MAX_KEYS_BYTES * 2) return undefined;
  try {
    const plain = await services.organizationKeys.withExchangeSecret(unit, way.recipient, (secret) =>
      hpkeOpen(services.crypto, secret, bytes(way.sealed), { info: INFO, aad, senderKey: way.senderKey }),
    );
    const deks = plain.length > MAX_KEYS_BYTES ? undefined : keysIn(plain, way.dek_version);
    plain.fill(0);
    return deks === undefined || (way.complete === true && Object.keys(deks).length !== way.dek_version) ? undefined : deks;
  } catch (error) {
    if (isCoded(error, "decryption_failed")) return undefined;
    throw error;
  }
}

/** The keys of a text that its sender sealed: it may hold anything. */
function keysIn(plain: Uint8Array, newest: number): Readonly<Record<string, Uint8Array>> | undefined {
  let opened: unknown;
  try {
    opened = decodeJson(plain, { values: 2 * newest + 1 });
  } catch (error) {
    if (isCoded(error)) return undefined;
    throw error;
  }
  if (typeof opened !== "object" || opened === null || Array.isArray(opened)) return undefined;
  const deks: Record<string, Uint8Array> = {};
  for (const [version, text] of Object.entries(opened as Readonly<Record<string, unknown>>)) {
    const known = /^[1-9][0-9]{0,5}$/.test(version) && Number(version) <= newest;
    if (!known || typeof text !== "string" || !/^[A-Za-z0-9+/]{43}=$/.test(text)) return undefined;
    deks[version] = bytes(text);
  }
  return deks;
}
