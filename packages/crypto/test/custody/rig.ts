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
    ...{ id, keys },
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
export function begun(start: StartAct, shares: readonly Share[] = []) {
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
      ...{ keys, state: states[seat - 1]!, view, at: NOW },
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
