import type { Handlers, Payload, Principal } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import {
  awaitedParticipants,
  type CeremonyParticipant,
  type Custodian,
  type CustodyCeremony,
  custodyCeremonyStatus,
  findSamePerson,
  invalidField,
  notFound,
  refusal,
  requireCustodyTerm,
  requireOpenCeremony,
  requireRelayed,
  rotatesShares,
  stepCrk,
  timestamp,
} from "@seneschal/core/keys";
import { canonicalJson } from "@seneschal/crypto";
import {
  type EntryOutcome,
  type EntryRefusal,
  encodeTranscript,
  type KeptTranscript,
  type StartAct,
  shareAfter,
  shareBefore,
  type TranscriptEntry,
  type TranscriptStanding,
  thresholdOf,
} from "@seneschal/crypto/custody";
import {
  crks,
  currentCrk,
  every,
  findOwn,
  type GatewayUnit,
  type PageRequest,
  type Reader,
  requireCrk,
  type StoredCrk,
} from "../ground/index.ts";
import { asKnownNow, personNamed } from "../people/index.ts";
import {
  custodyCeremonies,
  custodyEntries,
  custodyEntryId,
  custodyPartId,
  custodyParts,
  dealtTranscripts,
  type StoredCustodyCeremony,
} from "./collections.ts";
import { activeCustodians, custodiansLeft, enrolledAs, requireActiveCustodians, requireHolder } from "./custodians.ts";
import { storeCrk } from "./deal-crk.ts";
import { confirmDealt, dealtFile, tookPart } from "./dealt-transcripts.ts";
import { holdsOffice } from "./office.ts";
import type { CustodyServices } from "./services.ts";

/** The key that a start makes, as a ceremony has it. */
function keyOf(start: StartAct): Pick<CustodyCeremony, "threshold" | "total_shares"> {
  const { kind, seats } = start;
  const total_shares = kind === "reshare" ? start.total_shares : kind === "repair" ? start.crk.total_shares : seats.length;
  return { threshold: thresholdOf(start), total_shares };
}

/** Who deals with a share of the key is who holds the share of that index, and a share is given back to who held it. */
function requireHeld(
  crk: StoredCrk,
  start: Exclude<StartAct, { readonly kind: "generate" }>,
  participants: readonly CeremonyParticipant[],
): void {
  if (canonicalJson(start.crk) !== canonicalJson(crk.material))
    throw invalidField("entry.act.crk", "is not the organisation's key");
  for (const { seat, identity_id } of participants) {
    const index = start.kind === "repair" ? shareAfter(start, seat) : shareBefore(start, seat);
    const holder = crk.custodians?.find((custodian) => custodian.index === index);
    if (seat > 0 && index > 0 && holder?.identity_id !== identity_id) {
      throw invalidField(`entry.act.seats[${seat - 1}]`, `does not hold the share of index ${index}`);
    }
  }
}

/**
 * All who are given a share have confirmed one transcript and the witness has signed it: the key is the organisation's, or has new
 * shares, or one share is there again. Throws `CRK_EXISTS` and `STATE_CONFLICT` when another key or other shares came first.
 */
async function activate(
  services: CustodyServices,
  unit: GatewayUnit,
  ceremony: StoredCustodyCeremony,
  { crk: material, transcript }: TranscriptStanding,
): Promise<{ readonly crk_id: string; readonly crk_version: number }> {
  if (material === undefined || transcript === undefined) throw new Error("an active ceremony has a key");
  const { id: ceremony_id, kind, threshold, total_shares } = ceremony;
  const witness = ceremony.participants.find(({ role }) => role === "witness")?.identity_id ?? null;
  const metadata = { ceremony_id, kind, transcript, witness, witness_confirmed: true, threshold, total_shares };
  if (kind === "generate") {
    const crk = await storeCrk(services, unit, ceremony.org_id, material, await holders(unit, ceremony));
    unit.record({ type: "crk.generate", metadata: { crk_id: crk.id, ...metadata } });
    return { crk_id: crk.id, crk_version: crk.version };
  }
  const crk = await requireCrk(unit, ceremony.org_id);
  if (crk.id !== ceremony.crk_id) throw refusal("STATE_CONFLICT", "the organisation has another root key now");
  if (!rotatesShares(kind)) {
    if (canonicalJson(crk.material) !== canonicalJson(material))
      throw refusal("STATE_CONFLICT", "the key has other shares now: what was repaired is no share of it any more");
    unit.record({ type: "crk.repair", metadata: { crk_id: crk.id, ...metadata } });
    return { crk_id: crk.id, crk_version: crk.version };
  }
  const custodians = await holders(unit, ceremony);
  const next: StoredCrk = {
    ...crk,
    ...stepCrk(crk, { kind: "finish_rotation", threshold, total_shares, custodians }, unit.call.now),
    material,
  };
  unit.put(crks, crk.id, next);
  unit.record({ type: "crk.rotate", metadata: { crk_id: crk.id, ...metadata } });
  return { crk_id: next.id, crk_version: next.version };
}

