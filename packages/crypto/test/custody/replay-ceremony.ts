/**
 * Plays a run of the models of `models/custody/ceremony.qnt`, `ceremony` or `handover`, with the library's own clients and relays: each step must come to
 * what the model says.
 */
import { base64, nobleCrypto } from "@seneschal/crypto";
import { seeded } from "@seneschal/crypto/arbitraries";
import {
  type Act,
  CeremonyState,
  ceremonyStep,
  encodeTranscript,
  type StartAct,
  signEntry,
  type TranscriptEntry,
  type TranscriptView,
  takeSeat,
  verifyTranscript,
  witnessStep,
} from "@seneschal/crypto/custody";
import { crkFromJson, crkSet, crkToJson, dealCrk, type Share, signWithShares } from "@seneschal/crypto/threshold";
import { isCoded } from "@seneschal/kernel";
import { expect } from "vitest";
import type { Run } from "../../../../tools/models.ts";
import { sealPackage } from "../../src/custody/ceremony-package.ts";
import { dealersOf, dealtTo, receiversOf, sendersOf } from "../../src/custody/parts.ts";
import { seatDealing } from "../../src/custody/seat-dealing.ts";
import { transportKey } from "../../src/custody/transcript-view.ts";
import { submit } from "../submit.ts";
import { CEREMONY, custodians, NOW, type Person, person, Relay, refreshOf, starter, startOf, witness } from "./rig.ts";

const WITNESS = 0;
const STARTER = 9;

type ModelAct =
  | { readonly tag: "Join" | "Commit" | "Contribute" | "Confirm" | "Attest"; readonly value: boolean }
  | { readonly tag: "Packages"; readonly value: readonly number[] }
  | { readonly tag: "Complain"; readonly value: { readonly against: number; readonly secret: boolean } }
  | { readonly tag: "Accept" | "End" };

/** The model's `last`. */
interface Step {
  readonly step: "turn" | "speak" | "lie" | "forge" | "end" | "deliver" | "lose" | "crash" | "sign";
  readonly who: number;
  readonly relay: number;
  readonly message: number;
  readonly said: readonly ModelAct[];
  /** Reasons of refusal, `""` for what was admitted; nothing when nothing has arrived. */
  readonly outcomes: readonly string[];
  /** Of a `sign`: shares of the key of before, by index, and such as the ceremony has given. */
  readonly shares: readonly { readonly given: boolean; readonly index: number }[];
}

interface Cast {
  readonly kind: StartAct["kind"];
  readonly total: number;
  readonly threshold: number;
  readonly starter: number;
  readonly dealers: readonly number[];
  readonly receivers: readonly number[];
}

/** The model's `View`. */
interface End {
  readonly status: string;
  readonly log: readonly unknown[];
  readonly joined: readonly number[];
  readonly committed: readonly number[];
  readonly round: number;
  readonly dealt: readonly (readonly [number, unknown])[];
  readonly contributed: readonly (readonly [number, unknown])[];
  readonly accepted: readonly number[];
  readonly transcript: number;
  readonly confirmed: readonly number[];
  readonly witnessed: boolean;
  readonly blamed: number;
  readonly evidence: number;
}

const TYPES = {
  Join: "join",
  Commit: "commitment",
  Packages: "packages",
  Contribute: "contribution",
  Complain: "complaint",
  Accept: "accepted",
  Confirm: "confirmation",
  Attest: "witness",
  End: "end",
} as const satisfies Record<ModelAct["tag"], Act["type"]>;

