import { checkArgument, checkOptions } from "@seneschal/kernel";
import type { CryptoProvider } from "@seneschal/kernel/ports";
import { base64, fromBase64 } from "../bytes.ts";
import { signingBytes } from "../signing/signing-bytes.ts";
import { type CrkPublicJson, crkFromJson } from "../threshold/crk.ts";
import { type ConfirmationAct, isConfirmation, isCrk } from "./act.ts";
import { type CustodianCard, cardFingerprint, isCard, readCard } from "./custodian-card.ts";
import { entryBytes, entryHash, entryOf, NO_ENTRY, type TranscriptEntry } from "./entry.ts";
import { byType, bytesOf, type Check, listOf, members, name, only, wholeNumber } from "./shape.ts";
import { transcriptLines } from "./transcript.ts";

/** How a server came to deal: at one call, before a named witness, new shares of the same key, or sealed under passwords. */
const dealtKinds = ["dealt", "witnessed", "rotated", "password"] as const;
export type DealtKind = (typeof dealtKinds)[number];

interface KeptSeat {
  readonly index: number;
  readonly identity_id: string;
}

/** Opens the transcript of a ceremony in which a server deals. */
export interface DealtStart {
  readonly type: "start";
  readonly kind: DealtKind;
  readonly org_id: string;
  readonly threshold: number;
  readonly total_shares: number;
  /** Of a rotation: so many shares of before must come together; of the others 0. */
  readonly required_shares: number;
  /** For whom an index is kept. */
  readonly seats: readonly KeptSeat[];
  /** Base64 Ed25519 key of the server, by which it signs every entry but confirmations. */
  readonly gateway_key: string;
}

/** What an entry of such a transcript does. */
export type DealtAct =
  | DealtStart
  /** The author's seed for an index came in; nothing of the seed is said. */
  | { readonly type: "seed"; readonly index: number }
  /** The author brought the share of an index of the key that there was; nothing of the share is said. */
  | { readonly type: "share"; readonly index: number }
  /** The author named a witness, who does nothing itself. */
  | { readonly type: "witness_named"; readonly identity_id: string }
  /** The server dealt: the public half, and for whom each share is, with the card of who has enrolled one. */
  | {
      readonly type: "dealt";
      readonly crk_id: string;
      readonly crk: CrkPublicJson;
      readonly seats: readonly (KeptSeat & { readonly card: CustodianCard | null })[];
    }
  | { readonly type: "end"; readonly reason: "cancelled" | "expired" }
  /** By the custodian's own key. */
  | (ConfirmationAct & { readonly type: "confirmation" });

/** An entry of such a transcript: the envelope of {@link TranscriptEntry}. */
export type DealtEntry = Omit<TranscriptEntry, "act"> & { readonly act: DealtAct };

/** Where such a transcript stands, as plain data. */
export interface DealtStanding {
  readonly ceremony: string;
  readonly entries: number;
  /** Hash of the last entry. */
  readonly head: string;
  readonly start: DealtStart;
  readonly status: "open" | "dealt" | "ended";
  readonly seeds: readonly KeptSeat[];
  readonly shares: readonly KeptSeat[];
  /** Named by somebody else, confirmed by nothing. */
  readonly witness: string | null;
  /** What custodians confirm: the hash of the entry that dealt. */
  readonly transcript: string | null;
  readonly dealt: Extract<DealtAct, { readonly type: "dealt" }> | null;
  /** Indexes whose holders have confirmed by their own keys. */
  readonly confirmed: readonly number[];
}

/** Why an entry is none. */
export type DealtRefusal =
  | "malformed"
  | "start"
  | "other_ceremony"
  | "chain"
  | "author"
  | "signature"
  | "closed"
  | "order"
  | "repeated"
  | "seats"
  | "crk"
  | "card"
  | "unknown_key"
  | "other_transcript";