/** Those on the seats that are given a share, the first ones of all, as the records know them now. */
async function holders(
  unit: GatewayUnit,
  { org_id, participants, total_shares }: StoredCustodyCeremony,
): Promise<readonly Custodian[]> {
  const seats = participants.filter(({ seat }) => seat > 0 && seat <= total_shares);
  const { found } = await activeCustodians(
    unit,
    org_id,
    seats.map(({ enrollment_id }) => enrollment_id),
  );
  const named = seats.map(({ seat, enrollment_id }) => {
    const { identity_id, identity_type, name } = found.get(enrollment_id) ?? {};
    if (identity_id === undefined || identity_type === undefined || name === undefined) throw new Error("a seat of nobody");
    return { index: seat, identity_id, identity_type, name, emails: [] };
  });
  return asKnownNow(unit, org_id, named);
}

/** The gateway relays no more entries of an open ceremony; a key that was to have new shares keeps those that it has. */
export async function endCustodyCeremony(
  unit: GatewayUnit,
  ceremony: StoredCustodyCeremony,
  status: "cancelled" | "expired",
): Promise<void> {
  unit.put(custodyCeremonies, ceremony.id, { ...ceremony, status, updated_at: timestamp(unit.call.now) });
  await abandonRotation(unit, ceremony);
  unit.record({
    type: "crk.ceremony",
    org: ceremony.org_id,
    metadata: { ceremony_id: ceremony.id, operation: ceremony.kind, event: status },
  });
}

/** A key whose refresh or reshare came to nothing has the shares that it had. */
async function abandonRotation(unit: GatewayUnit, { kind, crk_id }: StoredCustodyCeremony): Promise<void> {
  const crk = rotatesShares(kind) && crk_id !== null ? await unit.get(crks, crk_id) : undefined;
  if (crk?.status !== "rotating") return;
  unit.put(crks, crk.id, { ...crk, ...stepCrk(crk, { kind: "abandon_rotation" }, unit.call.now) });
}

type Routes = Pick<
  GatewayContract,
  | "startCustodyCeremony"
  | "listCustodyCeremonies"
  | "getCustodyCeremony"
  | "getCustodyTranscript"
  | "appendCustodyEntry"
  | "cancelCustodyCeremony"
  | "getCrkTranscript"
  | "confirmCrkTranscript"
>;

/** The enrolments without which a ceremony cannot come to its end. */
function enrolments(ceremony: StoredCustodyCeremony, { dealt, contributed } = ceremony.standing): readonly string[] {
  const done = ceremony.kind === "repair" ? contributed : dealt;
  return awaitedParticipants(ceremony, done).map(({ enrollment_id }) => enrollment_id);
}

