import { checkArgument } from "@seneschal/kernel";
import type { CryptoProvider, Random } from "@seneschal/kernel/ports";
import { base64 } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import type { CrkPublic } from "../threshold/crk.ts";
import type { Share } from "../threshold/share.ts";
import type { Act, StartAct } from "./act.ts";
import { admitEntry } from "./admit-entry.ts";
import { type Awaited, awaitedIn } from "./awaited.ts";
import { sealPackage } from "./ceremony-package.ts";
import { CeremonyState } from "./ceremony-state.ts";
import type { CustodianKeys } from "./custodian-keys.ts";
import { dealtValue } from "./dealt-value.ts";
import { signEntry, type TranscriptEntry } from "./entry.ts";
import { receiversOf, sendersOf } from "./parts.ts";
import { type SeatDealing, seatDealing } from "./seat-dealing.ts";
import { type Blame, keyNumber, sealedFor, type TranscriptView, transportKey } from "./transcript-view.ts";

/** Where a ceremony stands for one custodian. */
export type CeremonyOutcome =
  /** Somebody is to act: `awaited` says who, this custodian too where it is its turn again. */
  | { readonly kind: "waiting"; readonly awaited: Awaited }
  /** Every package holds for everybody: a person compares the hash with the others, by another channel, and confirms it. */
  | { readonly kind: "confirm"; readonly transcript: string; readonly crk: CrkPublic }
  /**
   * What the person confirms is not this transcript: the others see another one, of other people perhaps. Nothing was said; never
   * confirm this one instead.
   */
  | { readonly kind: "other_hash"; readonly transcript: string }
  /** This step's own confirmation is the last that was missing: once it is in, the key is active, and the next step has the share. */
  | { readonly kind: "completes"; readonly transcript: string; readonly crk: CrkPublic }
  | { readonly kind: "active"; readonly transcript: string; readonly crk: CrkPublic; readonly share: Share }
  /** Active as well, and this seat was given no share: in a reshare it handed its own on, in a repair it helped, and `keeps` its own. */
  | { readonly kind: "dealt"; readonly transcript: string; readonly crk: CrkPublic; readonly keeps: boolean }
  /**
   * Active as well, and this seat has no share: what these seats sealed to it does not hold, and it was accepted with these keys all the
   * same, by another client than this one. Nobody is blamed for that any more; a repair gives the share.
   */
  | { readonly kind: "no_share"; readonly transcript: string; readonly crk: CrkPublic; readonly against: readonly number[] }
  | { readonly kind: "failed"; readonly blame?: Blame }
  | { readonly kind: "ended" }
  /**
   * By this client's clock the ceremony's end has passed while acts were still awaited. `confirmed`: the key needs nothing more of this
   * custodian and may be active in a longer transcript: keep the state, and ask for the whole.
   */
  | { readonly kind: "expired"; readonly confirmed: boolean }
  /** A shorter part of what was seen before: ask again. */
  | { readonly kind: "behind" }
  /** Not what was seen before: who relays shows different people different transcripts. This client does nothing more in it. */
  | { readonly kind: "forked" }
  /** Somebody else acts with these keys, or this client's state was lost. */
  | { readonly kind: "foreign" };

/** Where a ceremony stands for its witness. */
export type WitnessOutcome =
  | Exclude<CeremonyOutcome, { readonly kind: "active" | "completes" | "dealt" | "no_share" }>
  /** All have confirmed, and the witness: the key is active. */
  | { readonly kind: "witnessed"; readonly transcript: string; readonly crk: CrkPublic };

/** What a client does next, given what it was shown. */
export interface CeremonyStep {
  /** To be saved before the entries are sent. */
  readonly state: CeremonyState;
  /** To be sent in this order. What is lost or refused because another came first is made anew by the next step. */
  readonly entries: readonly TranscriptEntry[];
  /** Where the ceremony stands once the entries are in; `active` and `dealt` only when it was shown so. */
  readonly outcome: CeremonyOutcome;
}

/**
 * Takes the seat that a start gives to these keys; call it when the custodian has agreed to threshold, seats and witness. Throws
 * `protocol_invalid` when the keys have no seat.
 */
export function takeSeat(view: TranscriptView, keys: CustodianKeys, random: Random): CeremonyState {
  checkArgument("view", view, "object");
  checkArgument("keys", keys, "object");
  checkArgument("random", random, "function");
  const [start = ""] = view.hashes;
  const seat = view.start.seats.findIndex((card) => card.signing_key === base64(keys.signingKey)) + 1;
  if (seat === 0) throw cryptoError("protocol_invalid", "these keys have no seat in the ceremony");
  return new CeremonyState({ ceremony: view.ceremony, seat, seen: [start] }, random(32));
}

