import { accessRefusal, decideAccess, limits, notFound, refusal } from "@seneschal/core/keys";
import { bindRecord, openRecord, type RecordBinding, recordKeyVersion, sealRecord } from "@seneschal/crypto";
import { checkArgument, isCoded, type JsonObject } from "@seneschal/kernel";
import { base64, bytes, type Call, markRecorded } from "../../ground/index.ts";
import { participationId, participations, workspaces } from "../collections.ts";
import type { WorkspaceServices } from "../services.ts";
import { standing } from "./access.ts";

const DOMAIN = "seneschal/workspace-data/v1";

/** Text of one item, base64, and the context that it is bound to. */
export interface DataItem {
  readonly text: string;
  readonly context: Readonly<Record<string, string>>;
}

/** Encrypts items under the current key version. Throws what the access decision says. */
export async function encryptItems(
  services: WorkspaceServices,
  call: Call,
  workspaceId: string,
  items: readonly DataItem[],
): Promise<string[]> {
  checkArgument("services", services, "object");
  checkArgument("call", call, "object");
  checkArgument("workspaceId", workspaceId, "string");
  checkArgument("items", items, "array");
  const contexts = contextsOf(items);
  const { participation, version, record } = await enter(services, call, workspaceId, "encrypt", contexts);
  const { owner, replica } = limits.dekUses;
  await services.dekUses.take(workspaceId, version, items.length, participation.federation_id === undefined ? owner : replica);
  const key = await services.deks.open(participation, version);
  if (key === undefined) throw new Error(`workspace ${workspaceId} lost key version ${version}`);
  const bindings = bindingsOf(workspaceId, contexts);
  const out = items.map(({ text }, i) =>
    base64(sealRecord(services.crypto, { key, version }, bindings(i), Buffer.from(text, "base64"), services.nonces)),
  );
  key.fill(0);
  await record({ key_version: version });
  return out;
}

/**
 * Decrypts items, all or none. Throws `DECRYPTION_FAILED` with one text for a wrong context, tampering, another workspace and
 * an unknown version alike.
 */
export async function decryptItems(
  services: WorkspaceServices,
  call: Call,
  workspaceId: string,
  items: readonly DataItem[],
): Promise<string[]> {
  checkArgument("services", services, "object");
  checkArgument("call", call, "object");
  checkArgument("workspaceId", workspaceId, "string");
  checkArgument("items", items, "array");
  const contexts = contextsOf(items);
  const { participation, record } = await enter(services, call, workspaceId, "decrypt", contexts);
  const keys = new Map<number, Uint8Array>();
  try {
    const sealed = items.map(({ text }) => bytes(text));
    for (const version of new Set(sealed.map(recordKeyVersion))) {
      const key = await services.deks.open(participation, version);
      if (key !== undefined) keys.set(version, key);
    }
    const bindings = bindingsOf(workspaceId, contexts);
    const out = sealed.map((record, i) => {
      const plain = openRecord(services.crypto, (version) => keys.get(version), bindings(i), record);
      const text = base64(plain);
      plain.fill(0);
      return text;
    });
    await record({ key_versions: [...keys.keys()] });
    return out;
  } catch (error) {
    if (!isCoded(error, "decryption_failed")) throw error;
    await record({}, "error");
    throw refusal("DECRYPTION_FAILED", "the ciphertext cannot be decrypted");
  } finally {
    for (const key of keys.values()) key.fill(0);
  }
}

/** Decides access, counts and audits a refusal, and hands out the caller's participation. */
async function enter(
  services: WorkspaceServices,
  call: Call,
  workspaceId: string,
  operation: "encrypt" | "decrypt",
  { distinct, of }: Contexts,
) {
  const { read } = services;
  const { principal, now } = call;
  const [workspace, participation] = await Promise.all([
    read.get(workspaces, workspaceId),
    read.get(participations, participationId(workspaceId, principal.org)),
  ]);
  if (workspace === undefined || participation === undefined) throw notFound("workspace");
  await services.replication.requireFollowed(services, workspace, participation, now);
  const facts = await standing(read, workspace, principal, now);
  const verdicts = await Promise.all(
    distinct.map((metadata) =>
      services.policies.verdicts(read, {
        call,
        actor: principal,
        operation,
        workspace: workspaceId,
        purpose: (metadata["purpose"] as string | undefined) ?? workspace.purpose,
        metadata,
      }),
    ),
  );
  const decision = decideAccess({ operation, policies: verdicts.flat(), ...facts });
  const purpose = (distinct[0]?.["purpose"] as string | undefined) ?? workspace.purpose;
  if (!decision.allowed) {
    const { code, reason } = decision;
    const { error, event } = accessRefusal(decision);
    await services.transact(call, async (unit) => {
      const metadata = { operation, code, reason };
      unit.record({ type: event ?? operation, workspace: workspaceId, purpose, result: "denied", metadata });
    });
    services.metrics.operation(operation, "denied");
    throw markRecorded(error);
  }
  const record = async (metadata: JsonObject, result: "success" | "error" = "success"): Promise<void> => {
    await services.transact(call, async (unit) => {
      unit.record({ type: operation, workspace: workspaceId, purpose, result, metadata: { items: of.length, ...metadata } });
    });
    services.metrics.operation(operation, result);
  };
  return { workspace, participation, version: workspace.dek_version, record };
}

/** The different contexts of some items, and which of them each item has: what depends on a context is done once for all its items. */
interface Contexts {
  readonly distinct: readonly JsonObject[];
  readonly of: readonly number[];
}

function contextsOf(items: readonly DataItem[]): Contexts {
  const distinct: JsonObject[] = [];
  const places = new Map<string, number>();
  let last = { context: {} as DataItem["context"], place: -1 };
  const of = items.map(({ context }) => {
    // Neighbours mostly have the same: seen faster than their texts are written.
    if (last.place >= 0 && sameContext(context, last.context)) return last.place;
    const text = JSON.stringify(Object.entries(context).sort());
    const place = places.get(text) ?? distinct.push(context) - 1;
    places.set(text, place);
    last = { context, place };
    return place;
  });
  return { distinct, of };
}

function sameContext(a: DataItem["context"], b: DataItem["context"]): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}

/** What the record of each item is bound to. */
function bindingsOf(workspaceId: string, { distinct, of }: Contexts): (item: number) => RecordBinding {
  const bindings = distinct.map((context) => bindRecord({ domain: DOMAIN, workspaceId, context }));
  return (item) => bindings[of[item] as number] as RecordBinding;
}
