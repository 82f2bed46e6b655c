import type { Payload } from "@seneschal/contract";
import { type Custodian, invalidField, notFound, refusal, requireRelayed } from "@seneschal/core/keys";
import {
  admitDealtEntry,
  type DealtAct,
  type DealtEntry,
  type DealtRefusal,
  type DealtStanding,
  type DealtStart,
  dealtEntry,
  encodeTranscript,
} from "@seneschal/crypto/custody";
import { base64, crks, every, findOwn, type GatewayUnit, type StoredCrk } from "../ground/index.ts";
import { holderCalling } from "../people/index.ts";
import { type DealtTranscript, dealtEntries, dealtEntryId, dealtTranscripts } from "./collections.ts";
import { enrolledAs, requireActiveCustodians } from "./custodians.ts";
import { holdsOffice } from "./office.ts";
import type { CustodyServices } from "./services.ts";

/** What a well-formed entry may still be refused for when others were faster, or it is said again. */
const outOfTurn: ReadonlySet<DealtRefusal> = new Set(["chain", "repeated", "order"]);

/** A custodian confirms, by keys of its own, the transcript by which the gateway dealt the shares that a key has now. */
export async function confirmDealt(
  services: CustodyServices,
  unit: GatewayUnit,
  crkId: string,
  entry: Pick<DealtEntry, "ceremony" | "author" | "at" | "seq"> & { readonly act: { readonly type: string } },
): Promise<DealtTranscript> {
  const { principal, now } = unit.call;
  const crk = await findOwn(unit, crks, crkId, principal.org, "root key");
  const holder = await holderCalling(unit, principal);
  const [transcript] = await unit.list(dealtTranscripts, "by_crk", [crk.id, crk.version], { limit: 1 });
  if (transcript === undefined) throw notFound("transcript");
  const seat = transcript.standing.dealt?.seats.find((one) => one.identity_id === holder?.identity_id);
  if (holder === undefined || seat === undefined) {
    // Who has no part in it is told as of a key that there is not.
    if (!holdsOffice(principal)) throw notFound("root key");
    throw refusal("FORBIDDEN", "no share of the key was dealt to the caller");
  }
  requireRelayed(entry, holder.identity_id, now);
  const enrolled = await enrolledAs(unit, principal.org, holder.identity_id);
  if (enrolled === undefined) throw refusal("FORBIDDEN", "the caller has no enrolled keys");
  await requireActiveCustodians(unit, [enrolled.id]);
  if (entry.act.type !== "confirmation")
    throw invalidField("entry.act.type", "a custodian confirms, the gateway writes the rest");
  // Behind the list, which is not guarded: who writes at once is told of it.
  const guarded = (await unit.get(dealtTranscripts, transcript.id)) ?? transcript;
  const { standing } = guarded;
  const after = admitDealtEntry(services.crypto, standing, entry);
  if (typeof after === "string") {
    const message = `the entry is no part of the transcript: ${after}`;
    if (!outOfTurn.has(after)) throw invalidField("entry", `is no part of the transcript: ${after}`);
    throw refusal("STATE_CONFLICT", message, { reason: after, entries: standing.entries, head: standing.head });
  }
  const next: DealtTranscript = { ...guarded, standing: after };
  unit.put(dealtTranscripts, next.id, next);
  unit.insert(dealtEntries, dealtEntryId(next.id, entry.seq), { ceremony_id: next.id, entry: entry as DealtEntry });
  unit.record({
    type: "crk.ceremony",
    metadata: {
      ceremony_id: next.id,
      operation: standing.start.kind,
      event: "confirmation",
      index: seat.index,
      head: after.head,
      transcript: standing.transcript,
    },
  });
  return next;
}

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