/**
 * One step of a custodian's client: what it has to say to the transcript so far. Pure: the same state and view give the same acts,
 * so a step can be repeated, after a crash too. The relay learns nothing from the entries: what is secret in them is sealed to its
 * receiver. `confirm` is the hash that a person has compared; `share` is the share of the key that there is with which the seat deals.
 * Throws `share_invalid` when a seat that deals with one lacks it.
 *
 * @example
 * ```ts
 * import { systemRandom } from "@seneschal/adapters/system";
 * import { nobleCrypto } from "@seneschal/crypto";
 * import {
 *   admitEntry, ceremonyStep, CustodianKeys, confirmationOf, custodianCard, signEntry, takeSeat, type TranscriptView,
 * } from "@seneschal/crypto/custody";
 * const people = ["ada", "bob", "cy", "wim"].map((id) => {
 *   const keys = CustodianKeys.generate(nobleCrypto, systemRandom);
 *   return { id, keys, card: custodianCard(nobleCrypto, keys, { orgId: "acme", custodianId: id }, systemRandom) };
 * });
 * const [ada, bob, cy, wim] = people as [typeof people[0], typeof people[0], typeof people[0], typeof people[0]];
 * const custodians = [ada, bob, cy];
 * let view: TranscriptView | undefined;
 * const append = (entry: unknown) => {
 *   const admission = admitEntry(nobleCrypto, view, entry);
 *   if (!admission.admitted) throw new Error(admission.reason);
 *   return (view = admission.view);
 * };
 * let now = append(signEntry(ada.keys, { ceremony: "c1", author: "ada", at: 10 }, {
 *   type: "start", kind: "generate", threshold: 2, seats: custodians.map((c) => c.card), witness: wim.card, starter: ada.card,
 *   expires_at: 99,
 * }));
 * const states = custodians.map((c) => takeSeat(now, c.keys, systemRandom));
 * while (now.transcript === undefined || now.confirmed.size < 3) {
 *   for (const [i, { keys }] of custodians.entries()) {
 *     const input = { keys, state: states[i]!, view: now, at: 11, ...(now.transcript ? { confirm: now.transcript } : {}) };
 *     const step = ceremonyStep(nobleCrypto, input);
 *     states[i] = step.state;
 *     for (const entry of step.entries) now = append(entry);
 *   }
 * }
 * now = append(signEntry(wim.keys, { ceremony: "c1", author: "wim", at: 12 }, confirmationOf("witness", now), now));
 * const { outcome } = ceremonyStep(nobleCrypto, { keys: bob.keys, state: states[1]!, view: now, at: 13 });
 * console.log(now.status, outcome.kind === "active" && outcome.share.index); // active 2
 * ```
 */
export function ceremonyStep(
  provider: CryptoProvider,
  input: {
    readonly keys: CustodianKeys;
    readonly state: CeremonyState;
    readonly view: TranscriptView;
    /** The client's clock, whole seconds since the epoch. */
    readonly at: number;
    readonly confirm?: string;
    readonly share?: Share;
  },
): CeremonyStep {
  checkArgument("provider", provider, "object");
  checkArgument("input", input, "object");
  const { state, view } = input;
  const standing = state.compare(view);
  if (standing !== "continues") return { state, entries: [], outcome: { kind: standing } };
  const seat = new Seat(provider, input);
  const next = state.after(view);
  if (seat.isForeign()) return { state: next, entries: [], outcome: { kind: "foreign" } };
  return { state: next, ...seat.step() };
}

/** The act of a custodian or witness who confirms what a transcript has made. Throws `protocol_invalid` before all have accepted. */
export function confirmationOf(type: "confirmation" | "witness", view: TranscriptView): Act {
  checkArgument("type", type, "string");
  checkArgument("view", view, "object");
  const { transcript, crk } = view;
  if (transcript === undefined || crk === undefined) throw cryptoError("protocol_invalid", "there is nothing to confirm yet");
  return { type, transcript, public_key: base64(crk.publicKey) };
}

/**
 * One step of the witness, who has no seat and no state: once all have accepted, and the hash that a person has compared is the
 * transcript's, the entry that says so.
 */