const index = wholeNumber(1, 255);
/** An identity as the organisation's records have it, or the subject of a token. */
const identity: Check = (value) => typeof value === "string" && /^[^\p{Cs}]{1,1024}$/u.test(value);
const kept = members({ index, identity_id: identity });

const SHAPES: Readonly<Record<string, readonly Check[]>> = {
  start: [
    members({
      type: only("start"),
      kind: (value) => (dealtKinds as readonly unknown[]).includes(value),
      org_id: name,
      threshold: wholeNumber(2, 255),
      total_shares: wholeNumber(2, 255),
      required_shares: wholeNumber(0, 255),
      seats: listOf(kept, 0, 255),
      gateway_key: bytesOf(32),
    }),
  ],
  seed: [members({ type: only("seed"), index })],
  share: [members({ type: only("share"), index })],
  witness_named: [members({ type: only("witness_named"), identity_id: identity })],
  dealt: [
    members({
      type: only("dealt"),
      crk_id: name,
      crk: isCrk,
      seats: listOf(members({ index, identity_id: identity, card: (value) => value === null || isCard(value) }), 0, 255),
    }),
  ],
  end: [members({ type: only("end"), reason: (value) => value === "cancelled" || value === "expired" })],
  confirmation: [isConfirmation],
};

const isDealtAct = byType(SHAPES);

const isDealtEntry = entryOf(identity, isDealtAct);

/** An act behind the transcript so far, and the bytes that its signer signs; `undefined` before a start. */
export function dealtEntry(
  standing: Pick<DealtStanding, "entries" | "head"> | undefined,
  by: { readonly ceremony: string; readonly author: string; readonly at: number },
  act: DealtAct,
): { readonly entry: Omit<DealtEntry, "signature">; readonly bytes: Uint8Array } {
  checkArgument("by", by, "object");
  checkArgument("act", act, "object");
  const { ceremony, author, at } = by;
  const entry = { v: 1, ceremony, seq: standing?.entries ?? 0, prev: standing?.head ?? NO_ENTRY, at, author, act } as const;
  return { entry, bytes: signingBytes("custodyEntry", entry) };
}

/**
 * One entry behind a transcript that was admitted before. Proofs of cards and the parts of the key are not looked at: {@link verifyDealtTranscript}
 * does, and whoever deals made them.
 */
export function admitDealtEntry(
  provider: CryptoProvider,
  standing: DealtStanding | undefined,
  value: unknown,
): DealtStanding | DealtRefusal {
  checkArgument("provider", provider, "object");
  if (!isDealtEntry(value)) return "malformed";
  const entry = value as DealtEntry;
  const { act } = entry;
  if ((standing === undefined) !== (act.type === "start")) return "start";
  if (standing !== undefined && entry.ceremony !== standing.ceremony) return "other_ceremony";
  if (entry.seq !== (standing?.entries ?? 0) || entry.prev !== (standing?.head ?? NO_ENTRY)) return "chain";
  const key = signerOf(standing, entry);
  if (key === undefined) return "author";
  if (!provider.ed25519Verify(fromBase64(key), entryBytes(entry), fromBase64(entry.signature))) return "signature";
  const after = act.type === "start" ? begun(entry, act) : standing === undefined ? "start" : acted(standing, entry);
  if (typeof after === "string") return after;
  const head = entryHash(provider, entry);
  return { ...after, entries: entry.seq + 1, head, ...(act.type === "dealt" ? { transcript: head } : {}) };
}

/** Whose signature an entry must have: the server's, of a confirmation the custodian's. */
function signerOf(standing: DealtStanding | undefined, { act, author }: DealtEntry): string | undefined {
  if (act.type === "start") return act.gateway_key;
  if (act.type !== "confirmation") return standing?.start.gateway_key;
  return standing?.dealt?.seats.find(({ identity_id, card }) => card !== null && identity_id === author)?.card?.signing_key;
}

