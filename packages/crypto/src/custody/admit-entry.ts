import { checkArgument, checkOptions, isCoded } from "@seneschal/kernel";
import type { CryptoProvider } from "@seneschal/kernel/ports";
import { base64, fromBase64, utf8 } from "../bytes.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import type { CrkPublic } from "../threshold/crk.ts";
import type { Act, JoinAct, StartAct } from "./act.ts";
import { type CustodianCard, readCard } from "./custodian-card.ts";
import { acceptsCommitment, pointsOf, publicOf } from "./dealing.ts";
import { complaintHolds } from "./dealt-value.ts";
import { entryBytes, entryHash, isEntry, MAX_ENTRY_BYTES, NO_ENTRY, type TranscriptEntry } from "./entry.ts";
import { dealersOf, dealtTo, joinersOf, receiversOf, sendersOf } from "./parts.ts";
import { seatsFlaw } from "./seats-flaw.ts";
import { type Blame, type BlameReason, sealedFor, seatOf, type TranscriptView } from "./transcript-view.ts";
import { takesPackages } from "./transport-key.ts";

/** Why an entry is no part of a transcript. Whoever appended it is at fault, which no signature in it shows: nobody is blamed. */
export type EntryRefusal =
  /** Not exactly the members of an entry, or one of a wrong size. */
  | "malformed"
  /** More bytes or entries than any ceremony has. */
  | "too_large"
  /** Not a start where one must be, or a second one. */
  | "start"
  /** The seats contradict themselves: a person or key twice, a witness with a seat, a threshold or key that does not fit. */
  | "seats"
  /** A proof of possession of a card does not hold. */
  | "card"
  /** A card that the verifier does not know. */
  | "unknown_card"
  /** Of another ceremony. */
  | "other_ceremony"
  /** Number or hash do not continue the chain. */
  | "chain"
  /** The author has no part in the ceremony. */
  | "author"
  | "signature"
  /** Signed after the ceremony's end, by the author's own clock. */
  | "expired"
  /** Failed, active or ended: nothing follows. */
  | "closed"
  /** The author's part does not have this act. */
  | "role"
  /** The author did this before. */
  | "repeated"
  /** Before what it needs, or after what excludes it. */
  | "order"
  /** A confirmation of another hash or key than the transcript's. */
  | "other_transcript";

export type Admission =
  | { readonly admitted: true; readonly view: TranscriptView }
  /** `flaw`: of `seats`, what contradicts itself, with the numbers of the seats. */
  | { readonly admitted: false; readonly reason: EntryRefusal; readonly flaw?: string };

/** Who a verifier takes for a custodian, besides what cards prove themselves. */
export interface AdmissionOptions {
  /** Whether the verifier knows this card, for example by {@link cardFingerprint}; without it every proven card is taken. */
  readonly knows?: (card: CustodianCard) => boolean;
}

/**
 * Decides whether a value is the next entry of a transcript, and what the transcript then says. Relay, custodians and strangers ask
 * this one function. Never throws for bad input. `view` is `undefined` before the start.
 *
 * An entry that is well formed, signed and in its place, but cryptographically false, is admitted: it is the signed evidence that
 * blames its author.
 */
export function admitEntry(
  provider: CryptoProvider,
  view: TranscriptView | undefined,
  value: unknown,
  options: AdmissionOptions = {},
): Admission {
  checkOptions("options", options, { knows: "function?" });
  checkArgument("provider", provider, "object");
  if (!isEntry(value)) return refuse("malformed");
  const entry = value as TranscriptEntry;
  const size = sizeOf(entry);
  if (size === undefined) return refuse("malformed");
  if (size > MAX_ENTRY_BYTES) return refuse("too_large");
  if ((entry.act.type === "start") !== (view === undefined)) return refuse("start");
  return view === undefined ? begin(provider, entry, entry.act as StartAct, options) : follow(provider, view, entry);
}