export function witnessStep(
  provider: CryptoProvider,
  given: { readonly keys: CustodianKeys; readonly view: TranscriptView; readonly at: number; readonly confirm?: string },
): { readonly entries: readonly TranscriptEntry[]; readonly outcome: WitnessOutcome } {
  checkArgument("provider", provider, "object");
  checkArgument("given", given, "object");
  const { keys, view, at, confirm } = given;
  if (view.start.witness.signing_key !== base64(keys.signingKey))
    throw cryptoError("protocol_invalid", "these keys are not the witness's");
  const meant = view.status === "open" && !view.witnessed && at <= view.start.expires_at;
  const acts = meant && view.transcript !== undefined && view.transcript === confirm ? [confirmationOf("witness", view)] : [];
  const { entries, after } = signActs(provider, { keys, view, at, author: view.start.witness.custodian_id }, acts);
  const { status, transcript, crk } = after;
  if (status === "active" && transcript !== undefined && crk !== undefined)
    return { entries, outcome: { kind: "witnessed", transcript, crk } };
  return { entries, outcome: openOutcome(after, at, after.witnessed, confirm) };
}

/** Acts as signed entries behind a view, and the view behind them. */
function signActs(
  provider: CryptoProvider,
  by: { readonly keys: CustodianKeys; readonly view: TranscriptView; readonly at: number; readonly author: string },
  acts: readonly Act[],
): { readonly entries: readonly TranscriptEntry[]; readonly after: TranscriptView } {
  let after = by.view;
  const entries = acts.map((act) => {
    const entry = signEntry(by.keys, { ceremony: by.view.ceremony, author: by.author, at: by.at }, act, after);
    const admission = admitEntry(provider, after, entry);
    // INVARIANT: a client says only what everybody admits.
    if (!admission.admitted) throw cryptoError("protocol_invalid", `the entry would be refused: ${admission.reason}`);
    after = admission.view;
    return entry;
  });
  return { entries, after };
}

/** Where a ceremony stands for somebody who has yet to confirm it, or not; of one that is active the custodian knows more. */
function openOutcome(
  view: TranscriptView,
  at: number,
  confirmed: boolean,
  confirm: string | undefined,
): Exclude<CeremonyOutcome, { readonly kind: "active" | "completes" | "dealt" | "no_share" }> {
  const { status, start, transcript, crk, blame } = view;
  const waiting = { kind: "waiting", awaited: awaitedIn(view) } as const;
  if (status === "failed") return { kind: "failed", ...(blame === undefined ? {} : { blame }) };
  if (status === "ended") return { kind: "ended" };
  if (status === "open" && at > start.expires_at) return { kind: "expired", confirmed };
  if (transcript === undefined || crk === undefined) return waiting;
  if (confirm !== undefined && confirm !== transcript) return { kind: "other_hash", transcript };
  return confirmed ? waiting : { kind: "confirm", transcript, crk };
}

/** One custodian before one view. */
class Seat {
  readonly #provider: CryptoProvider;
  readonly #input: Parameters<typeof ceremonyStep>[1];
  readonly #seat: number;
  readonly #senders: readonly number[];
  readonly #transportSecrets: readonly Uint8Array[];
  readonly #transportKeys: readonly string[];
  readonly #dealing: SeatDealing;