/** Ceremonies as they are shown. Of those that are open, who of their participants has left without whom the key cannot become active. */
async function views(read: Reader, ceremonies: readonly StoredCustodyCeremony[], org: string, now: number) {
  const open = ceremonies.filter((ceremony) => custodyCeremonyStatus(ceremony, now) === "open");
  const { gone } = await activeCustodians(
    read,
    org,
    open.flatMap((ceremony) => enrolments(ceremony)),
  );
  return ceremonies.map(({ standing, ...ceremony }) => {
    const { transcript = null, blame = null, witnessed, ...seats } = standing;
    const { joined, committed, dealt, contributed, accepted, confirmed } = seats;
    const status = custodyCeremonyStatus(ceremony, now);
    return {
      ...ceremony,
      status,
      participants: [...ceremony.participants],
      left: status === "open" ? enrolments({ standing, ...ceremony }).filter((id) => gone.has(id)) : [],
      progress: {
        joined: [...joined],
        committed: [...committed],
        dealt: [...dealt],
        contributed: [...contributed],
        accepted: [...accepted],
        confirmed: [...confirmed],
        witnessed,
      },
      transcript,
      blame,
    };
  });
}

async function view(read: Reader, ceremony: StoredCustodyCeremony, now: number) {
  const [shown] = await views(read, [ceremony], ceremony.org_id, now);
  if (shown === undefined) throw new Error("one ceremony, one view");
  return shown;
}

/** A ceremony that the caller may see: its participants, and who administers. */
async function find(read: Reader, id: string, principal: Principal): Promise<StoredCustodyCeremony> {
  const ceremony = await findOwn(read, custodyCeremonies, id, principal.org, "ceremony");
  const takesPart = ceremony.participants.some(({ identity_id }) => identity_id === principal.id);
  if (!takesPart && !holdsOffice(principal)) throw notFound("ceremony");
  return ceremony;
}

async function ownCeremonies(read: Reader, { org, id }: Principal, query: PageRequest) {
  const parts = await read.page(custodyParts, "by_identity", [org, id], query);
  const items = await Promise.all(parts.items.map((part) => read.get(custodyCeremonies, part.ceremony_id)));
  return { items: items.flatMap((item) => (item === undefined ? [] : [item])), total: parts.total };
}

/** The transcript's file, entry by entry. What is appended meanwhile is not in it. */
function transcriptFile(services: CustodyServices, { id, ceremony, entries }: StoredCustodyCeremony): Payload {
  async function* lines() {
    for await (const { entry } of every(services, custodyEntries, "by_ceremony", [id])) {
      if (entry.seq < entries) yield encodeTranscript([entry]);
    }
  }
  return { filename: `${ceremony.replaceAll(/[^A-Za-z0-9._-]/g, "_")}.ndjson`, body: lines() };
}

function kept(services: CustodyServices, { id, head }: StoredCustodyCeremony): KeptTranscript {
  return {
    head,
    async entries() {
      const entries: TranscriptEntry[] = [];
      for await (const { entry } of every(services, custodyEntries, "by_ceremony", [id])) entries.push(entry);
      return entries;
    },
  };
}

/** What a well-formed entry may still be refused for when others were faster, or the ceremony is not there yet. */
const outOfTurn: ReadonlySet<EntryRefusal> = new Set(["chain", "repeated", "order", "closed", "expired"]);

function refused({ reason, flaw }: Refused, behind: { readonly entries: number; readonly head: string } | undefined): never {
  if (outOfTurn.has(reason)) {
    // Whoever reads these knows how far it has come; the rest of it is what GET answers.
    const standing = behind === undefined ? {} : { entries: behind.entries, head: behind.head };
    throw refusal("STATE_CONFLICT", `the entry is no part of the transcript: ${reason}`, { reason, ...standing });
  }
  throw invalidField("entry", `is no part of the transcript: ${reason}${flaw === undefined ? "" : ` (${flaw})`}`);
}

type Refused = Extract<EntryOutcome, { readonly admitted: false }>;