function begin(provider: CryptoProvider, entry: TranscriptEntry, start: StartAct, { knows }: AdmissionOptions): Admission {
  const cards = [...start.seats, start.witness, start.starter];
  if (entry.seq !== 0 || entry.prev !== NO_ENTRY) return refuse("chain");
  const flaw = seatsFlaw(start);
  if (flaw !== undefined) return { ...refuse("seats"), flaw };
  try {
    for (const card of cards) readCard(provider, card);
  } catch (error) {
    if (isCoded(error, "custody_invalid")) return refuse("card");
    throw error;
  }
  if (knows !== undefined && !cards.every(knows)) return refuse("unknown_card");
  if (entry.author !== start.starter.custodian_id) return refuse("author");
  if (!signed(provider, start.starter, entry)) return refuse("signature");
  if (entry.at > start.expires_at) return refuse("expired");
  const view: TranscriptView = {
    ceremony: entry.ceremony,
    start,
    status: "open",
    hashes: [entryHash(provider, entry)],
    acts: [{ author: entry.author, type: "start" }],
    joined: new Map(),
    committed: new Map(),
    dealt: new Map(),
    contributed: new Map(),
    accepted: new Set(),
    confirmed: new Set(),
    witnessed: false,
  };
  return { admitted: true, view };
}

function follow(provider: CryptoProvider, view: TranscriptView, entry: TranscriptEntry): Admission {
  const { start, hashes } = view;
  if (entry.ceremony !== view.ceremony) return refuse("other_ceremony");
  if (entry.seq !== hashes.length || entry.prev !== hashes.at(-1)) return refuse("chain");
  const card = [...start.seats, start.witness, start.starter].find((c) => c.custodian_id === entry.author);
  if (card === undefined) return refuse("author");
  if (!signed(provider, card, entry)) return refuse("signature");
  if (entry.at > start.expires_at) return refuse("expired");
  if (view.status !== "open") return refuse("closed");
  const outcome = perform(provider, view, entry);
  if (typeof outcome === "string") return refuse(outcome);
  const next = {
    ...view,
    hashes: [...hashes, entryHash(provider, entry)],
    acts: [...view.acts, { author: entry.author, type: entry.act.type }],
    ...outcome,
  };
  return { admitted: true, view: settle(next) };
}

/** What an act of the right person at the right time changes, or why it is none. */
function perform(provider: CryptoProvider, view: TranscriptView, entry: TranscriptEntry): Partial<TranscriptView> | EntryRefusal {
  const { act, author } = entry;
  const { start } = view;
  if (act.type === "end") return author === start.starter.custodian_id ? { status: "ended" } : "role";
  if (act.type === "witness") {
    if (author !== start.witness.custodian_id) return "role";
    return confirms(view, act, view.witnessed) ?? { witnessed: true };
  }
  const seat = seatOf(start, author);
  return seat === 0 ? "role" : takeSeat(provider, view, seat, act);
}