/** The start that a cast is, the shares that its seats deal with, by seat, and all of the key that there is. */
function begins(cast: Cast, old: { readonly threshold: number }) {
  const { kind, total, threshold } = cast;
  if (kind === "generate") return { start: startOf(total, threshold), held: [], all: [] };
  if (kind === "refresh") {
    const { start, shares } = refreshOf(total, threshold);
    return { start, held: shares, all: shares };
  }
  const { crk, shares } = dealCrk({ threshold: old.threshold, total: 4, random: seeded(`old/${old.threshold}`) });
  const deals = Array.from({ length: total }, (_, i) => (cast.dealers.includes(i + 1) ? indexOf(i + 1) : 0));
  const { seats, witness: by, starter: who, expires_at } = startOf(total, 2);
  const what =
    kind === "repair" ? { index: indexOf(1) } : ({ threshold, total_shares: cast.receivers.length } as Record<string, number>);
  const start = { type: "start", kind, crk: crkToJson(crk), deals, ...what, seats, witness: by, starter: who, expires_at };
  return { start: start as unknown as StartAct, held: deals.map((index) => shares[index - 1]), all: shares };
}

/** The model's: which share of the key that there is a seat has, or has lost. */
const indexOf = (seat: number): number => 5 - seat;

export function replayCeremony({ start, steps, end }: Run): void {
  const { cast, liars, old } = start as {
    readonly cast: Cast;
    readonly liars: readonly number[];
    readonly old?: { readonly threshold: number };
  };
  const people = custodians(cast.total);
  const named = (part: number): Person => (part === WITNESS ? witness : part === STARTER ? starter : people[part - 1]!);
  const { start: begun, held, all } = begins(cast, old ?? cast);
  const act = { ...begun, starter: named(cast.starter).card } as StartAct;
  expect([dealersOf(act), receiversOf(act)]).toEqual([sorted(cast.dealers), sorted(cast.receivers)]);
  const relays = (end["relays"] as readonly End[]).map(() => new Relay());
  for (const relay of relays) expect(relay.say(named(cast.starter), act)).toBeUndefined();
  const states = people.map(({ keys, id }) => takeSeat(relays[0]!.view, keys, seeded(`state/${id}`)));
  const sent = new Map<number, TranscriptEntry>();

  /** What a client says when it is shown a view; a liar's forgets what it has seen. */
  const spoken = (who: number, view: TranscriptView): readonly TranscriptEntry[] => {
    const confirm = view.transcript === undefined ? {} : { confirm: view.transcript };
    if (who === WITNESS) return witnessStep(nobleCrypto, { keys: witness.keys, view, at: NOW, ...confirm }).entries;
    const share = held[who - 1];
    const made = ceremonyStep(nobleCrypto, {
      keys: named(who).keys,
      state: states[who - 1]!,
      view,
      at: NOW,
      ...confirm,
      ...(share === undefined ? {} : { share }),
    });
    if (!liars.includes(who)) states[who - 1] = made.state;
    return made.entries;
  };

  /** The secrets of a seat's transport keys: one, or in a handover one for each who seals to it. */
  const transportSecrets = (seat: number): readonly Uint8Array[] => {
    const state = states[seat - 1]!;
    const random = state.derive(nobleCrypto, "transport-key", state.start);
    const senders = sendersOf(act, seat);
    return (act.kind === "generate" || act.kind === "refresh" ? senders.slice(0, 1) : senders).map(() => random(32));
  };

  /** The share that a seat has of a key that is active. */
  const given = (seat: number, view: TranscriptView): Share => {
    const share = held[seat - 1];
    const input = { keys: named(seat).keys, state: states[seat - 1]!, view, at: NOW };
    const { outcome } = ceremonyStep(nobleCrypto, { ...input, ...(share === undefined ? {} : { share }) });
    if (outcome.kind !== "active") throw new Error(`seat ${seat}: ${outcome.kind}`);
    return outcome.share;
  };

  /** `""` when something is signed with these shares by the key as it is. */
  const signs = (view: TranscriptView, shares: Step["shares"]): string => {
    if (act.kind === "generate") throw new Error("there is no key yet");
    const crk = view.status === "active" ? view.crk! : crkFromJson(act.crk);
    const brought = shares.map((one) => (one.given ? given(act.kind === "repair" ? 1 : one.index, view) : all[one.index - 1]!));
    try {
      const signature = signWithShares(crk, submit(brought), Uint8Array.of(1), seeded("signature"));
      return nobleCrypto.ed25519Verify(crk.publicKey, Uint8Array.of(1), signature) ? "" : "wrong";
    } catch (error) {
      if (isCoded(error, "share_invalid") || isCoded(error, "threshold_not_met")) return error.code;
      throw error;
    }
  };

  /** An act as a liar would make it, or a forger in the liar's name. */
  const told = (who: number, said: ModelAct, view: TranscriptView): Act => {
    const seat = who >= 1 && who <= cast.total ? who : 1;
    const state = states[seat - 1]!;
    const dealing = () => seatDealing(nobleCrypto, state, view, held[seat - 1]);
    const garbage = (label: string, length: number) => base64(seeded(label)(length));
    switch (said.tag) {
      case "Join": {
        const none = base64(new Uint8Array(32));
        const keys = transportSecrets(seat).map((own) => (said.value ? base64(nobleCrypto.x25519PublicKey(own)) : none));
        if (act.kind === "generate" || act.kind === "refresh") return { type: "join", transport_key: keys[0]! };
        return { type: "join", transport_keys: keys.length === 0 ? [none] : keys };
      }
      case "Commit": {
        const { commitment } = dealing();
        if (commitment === undefined)
          return { type: "commitment", commitments: [garbage("a point", 32), garbage("another", 32)] };
        const [, second = ""] = commitment.commitments;
        return said.value ? commitment : { ...commitment, commitments: [second, ...commitment.commitments.slice(1)] };
      }
      case "Packages": {
        const { round } = view;
        const others = dealtTo(act, seat);
        if (round === undefined || !cast.dealers.includes(seat))
          return { type: "packages", sealed: others.map((to) => garbage(`package/${to}`, 80)) };
        const values = dealing().values(view);
        const sealed = others.map((to) => {
          const value = said.value.includes(to) ? new Uint8Array(32).fill(1) : values.get(to)!;
          const place = { ceremony: CEREMONY, from: seat, to, transcript: round };
          return sealPackage(nobleCrypto, place, transportKey(view, seat, to)!, value, seeded(`seal/${seat}/${to}`));
        });
        return { type: "packages", sealed };
      }
      case "Contribute": {
        const { round, dealt } = view;
        const due =
          act.kind === "repair" && cast.dealers.includes(seat) && round !== undefined && dealt.size === cast.dealers.length;
        if (!due || !said.value) return { type: "contribution", sealed: garbage("contribution", 80) };
        // What the others have committed to, whatever they have sealed.
        const others = dealersOf(act).filter((from) => from !== seat);
        const drawn = others.map((from) => {
          const { values } = seatDealing(nobleCrypto, states[from - 1]!, view, held[from - 1]);
          return [from, values(view).get(seat)!] as const;
        });
        const place = { ceremony: CEREMONY, from: seat, to: 1, transcript: round };
        const sum = dealing().contribution!(new Map(drawn));
        return {
          type: "contribution",
          sealed: sealPackage(nobleCrypto, place, transportKey(view, seat, 1)!, sum, seeded(`give/${seat}`)),
        };
      }
      case "Complain": {
        const { against, secret } = said.value;
        const senders = sendersOf(act, seat);
        const own = transportSecrets(seat)[act.kind === "generate" || act.kind === "refresh" ? 0 : senders.indexOf(against)];
        return {
          type: "complaint",
          against,
          transport_secret: secret && own !== undefined ? base64(own) : garbage("another secret", 32),
        };
      }
      case "Accept":
        return { type: "accepted" };
      case "Confirm":
      case "Attest":
        return {
          type: TYPES[said.tag],
          transcript: said.value && view.transcript !== undefined ? view.transcript : garbage("another hash", 32),
          public_key: view.crk === undefined ? garbage("a key", 32) : base64(view.crk.publicKey),
        };
      case "End":
        return { type: "end" };
    }
  };

  const posted = (relay: Relay, entries: readonly TranscriptEntry[]): string[] => entries.map((entry) => relay.post(entry) ?? "");
  /** By steps, so that a failure shows where. */
  const seen: unknown[] = [];
  const expected: unknown[] = [];
  for (const [i, one] of (steps as unknown as readonly Step[]).entries()) {
    const { step, who, message, said, outcomes } = one;
    const relay = relays[one.relay]!;
    const comes = (entries: readonly TranscriptEntry[], late: boolean) => {
      if (late) for (const [place, entry] of entries.entries()) sent.set(message + place, entry);
      seen.push([i, step, entries.map((entry) => entry.act.type), late ? [] : posted(relay, entries)]);
      expected.push([i, step, said.map(({ tag }) => TYPES[tag]), outcomes]);
    };
    if (step === "turn" || step === "speak") comes(spoken(who, relay.view), step === "speak");
    else if (step === "lie" || step === "forge" || step === "end") {
      const { keys } = step === "forge" ? person("mal") : named(who);
      const acts = said.map((tale) => told(who, tale, relay.view));
      const by = { ceremony: CEREMONY, author: named(who).id, at: NOW };
      comes(
        acts.map((tale) => signEntry(keys, by, tale, relay.view)),
        outcomes.length === 0,
      );
    } else if (step === "deliver") {
      seen.push([i, step, posted(relay, [sent.get(message)!])]);
      expected.push([i, step, outcomes]);
    } else if (step === "sign") {
      seen.push([i, step, signs(relay.view, one.shares)]);
      expected.push([i, step, ...outcomes]);
    } else if (step === "lose") sent.delete(message);
    else states[who - 1] = CeremonyState.fromBytes(states[who - 1]!.toBytes());
  }
  expect(seen).toEqual(expected);

  for (const [i, relay] of relays.entries()) {
    expect(standing(relay.view)).toEqual(ended((end["relays"] as readonly End[])[i]!));
    expect(verifyTranscript(nobleCrypto, encodeTranscript(relay.entries))).toMatchObject({
      valid: true,
      status: relay.view.status,
    });
    if (relay.view.status !== "active") continue;
    for (const seat of receiversOf(act)) {
      if (liars.includes(seat) || states[seat - 1]!.compare(relay.view) !== "continues") continue;
      const share = given(seat, relay.view);
      expect(crkSet(relay.view.crk!).accepts(share)).toBe(true);
      if (act.kind === "repair") expect(share.encode()).toBe(all[act.index - 1]!.encode());
    }
  }
}

const sorted = (seats: Iterable<number>): readonly number[] => [...seats].sort((a, b) => a - b);

function standing(view: TranscriptView) {
  return {
    status: view.status,
    entries: view.hashes.length,
    witnessed: view.witnessed,
    joined: sorted(view.joined.keys()),
    committed: sorted(view.committed.keys()),
    dealt: sorted(view.dealt.keys()),
    contributed: sorted(view.contributed.keys()),
    accepted: sorted(view.accepted),
    confirmed: sorted(view.confirmed),
    round: view.round === undefined ? 0 : view.hashes.indexOf(view.round),
    transcript: view.transcript === undefined ? 0 : view.hashes.indexOf(view.transcript),
    blamed: view.blame?.seat ?? -1,
    evidence: view.blame?.entry ?? 0,
  };
}

function ended({ log, dealt, contributed, ...rest }: End) {
  return {
    ...rest,
    entries: log.length + 1,
    dealt: sorted(dealt.map(([from]) => from)),
    contributed: sorted(contributed.map(([from]) => from)),
    joined: sorted(rest.joined),
    committed: sorted(rest.committed),
    accepted: sorted(rest.accepted),
    confirmed: sorted(rest.confirmed),
  };
}
