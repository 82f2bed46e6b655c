/** Plays a run of the model `models/custody/ceremony.qnt` with the library's own clients and relays: each step must come to what the model says. */
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
import { crkSet } from "@seneschal/crypto/threshold";
import { expect } from "vitest";
import type { Run } from "../../../../tools/models.ts";
import { sealPackage } from "../../src/custody/ceremony-package.ts";
import { seatDealing } from "../../src/custody/seat-dealing.ts";
import { transportKey } from "../../src/custody/transcript-view.ts";
import { CEREMONY, custodians, NOW, type Person, person, Relay, refreshOf, starter, startOf, witness } from "./rig.ts";

const WITNESS = 0;
const STARTER = 9;

type ModelAct =
  | { readonly tag: "Join" | "Commit" | "Confirm" | "Attest"; readonly value: boolean }
  | { readonly tag: "Packages"; readonly value: readonly number[] }
  | { readonly tag: "Complain"; readonly value: { readonly against: number; readonly secret: boolean } }
  | { readonly tag: "Accept" | "End" };

/** The model's `last`. */
interface Step {
  readonly step: "turn" | "speak" | "lie" | "forge" | "end" | "deliver" | "lose" | "crash";
  readonly who: number;
  readonly relay: number;
  readonly message: number;
  readonly said: readonly ModelAct[];
  /** Reasons of refusal, `""` for what was admitted; nothing when nothing has arrived. */
  readonly outcomes: readonly string[];
}

/** The model's `View`. */
interface End {
  readonly status: string;
  readonly log: readonly unknown[];
  readonly joined: readonly number[];
  readonly committed: readonly number[];
  readonly round: number;
  readonly dealt: readonly (readonly [number, unknown])[];
  readonly accepted: readonly number[];
  readonly transcript: number;
  readonly confirmed: readonly number[];
  readonly witnessed: boolean;
  readonly blamed: number;
  readonly evidence: number;
}

const TYPES = {
  ...{ Join: "join", Commit: "commitment", Packages: "packages", Complain: "complaint", Accept: "accepted" },
  ...{ Confirm: "confirmation", Attest: "witness", End: "end" },
} as const satisfies Record<ModelAct["tag"], Act["type"]>;

export function replayCeremony({ start, steps, end }: Run): void {
  const { kind, cast, liars } = start as {
    readonly kind: "generate" | "refresh";
    readonly cast: { readonly total: number; readonly threshold: number; readonly starter: number };
    readonly liars: readonly number[];
  };
  const people = custodians(cast.total);
  const named = (part: number): Person => (part === WITNESS ? witness : part === STARTER ? starter : people[part - 1]!);
  const old = kind === "refresh" ? refreshOf(cast.total, cast.threshold) : undefined;
  const act = { ...(old?.start ?? startOf(cast.total, cast.threshold)), starter: named(cast.starter).card } as StartAct;
  const relays = (end["relays"] as readonly End[]).map(() => new Relay());
  for (const relay of relays) expect(relay.say(named(cast.starter), act)).toBeUndefined();
  const states = people.map(({ keys, id }) => takeSeat(relays[0]!.view, keys, seeded(`state/${id}`)));
  const sent = new Map<number, TranscriptEntry>();

  /** What a client says when it is shown a view; a liar's forgets what it has seen. */
  const spoken = (who: number, view: TranscriptView): readonly TranscriptEntry[] => {
    const confirm = view.transcript === undefined ? {} : { confirm: view.transcript };
    if (who === WITNESS) return witnessStep(nobleCrypto, { keys: witness.keys, view, at: NOW, ...confirm }).entries;
    const share = old?.shares[who - 1];
    const made = ceremonyStep(nobleCrypto, {
      ...{ keys: named(who).keys, state: states[who - 1]!, view, at: NOW, ...confirm },
      ...(share === undefined ? {} : { share }),
    });
    if (!liars.includes(who)) states[who - 1] = made.state;
    return made.entries;
  };

  /** An act as a liar would make it, or a forger in the liar's name. */
  const told = (who: number, said: ModelAct, view: TranscriptView): Act => {
    const seat = who >= 1 && who <= cast.total ? who : 1;
    const state = states[seat - 1]!;
    const secret = state.derive(nobleCrypto, "transport-key", state.start)(32);
    const dealing = () => seatDealing(nobleCrypto, state, view, old?.shares[seat - 1]);
    const garbage = (label: string, length: number) => base64(seeded(label)(length));
    switch (said.tag) {
      case "Join":
        return { type: "join", transport_key: base64(said.value ? nobleCrypto.x25519PublicKey(secret) : new Uint8Array(32)) };
      case "Commit": {
        const commitment = dealing().commitment!;
        return said.value ? commitment : { ...commitment, commitments: [...commitment.commitments].reverse() };
      }
      case "Packages": {
        const { round } = view;
        const others = act.seats.map((_, i) => i + 1).filter((to) => to !== seat);
        if (round === undefined) return { type: "packages", sealed: others.map((to) => garbage(`package/${to}`, 80)) };
        const values = dealing().values(view);
        const sealed = others.map((to) => {
          const value = said.value.includes(to) ? new Uint8Array(32).fill(1) : values.get(to)!;
          const place = { ceremony: CEREMONY, from: seat, to, transcript: round };
          return sealPackage(nobleCrypto, place, transportKey(view, seat, to)!, value, seeded(`seal/${seat}/${to}`));
        });
        return { type: "packages", sealed };
      }
      case "Complain":
        return {
          ...{ type: "complaint", against: said.value.against },
          transport_secret: said.value.secret ? base64(secret) : garbage("another secret", 32),
        };
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
    for (let seat = 1; seat <= cast.total; seat++) {
      if (relay.view.status !== "active" || liars.includes(seat) || states[seat - 1]!.compare(relay.view) !== "continues")
        continue;
      const share = old?.shares[seat - 1];
      const input = { keys: named(seat).keys, state: states[seat - 1]!, view: relay.view, at: NOW };
      const { outcome } = ceremonyStep(nobleCrypto, { ...input, ...(share === undefined ? {} : { share }) });
      expect(outcome.kind === "active" && crkSet(outcome.crk).accepts(outcome.share)).toBe(true);
    }
  }
}

const sorted = (seats: Iterable<number>): readonly number[] => [...seats].sort((a, b) => a - b);

function standing(view: TranscriptView) {
  return {
    ...{ status: view.status, entries: view.hashes.length, witnessed: view.witnessed },
    ...{ joined: sorted(view.joined.keys()), committed: sorted(view.committed.keys()), dealt: sorted(view.dealt.keys()) },
    ...{ accepted: sorted(view.accepted), confirmed: sorted(view.confirmed) },
    round: view.round === undefined ? 0 : view.hashes.indexOf(view.round),
    transcript: view.transcript === undefined ? 0 : view.hashes.indexOf(view.transcript),
    ...{ blamed: view.blame?.seat ?? -1, evidence: view.blame?.entry ?? 0 },
  };
}

function ended({ log, dealt, ...rest }: End) {
  return {
    ...{ ...rest, entries: log.length + 1, dealt: sorted(dealt.map(([from]) => from)) },
    ...{ joined: sorted(rest.joined), committed: sorted(rest.committed) },
    ...{ accepted: sorted(rest.accepted), confirmed: sorted(rest.confirmed) },
  };
}