/** The acts of a seat, by the part that the start gives it. */
function takeSeat(
  provider: CryptoProvider,
  view: TranscriptView,
  seat: number,
  act: Act,
): Partial<TranscriptView> | EntryRefusal {
  const { start, joined, committed, dealt, contributed, accepted, round } = view;
  const dealers = dealersOf(start);
  const senders = sendersOf(start, seat);
  const deals = dealers.includes(seat);
  const receives = receiversOf(start).includes(seat);
  const blame = (whom: number, reason: BlameReason, entry = view.hashes.length): Partial<TranscriptView> => ({
    status: "failed",
    blame: { seat: whom, entry, reason } satisfies Blame,
  });
  switch (act.type) {
    case "join": {
      if (senders.length === 0) return "role";
      const keys = transportKeys(start, act);
      if (keys === undefined || (act.transport_key === undefined && keys.length !== senders.length)) return "malformed";
      if (joined.has(seat)) return "repeated";
      if (!keys.every((key) => takesPackages(fromBase64(key)))) return blame(seat, "transport_key");
      return { joined: new Map(joined).set(seat, keys) };
    }
    case "commitment":
      if (!deals) return "role";
      if ((act.proof === undefined) === (start.kind === "generate")) return "malformed";
      if (act.commitments.length !== pointsOf(start)) return "malformed";
      if (committed.has(seat)) return "repeated";
      if (!acceptsCommitment(start, seat, act)) return blame(seat, "commitment");
      return { committed: new Map(committed).set(seat, act) };
    case "packages":
      if (!deals) return "role";
      if (act.sealed.length !== dealtTo(start, seat).length) return "malformed";
      if (round === undefined) return "order";
      if (dealt.has(seat)) return "repeated";
      return { dealt: new Map(dealt).set(seat, { entry: view.hashes.length, sealed: act.sealed }) };
    case "contribution":
      if (start.kind !== "repair" || !deals) return "role";
      if (dealt.size < dealers.length) return "order";
      if (contributed.has(seat)) return "repeated";
      return { contributed: new Map(contributed).set(seat, { entry: view.hashes.length, sealed: act.sealed }) };
    case "accepted":
      if (!receives) return "role";
      if (dealt.size < dealers.length || (start.kind === "repair" && contributed.size < dealers.length)) return "order";
      return accepted.has(seat) ? "repeated" : { accepted: new Set(accepted).add(seat) };
    case "complaint": {
      const { against } = act;
      if (senders.length === 0) return "role";
      if (!senders.includes(against)) return "malformed";
      const sent = sealedFor(view, against, seat);
      // Who has accepted all that was sent has no complaint: one of the two statements would be false.
      if (sent === undefined || accepted.has(seat) || contributed.has(seat)) return "order";
      const complaint = { by: seat, against, transportSecret: fromBase64(act.transport_secret) };
      return complaintHolds(provider, view, complaint) ? blame(against, "package", sent.entry) : blame(seat, "complaint");
    }
    case "confirmation":
      if (!receives) return "role";
      return confirms(view, act, view.confirmed.has(seat)) ?? { confirmed: new Set(view.confirmed).add(seat) };
    default:
      return "role";
  }
}

/** One key for all, or in a reshare and a repair a list; `undefined` for the other of the two. */
function transportKeys({ kind }: StartAct, { transport_key: one, transport_keys: each }: JoinAct): readonly string[] | undefined {
  if (kind === "reshare" || kind === "repair") return each;
  return one === undefined ? undefined : [one];
}

/** Closes the rounds that an entry has completed. */
function settle(view: TranscriptView): TranscriptView {
  const { start } = view;
  const head = view.hashes.at(-1) ?? NO_ENTRY;
  if (view.status !== "open") return view;
  const together = view.joined.size === joinersOf(start).length && view.committed.size === dealersOf(start).length;
  if (view.round === undefined && together) return { ...view, round: head };
  const receivers = receiversOf(start).length;
  if (view.transcript === undefined && view.accepted.size === receivers) {
    const crk = made(view);
    return crk === undefined ? { ...view, status: "failed" } : { ...view, transcript: head, crk };
  }
  return view.confirmed.size === receivers && view.witnessed ? { ...view, status: "active" } : view;
}

/** `undefined` when commitments cancel each other out: nobody can deal to such a polynomial, so only liars among themselves get here. */
function made(view: TranscriptView): CrkPublic | undefined {
  try {
    return publicOf(view.start, view.committed);
  } catch (error) {
    if (isCoded(error, "protocol_invalid")) return undefined;
    throw error;
  }
}

function confirms(
  view: TranscriptView,
  act: { readonly transcript: string; readonly public_key: string },
  already: boolean,
): EntryRefusal | undefined {
  if (view.transcript === undefined || view.crk === undefined) return "order";
  if (already) return "repeated";
  return act.transcript === view.transcript && act.public_key === base64(view.crk.publicKey) ? undefined : "other_transcript";
}

function signed(provider: CryptoProvider, card: CustodianCard, entry: TranscriptEntry): boolean {
  return provider.ed25519Verify(fromBase64(card.signing_key), entryBytes(entry), fromBase64(entry.signature));
}

/** Bytes of the canonical form; `undefined` where a value has none. */
function sizeOf(entry: TranscriptEntry): number | undefined {
  try {
    return utf8(canonicalJson(entry)).length;
  } catch {
    return undefined;
  }
}

function refuse(reason: EntryRefusal): Extract<Admission, { readonly admitted: false }> {
  return { admitted: false, reason };
}