/** Whose cards stand in a start: each enrolled with this organisation, confirmed, and of different persons. */
async function participantsOf(unit: GatewayUnit, start: StartAct): Promise<readonly CeremonyParticipant[]> {
  const { org } = unit.call.principal;
  const seats = start.seats.map((card, i) => ({ card, role: "custodian" as const, seat: i + 1, field: `seats[${i}]` }));
  const witness = { card: start.witness, role: "witness" as const, seat: 0, field: "witness" };
  const seated = start.seats.some((card) => card.custodian_id === start.starter.custodian_id);
  const starter = seated ? [] : [{ card: start.starter, role: "starter" as const, seat: 0, field: "starter" }];
  const participants: CeremonyParticipant[] = [];
  const fields: string[] = [];
  for (const { card, role, seat, field } of [...seats, witness, ...starter]) {
    const known = await enrolledAs(unit, org, card.custodian_id);
    if (known?.status !== "active" || canonicalJson(known.card) !== canonicalJson(card)) {
      throw invalidField(`entry.act.${field}`, "is not the card of a confirmed custodian of the organisation");
    }
    const { id: enrollment_id, identity_id, fingerprint } = known;
    participants.push({ seat, role, enrollment_id, identity_id, fingerprint });
    fields.push(`entry.act.${field}`);
  }
  await requireActiveCustodians(
    unit,
    participants.map(({ enrollment_id }) => enrollment_id),
  );
  const persons = await Promise.all(participants.map(({ identity_id }) => personNamed(unit, org, identity_id)));
  const second = findSamePerson(persons);
  if (second !== undefined)
    throw refusal("FORBIDDEN", `one person has two parts in the ceremony: ${fields[second]} is the second`, {
      field: fields[second],
    });
  return participants;
}

const standingOf = ({ crk: _, entries: _e, head: _h, status: _s, ...standing }: TranscriptStanding) => standing;