function begun({ ceremony }: DealtEntry, start: DealtStart): DealtStanding | DealtRefusal {
  const { kind, threshold, total_shares, required_shares, seats } = start;
  const rotates = kind === "rotated";
  if (threshold > total_shares || required_shares > 0 !== rotates || !seated(seats, total_shares)) return "seats";
  const nothing = { seeds: [], shares: [], witness: null, transcript: null, dealt: null, confirmed: [] } as const;
  return { ceremony, entries: 0, head: NO_ENTRY, start, status: "open", ...nothing };
}

/** Indexes in order, each of another identity. */
function seated(seats: readonly KeptSeat[], total: number): boolean {
  const people = new Set(seats.map(({ identity_id }) => identity_id));
  const inOrder = seats.every((seat, at) => seat.index <= total && seat.index > (seats[at - 1]?.index ?? 0));
  return inOrder && people.size === seats.length;
}

function acted(standing: DealtStanding, { act, author }: DealtEntry): DealtStanding | DealtRefusal {
  const { start, status } = standing;
  if (act.type === "confirmation") return confirmed(standing, author, act);
  if (status !== "open") return "closed";
  switch (act.type) {
    case "seed":
    case "share": {
      if ((act.type === "seed" ? "password" : "rotated") !== start.kind) return "order";
      const list = act.type === "seed" ? standing.seeds : standing.shares;
      if (list.some((one) => one.index === act.index || one.identity_id === author)) return "repeated";
      const keptFor = act.type === "seed" ? start.seats.find((seat) => seat.index === act.index) : undefined;
      if (keptFor !== undefined && keptFor.identity_id !== author) return "author";
      if (act.type === "seed" && act.index > start.total_shares) return "seats";
      const next = [...list, { index: act.index, identity_id: author }];
      return { ...standing, [`${act.type}s`]: next };
    }
    case "witness_named": {
      if (start.kind !== "witnessed" && start.kind !== "rotated") return "order";
      if (standing.witness !== null) return "repeated";
      const part = [author, ...standing.shares.map(({ identity_id }) => identity_id)];
      return part.includes(act.identity_id) ? "author" : { ...standing, witness: act.identity_id };
    }
    case "dealt": {
      const wanted = start.kind === "password" ? start.total_shares : 0;
      if (standing.seeds.length !== wanted || standing.shares.length < start.required_shares) return "order";
      if ((start.kind === "witnessed" || start.kind === "rotated") && standing.witness === null) return "order";
      const named = [...start.seats, ...standing.seeds];
      const holds = ({ index: of, identity_id }: KeptSeat) =>
        act.seats.some((seat) => seat.index === of && seat.identity_id === identity_id);
      if (!seated(act.seats, start.total_shares) || !named.every(holds)) return "seats";
      if (act.seats.some(({ card, identity_id }) => card !== null && !isOf(card, start.org_id, identity_id))) return "card";
      if (act.crk.threshold !== start.threshold || act.crk.total_shares !== start.total_shares) return "crk";
      return { ...standing, status: "dealt", dealt: act };
    }
    case "end":
      return { ...standing, status: "ended" };
    default:
      return "start";
  }
}

const isOf = ({ org_id, custodian_id }: CustodianCard, org: string, identity: string): boolean =>
  org_id === org && custodian_id === identity;

function confirmed(standing: DealtStanding, author: string, act: ConfirmationAct): DealtStanding | DealtRefusal {
  const seat = standing.dealt?.seats.find(({ identity_id }) => identity_id === author);
  if (standing.status !== "dealt" || seat === undefined) return "order";
  if (standing.confirmed.includes(seat.index)) return "repeated";
  if (act.transcript !== standing.transcript || act.public_key !== standing.dealt?.crk.public_key) return "other_transcript";
  return { ...standing, confirmed: [...standing.confirmed, seat.index].sort((a, b) => a - b) };
}