  constructor(provider: CryptoProvider, input: Parameters<typeof ceremonyStep>[1]) {
    const { state, view, share } = input;
    this.#provider = provider;
    this.#input = input;
    this.#seat = state.seat;
    this.#senders = sendersOf(view.start, state.seat);
    this.#transportSecrets = transportSecrets(provider, state, view.start);
    this.#transportKeys = state.once("transport-keys", () =>
      this.#transportSecrets.map((secret) => base64(provider.x25519PublicKey(secret))),
    );
    this.#dealing = seatDealing(provider, state, view, share);
  }

  isForeign(): boolean {
    const { view } = this.#input;
    const [joined, committed] = [view.joined.get(this.#seat), view.committed.get(this.#seat)];
    const differs = (found: unknown, own: unknown) => found !== undefined && canonicalJson(found) !== canonicalJson(own);
    return differs(joined, this.#transportKeys) || differs(committed, this.#dealing.commitment ?? null);
  }

  step(): Pick<CeremonyStep, "entries" | "outcome"> {
    const { keys, view, at } = this.#input;
    const author = view.start.seats[this.#seat - 1]?.custodian_id ?? "";
    const { entries, after } = signActs(this.#provider, { keys, view, at, author }, this.#acts());
    return { entries, outcome: this.#outcome(after) };
  }

  #outcome(after: TranscriptView): CeremonyOutcome {
    const { view, confirm } = this.#input;
    const { transcript, crk } = view;
    if (view.status === "active" && transcript !== undefined && crk !== undefined) {
      const received = this.#received();
      const against = this.#receives() ? this.#senders.filter((from) => !received.has(from)) : [];
      if (against.length > 0) return { kind: "no_share", transcript, crk, against };
      const share = this.#dealing.share(view, received);
      if (share === undefined) return { kind: "dealt", transcript, crk, keeps: view.start.kind === "repair" };
      return { kind: "active", transcript, crk, share };
    }
    if (after.status === "active" && after.transcript !== undefined && after.crk !== undefined)
      return { kind: "completes", transcript: after.transcript, crk: after.crk };
    const outcome = openOutcome(after, this.#input.at, this.#isDone(after), confirm);
    // Who is given no share has nothing to confirm.
    if (outcome.kind === "confirm" && !this.#receives()) return { kind: "waiting", awaited: awaitedIn(after) };
    return outcome;
  }

  /** Whether the seat has said all that the key needs of it. */
  #isDone({ start, confirmed, contributed, dealt }: TranscriptView): boolean {
    const last = this.#receives() ? confirmed : start.kind === "repair" ? contributed : dealt;
    return last.has(this.#seat);
  }

  #receives(): boolean {
    return receiversOf(this.#input.view.start).includes(this.#seat);
  }

  #acts(): readonly Act[] {
    const { view, confirm, at } = this.#input;
    const seat = this.#seat;
    const { commitment, contribution } = this.#dealing;
    if (view.status !== "open" || at > view.start.expires_at) return [];
    if (view.round === undefined) {
      return [
        ...(view.joined.has(seat) || this.#senders.length === 0 ? [] : [this.#join()]),
        ...(view.committed.has(seat) || commitment === undefined ? [] : [commitment]),
      ];
    }
    if (commitment !== undefined && !view.dealt.has(seat)) return [this.#packages(view.round)];
    if (contribution !== undefined) return view.contributed.has(seat) ? [] : this.#judgement(view.round);
    if (!this.#receives()) return [];
    if (!view.accepted.has(seat)) return this.#judgement(view.round);
    if (view.confirmed.has(seat) || confirm === undefined || confirm !== view.transcript) return [];
    return [confirmationOf("confirmation", view)];
  }

  #join(): Act {
    const keys = this.#transportKeys;
    const { kind } = this.#input.view.start;
    const one = kind === "generate" || kind === "refresh";
    return { type: "join", ...(one ? { transport_key: keys[0] ?? "" } : { transport_keys: keys }) };
  }

  #packages(round: string): Act {
    const { view } = this.#input;
    const sealed = [...this.#dealing.values(view)]
      .sort(([a], [b]) => a - b)
      .map(([to, value]) => this.#sealed(to, value, `package/${to}`, round));
    return { type: "packages", sealed };
  }

  #sealed(to: number, value: Uint8Array, purpose: string, round: string): string {
    const { state, view } = this.#input;
    const place = { ceremony: view.ceremony, from: this.#seat, to, transcript: round };
    const random = state.derive(this.#provider, purpose, round);
    return sealPackage(this.#provider, place, transportKey(view, this.#seat, to) ?? "", value, random);
  }

  /** A complaint against the first that is wrong, as soon as it is there; acceptance, or what is handed on, when all are there and hold. */
  #judgement(round: string): readonly Act[] {
    const { view } = this.#input;
    const received = this.#received();
    const there = this.#senders.filter((from) => sealedFor(view, from, this.#seat) !== undefined);
    const against = there.find((from) => !received.has(from));
    if (against !== undefined) {
      return [{ type: "complaint", against, transport_secret: base64(this.#secretFor(against)) }];
    }
    if (there.length < this.#senders.length) return [];
    const { contribution } = this.#dealing;
    if (contribution === undefined) return [{ type: "accepted" }];
    return [{ type: "contribution", sealed: this.#sealed(1, contribution(received), "contribution", round) }];
  }

  /** What the others sealed to this seat, as far as it holds. */
  #received(): ReadonlyMap<number, Uint8Array> {
    const { view } = this.#input;
    const received = new Map<number, Uint8Array>();
    for (const from of this.#senders) {
      const value = dealtValue(this.#provider, view, from, this.#seat, this.#secretFor(from));
      if (value !== undefined) received.set(from, value);
    }
    return received;
  }

  #secretFor(from: number): Uint8Array {
    return this.#transportSecrets[keyNumber(this.#input.view.start, this.#senders, from)] ?? new Uint8Array();
  }
}

/** The secrets of a seat's transport keys: one, or in a reshare and a repair one for each who seals to it. */
function transportSecrets(provider: CryptoProvider, state: CeremonyState, start: StartAct): readonly Uint8Array[] {
  const random = state.derive(provider, "transport-key", state.start);
  const senders = sendersOf(start, state.seat);
  return senders.filter((from, i) => keyNumber(start, senders, from) === i).map(() => random(32));
}
