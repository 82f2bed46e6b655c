import type { Payload } from "@seneschal/contract";
import type { Custodian } from "@seneschal/core/keys";
import {
  admitDealtEntry,
  type DealtAct,
  type DealtStanding,
  type DealtStart,
  dealtEntry,
  encodeTranscript,
} from "@seneschal/crypto/custody";
import { base64, every, type GatewayUnit, type StoredCrk } from "../../ground/index.ts";
import { holderCalling } from "../../people/index.ts";
import { enrolledAs } from "../custodians/handlers.ts";
import type { CustodyServices } from "../services.ts";
import { type DealtTranscript, dealtEntries, dealtEntryId, dealtTranscripts } from "./collections.ts";

/** The hash of the last entry, for the audit event of the act; of a ceremony that an earlier release began there is none. */
export type Recorded = { readonly head: string } | Record<never, never>;

/** For whom indexes are kept, as a start says it. */
export function seatsKept(custodians: readonly Pick<Custodian, "index" | "identity_id">[]): DealtStart["seats"] {
  return custodians.map(({ index, identity_id }) => ({ index, identity_id })).sort((a, b) => a.index - b.index);
}

/** Begins the transcript of a ceremony in which the gateway deals. */
export async function beginTranscript(
  services: CustodyServices,
  unit: GatewayUnit,
  ceremony: string,
  start: Omit<DealtStart, "type" | "gateway_key">,
): Promise<Recorded> {
  const key = await services.audit.key(unit);
  const act: DealtStart = { type: "start", ...start, gateway_key: base64(key.note.publicKey) };
  return append(services, unit, { id: ceremony, org_id: start.org_id, crk_id: null, crk_version: null }, act, key);
}

/** Writes what the caller did behind a transcript, signed by the gateway. */
export async function recordAct(
  services: CustodyServices,
  unit: GatewayUnit,
  ceremony: string,
  act: DealtAct,
): Promise<Recorded> {
  const transcript = await unit.get(dealtTranscripts, ceremony);
  return transcript === undefined ? {} : append(services, unit, transcript, act);
}

/** Writes that the gateway dealt, and for whom each share is, with the cards that they have enrolled. */
export async function recordDealt(
  services: CustodyServices,
  unit: GatewayUnit,
  ceremony: string,
  crk: StoredCrk,
): Promise<Recorded> {
  const transcript = await unit.get(dealtTranscripts, ceremony);
  if (transcript === undefined) return {};
  const seats = await Promise.all(
    (crk.custodians ?? []).map(async ({ index, identity_id }) => {
      const enrolled = await enrolledAs(unit, crk.org_id, identity_id);
      return { index, identity_id, card: enrolled?.status === "active" ? enrolled.card : null };
    }),
  );
  const act: DealtAct = { type: "dealt", crk_id: crk.id, crk: crk.material, seats };
  return append(services, unit, { ...transcript, crk_id: crk.id, crk_version: crk.version }, act);
}

async function append(
  services: CustodyServices,
  unit: GatewayUnit,
  transcript: Omit<DealtTranscript, "standing"> & Partial<Pick<DealtTranscript, "standing">>,
  act: DealtAct,
  known?: Awaited<ReturnType<CustodyServices["audit"]["key"]>>,
): Promise<Recorded> {
  const { principal, now } = unit.call;
  const { id, standing } = transcript;
  const { sign } = known ?? (await services.audit.key(unit));
  const author = (await holderCalling(unit, principal))?.identity_id ?? principal.id;
  const { entry, bytes } = dealtEntry(standing, { ceremony: id, author, at: Math.floor(now / 1000) }, act);
  const signed = { ...entry, signature: base64(await sign(bytes)) };
  const after = admitDealtEntry(services.crypto, standing, signed);
  if (typeof after === "string") throw new Error(`the gateway's own entry of ceremony ${id} is none: ${after}`);
  unit.put(dealtTranscripts, id, { ...transcript, standing: after });
  unit.insert(dealtEntries, dealtEntryId(id, entry.seq), { ceremony_id: id, entry: signed });
  return { head: after.head };
}

/** Whether somebody has, is kept or is given a seat: they read what they are to confirm, without an office too. */
export function tookPart({ start, seeds, shares, dealt }: DealtStanding, identity: string): boolean {
  return [...start.seats, ...seeds, ...shares, ...(dealt?.seats ?? [])].some(({ identity_id }) => identity_id === identity);
}

/** The transcript's file, entry by entry. What is appended meanwhile is not in it. */
export function dealtFile(services: CustodyServices, { id, standing }: DealtTranscript): Payload {
  async function* lines() {
    for await (const { entry } of every(services, dealtEntries, "by_ceremony", [id]))
      if (entry.seq < standing.entries) yield encodeTranscript([entry]);
  }
  return { filename: `${id}.ndjson`, body: lines() };
}