/** What anybody can say of such a transcript who has nothing else: what the server says, and who has confirmed it. */
export type DealtReport =
  | { readonly valid: true; readonly standing: DealtStanding; readonly seats: readonly DealtSeat[] }
  | {
      readonly valid: false;
      readonly refused: { readonly entry: number; readonly reason: DealtRefusal | "not_canonical" | "too_large" | "empty" };
    };

/** For whom a share was dealt. */
export interface DealtSeat {
  readonly index: number;
  readonly identity_id: string;
  /** Of the card that was enrolled when the key was dealt; without one nobody can confirm. */
  readonly fingerprint: string | null;
  readonly confirmed: boolean;
}

/** Whether a transcript, a file or values that were parsed, says that a server dealt; `false` for what is none at all. */
export function isDealtTranscript(source: Uint8Array | readonly unknown[]): boolean {
  if (!(source instanceof Uint8Array)) checkArgument("source", source, "array");
  const [first] = source instanceof Uint8Array ? transcriptLines(source) : source.map((value) => ({ value }));
  const start = (first as { readonly value?: { readonly act?: { readonly kind?: unknown } } } | undefined)?.value?.act?.kind;
  return (dealtKinds as readonly unknown[]).includes(start);
}

/**
 * Verifies the transcript of a ceremony in which a server dealt, from itself alone. It proves that the holder of `gateway_key` says so, in this order,
 * and that each who confirmed had this key and this transcript before them. It does not prove that the server forgot what it dealt.
 *
 * @param options.gatewayKey the key that must have signed, base64: without it whoever has one; compare it
 *
 * @example
 * ```ts
 * import { nobleCrypto } from "@seneschal/crypto";
 * import { verifyDealtTranscript } from "@seneschal/crypto/custody";
 * const report = verifyDealtTranscript(nobleCrypto, new TextEncoder().encode('{"v":2}\n'));
 * console.log(report.valid || report.refused); // { entry: 0, reason: 'malformed' }
 * ```
 */
export function verifyDealtTranscript(
  provider: CryptoProvider,
  source: Uint8Array | readonly unknown[],
  options: { readonly gatewayKey?: string } = {},
): DealtReport {
  checkOptions("options", options, { gatewayKey: "string?" });
  checkArgument("provider", provider, "object");
  let standing: DealtStanding | undefined;
  let entry = 0;
  for (const read of source instanceof Uint8Array ? transcriptLines(source) : source.map((value) => ({ value }))) {
    if ("reason" in read) return { valid: false, refused: { entry, reason: read.reason } };
    const after = admitDealtEntry(provider, standing, read.value);
    const flaw = typeof after === "string" ? after : flawOf(provider, after, options.gatewayKey, entry);
    if (flaw !== undefined) return { valid: false, refused: { entry, reason: flaw } };
    standing = after as DealtStanding;
    entry++;
  }
  if (standing === undefined) return { valid: false, refused: { entry: 0, reason: "empty" } };
  const { dealt, confirmed } = standing;
  const seats = (dealt?.seats ?? []).map(({ index: at, identity_id, card }) => {
    const fingerprint = card === null ? null : cardFingerprint(provider, card);
    return { index: at, identity_id, fingerprint, confirmed: confirmed.includes(at) };
  });
  return { valid: true, standing, seats };
}

/** What a stranger looks at beside the order of things: whose key it is, that the key's parts fit each other, and the proofs of cards. */
function flawOf(
  provider: CryptoProvider,
  { start, dealt, status, entries, transcript, head }: DealtStanding,
  expected: string | undefined,
  entry: number,
): DealtRefusal | undefined {
  if (entry === 0 && expected !== undefined && start.gateway_key !== expected) return "unknown_key";
  if (status !== "dealt" || dealt === null || head !== transcript || entries !== entry + 1) return undefined;
  try {
    if (base64(crkFromJson(dealt.crk).publicKey) !== dealt.crk.public_key) return "crk";
  } catch {
    return "crk";
  }
  try {
    for (const { card } of dealt.seats) if (card !== null) readCard(provider, card);
  } catch {
    return "card";
  }
  return undefined;
}
