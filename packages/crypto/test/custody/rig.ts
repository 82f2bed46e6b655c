import { nobleCrypto } from "@seneschal/crypto";
import { seeded } from "@seneschal/crypto/arbitraries";
import {
  type Act,
  admitEntry,
  type CeremonyState,
  CustodianKeys,
  ceremonyStep,
  confirmationOf,
  custodianCard,
  type EntryRefusal,
  type StartAct,
  signEntry,
  type TranscriptEntry,
  type TranscriptView,
  takeSeat,
} from "@seneschal/crypto/custody";
import { crkToJson, dealCrk, type Share } from "@seneschal/crypto/threshold";

/** A person with keys and a card. */
export interface Person {
  readonly id: string;
  readonly keys: CustodianKeys;
  readonly card: ReturnType<typeof custodianCard>;
}

export const CEREMONY = "0190a5e0-ceremony";
export const NOW = 1_790_000_000;
const known = new Map<string, Person>();

/** The person of this name, the same in every test. */
export function person(id: string): Person {
  const keys = CustodianKeys.generate(nobleCrypto, seeded(`person/${id}`));
  const found = known.get(id) ?? {
    id,
    keys,
    card: custodianCard(nobleCrypto, keys, { orgId: "acme", custodianId: id }, seeded(`card/${id}`)),
  };
  known.set(id, found);
  return found;
}

export const custodians = (total: number): readonly Person[] =>
  ["ada", "bob", "cy", "dan", "eve", "fay", "gus"].slice(0, total).map(person);
export const witness = person("wim");
export const starter = person("sue");

/** The start of a key generation, with what differs. */
export function startOf(total: number, threshold: number, change: Partial<StartAct> = {}): StartAct {
  const seats = custodians(total).map((c) => c.card);
  const start = { type: "start", kind: "generate", threshold, seats, witness: witness.card, starter: starter.card } as const;
  return { ...start, expires_at: NOW + 3600, ...change } as StartAct;
}

/** The start of a refresh, and the shares that it renews. */
export function refreshOf(total: number, threshold: number): { readonly start: StartAct; readonly shares: readonly Share[] } {
  const { crk, shares } = dealCrk({ threshold, total, random: seeded(`old/${threshold}/${total}`) });
  const { threshold: _, ...start } = startOf(total, threshold) as StartAct & { readonly threshold: number };
  return { start: { ...start, kind: "refresh", crk: crkToJson(crk) } as StartAct, shares };
}

type Of<K extends StartAct["kind"]> = Extract<StartAct, { readonly kind: K }>;

/** People with shares of a key of 2 of 4, or another, what is to be done with it, and the shares that the seats deal with. */
function dealtFrom<K extends "reshare" | "repair">(
  key: { readonly threshold: number; readonly total: number },
  terms: Pick<Of<K>, "kind" | "deals"> & Partial<Of<K>>,
) {
  const { crk, shares } = dealCrk({ ...key, random: seeded(`old/${key.threshold}/${key.total}`) });
  const { threshold: _, ...start } = startOf(terms.deals.length, 2) as Of<"generate">;
  const held = terms.deals.map((index) => shares[index - 1]);
  return { start: { ...start, crk: crkToJson(crk), ...terms } as unknown as Of<K>, shares: held, crk, all: shares };
}

/** A reshare from 2 of 4: the first seat goes on, holding index 2 before; the last only deals, with index 4; the others are new. */
export function reshareOf(seats: number, threshold: number, change: Partial<Of<"reshare">> = {}) {
  const deals = Array.from({ length: seats }, (_, i) => (i === 0 ? 2 : i === seats - 1 ? 4 : 0));
  const terms = { kind: "reshare", deals, threshold, total_shares: seats - 1, ...change } as const;
  return dealtFrom<"reshare">({ threshold: 2, total: 4 }, terms);
}

/** A repair of the share of index 3 of 5, which the first seat has lost, by as many helpers as there are other seats. */
export function repairOf(seats: number, threshold = 2, change: Partial<Of<"repair">> = {}) {
  const deals = [0, ...[5, 1, 2, 4].slice(0, seats - 1)];
  return dealtFrom<"repair">({ threshold, total: 5 }, { kind: "repair", index: 3, deals, ...change });
}

/** Who relays: keeps what is admitted, in order, and every view of it. */
export class Relay {
  readonly entries: TranscriptEntry[] = [];
  readonly views: TranscriptView[] = [];

  get view(): TranscriptView {
    return this.views.at(-1)!;
  }

  /** `undefined` when the entry is admitted. */
  post(entry: TranscriptEntry): EntryRefusal | undefined {
    const admission = admitEntry(nobleCrypto, this.views.at(-1), entry);
    if (!admission.admitted) return admission.reason;
    this.entries.push(entry);
    this.views.push(admission.view);
    return undefined;
  }

  /** Signs an act of somebody behind what is there, and posts it. */
  say(who: Person, act: Act): EntryRefusal | undefined {
    return this.post(signEntry(who.keys, { ceremony: CEREMONY, author: who.id, at: NOW }, act, this.views.at(-1)));
  }
}

/** A ceremony that has begun, its clients seated. */
export function begun(start: StartAct, shares: readonly (Share | undefined)[] = []) {
  const relay = new Relay();
  const refusal = relay.say(starter, start);
  if (refusal !== undefined) throw new Error(refusal);
  const people = custodians(start.seats.length);
  const states: CeremonyState[] = people.map(({ keys, id }) => takeSeat(relay.view, keys, seeded(`state/${id}`)));
  /** One step of a seat before a view; the state is kept. */
  const step = (seat: number, view = relay.view, confirms = true) => {
    const { keys } = people[seat - 1]!;
    const share = shares[seat - 1];
    const made = ceremonyStep(nobleCrypto, {
      keys,
      state: states[seat - 1]!,
      view,
      at: NOW,
      ...(share === undefined ? {} : { share }),
      ...(confirms && view.transcript !== undefined ? { confirm: view.transcript } : {}),
    });
    states[seat - 1] = made.state;
    return made;
  };
  /** Every seat in turn until nobody has anything to say; then the witness confirms. */
  const settle = (seats = people.map((_, i) => i + 1)) => {
    for (let before = -1; before !== relay.entries.length; ) {
      before = relay.entries.length;
      for (const seat of seats) for (const entry of step(seat).entries) relay.post(entry);
    }
    if (relay.view.transcript !== undefined) relay.say(witness, confirmationOf("witness", relay.view));
  };
  return { relay, people, states, step, settle };
}