export const custodyCeremonyHandlers: Handlers<Routes, CustodyServices> = {
  async startCustodyCeremony(services, { principal, body, now, requestId }) {
    const { entry } = body;
    return services.transact({ principal, now, requestId }, async (unit) => {
      const { identity_id } = await requireHolder(unit, principal);
      requireRelayed(entry, identity_id, now);
      const outcome = await services.threshold.admitEntry(undefined, entry, principal.org);
      if (!outcome.admitted) refused(outcome, undefined);
      const start = entry.act as unknown as StartAct;
      const expires_at = requireCustodyTerm(start.expires_at, now);
      const participants = await participantsOf(unit, start);
      const crk = start.kind === "generate" ? await currentCrk(unit, principal.org) : await requireCrk(unit, principal.org);
      if (start.kind === "generate" && crk !== undefined)
        throw refusal("CRK_EXISTS", "the organisation has a customer root key already");
      if (start.kind !== "generate" && crk !== undefined) {
        requireHeld(crk, start, participants);
        if (rotatesShares(start.kind)) unit.put(crks, crk.id, { ...crk, ...stepCrk(crk, { kind: "start_rotation" }, now) });
      }
      const id = services.newId(now);
      const at = timestamp(now);
      const { standing } = outcome;
      const ceremony: StoredCustodyCeremony = {
        id,
        org_id: principal.org,
        ceremony: entry.ceremony,
        kind: start.kind,
        status: standing.status,
        ...keyOf(start),
        participants,
        entries: standing.entries,
        head: standing.head,
        crk_id: crk?.id ?? null,
        crk_version: null,
        started_by: principal.id,
        created_at: at,
        updated_at: at,
        expires_at,
        standing: standingOf(standing),
      };
      unit.insert(custodyCeremonies, id, ceremony);
      for (const { identity_id } of participants) {
        const part = { ceremony_id: id, org_id: principal.org, identity_id, created_at: at };
        unit.insert(custodyParts, custodyPartId(id, identity_id), part);
      }
      unit.insert(custodyEntries, custodyEntryId(id, 0), { ceremony_id: id, entry: entry as unknown as TranscriptEntry });
      unit.record({
        type: "crk.ceremony",
        metadata: { ceremony_id: id, operation: start.kind, event: "started", head: standing.head },
      });
      return view(unit, ceremony, now);
    });
  },

  /** Who administers lists all, anybody else those that they take part in. */
  async listCustodyCeremonies({ read }, { principal, query, now }) {
    const { items, total } = holdsOffice(principal)
      ? await read.page(custodyCeremonies, "by_org", [principal.org], query)
      : await ownCeremonies(read, principal, query);
    return { ceremonies: await views(read, items, principal.org, now), count: items.length, total };
  },

  async getCustodyCeremony({ read }, { principal, params, now }) {
    return view(read, await find(read, params.id, principal), now);
  },

  async getCustodyTranscript(services, { principal, params }) {
    const dealt = await services.read.get(dealtTranscripts, params.id);
    if (dealt?.org_id === principal.org && (holdsOffice(principal) || tookPart(dealt.standing, principal.id)))
      return dealtFile(services, dealt);
    return transcriptFile(services, await find(services.read, params.id, principal));
  },

  async appendCustodyEntry(services, { principal, params, body, now, requestId }) {
    const { entry } = body;
    const outcome = await services.transact({ principal, now, requestId }, async (unit) => {
      const ceremony = await find(unit, params.id, principal);
      const { identity_id } = await requireHolder(unit, principal);
      const own = ceremony.participants.filter((one) => one.identity_id === identity_id);
      if (own.length === 0) throw refusal("FORBIDDEN", "the caller has no part in the ceremony");
      requireRelayed(entry, identity_id, now);
      requireOpenCeremony(ceremony, now);
      await requireActiveCustodians(
        unit,
        own.map(({ enrollment_id }) => enrollment_id),
      );
      const admitted = await services.threshold.admitEntry(kept(services, ceremony), entry, principal.org);
      if (!admitted.admitted) refused(admitted, ceremony);
      const { standing } = admitted;
      const { status, entries, head } = standing;
      const said = { ceremony_id: ceremony.id, operation: ceremony.kind, event: entry.act.type, entry: entry.seq };
      if (status === "active") {
        const { gone } = await activeCustodians(unit, principal.org, enrolments(ceremony, standing));
        if (gone.size > 0) {
          unit.record({ type: "crk.ceremony", result: "denied", metadata: { ...said, left: [...gone] } });
          return { left: gone };
        }
      }
      const made = status === "active" ? await activate(services, unit, ceremony, standing) : {};
      const next: StoredCustodyCeremony = {
        ...ceremony,
        status,
        entries,
        head,
        updated_at: timestamp(now),
        standing: standingOf(standing),
        ...made,
      };
      if (status === "failed" || status === "ended") await abandonRotation(unit, ceremony);
      unit.put(custodyCeremonies, ceremony.id, next);
      unit.insert(custodyEntries, custodyEntryId(ceremony.id, entry.seq), {
        ceremony_id: ceremony.id,
        entry: entry as unknown as TranscriptEntry,
      });
      unit.record({
        type: "crk.ceremony",
        result: standing.blame === undefined ? "success" : "denied",
        metadata: { ...said, head, status, ...(standing.blame === undefined ? {} : { blame: { ...standing.blame } }) },
      });
      return { ceremony: await view(unit, next, now) };
    });
    // Thrown behind the commit: that it was refused, and why, is recorded.
    if ("left" in outcome) throw custodiansLeft(outcome.left);
    return outcome.ceremony;
  },

  async cancelCustodyCeremony(services, { principal, params, now, requestId }) {
    await services.transact({ principal, now, requestId }, async (unit) => {
      const ceremony = await find(unit, params.id, principal);
      requireOpenCeremony(ceremony, now);
      await endCustodyCeremony(unit, ceremony, "cancelled");
    });
  },

  async getCrkTranscript(services, { principal, params, query }) {
    const crk = await findOwn(services.read, crks, params.id, principal.org, "root key");
    const { version = crk.version } = query;
    const [ceremony] = await services.read.list(custodyCeremonies, "by_crk", [crk.id, version], { limit: 1 });
    if (ceremony !== undefined) return transcriptFile(services, ceremony);
    const [dealt] = await services.read.list(dealtTranscripts, "by_crk", [crk.id, version], { limit: 1 });
    if (dealt === undefined) throw notFound("transcript");
    return dealtFile(services, dealt);
  },

  async confirmCrkTranscript(services, { principal, params, body, now, requestId }) {
    const { standing } = await services.transact({ principal, now, requestId }, (unit) =>
      confirmDealt(services, unit, params.id, body.entry),
    );
    const { ceremony, entries, head, transcript, dealt, confirmed } = standing;
    const able = (dealt?.seats ?? []).filter(({ card }) => card !== null).map(({ index }) => index);
    const awaited = able.filter((index) => !confirmed.includes(index));
    return { ceremony, entries, head, transcript: transcript ?? "", confirmed: [...confirmed], awaited };
  },
};
