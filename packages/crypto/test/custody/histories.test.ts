/** Laws of every history: entries lost, doubled, late and in another order, clients that crash, relays that fork, liars below the threshold. */
import { base64, canonicalJson, fromBase64, hex, nobleCrypto } from "@seneschal/crypto";
import { seeded } from "@seneschal/crypto/arbitraries";
import {
  type Act,
  type BlameReason,
  CeremonyState,
  ceremonyStep,
  confirmationOf,
  encodeTranscript,
  entryHash,
  signEntry,
  type TranscriptEntry,
  type TranscriptView,
  takeSeat,
  verifyTranscript,
} from "@seneschal/crypto/custody";
import { crkSet, type Share, signWithShares } from "@seneschal/crypto/threshold";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sealPackage } from "../../src/custody/ceremony-package.ts";
import { seatDealing } from "../../src/custody/seat-dealing.ts";
import { basePoint, evaluate, randomScalar, scalars } from "../../src/threshold/scalar-field.ts";
import { runs, submit } from "../submit.ts";
import { CEREMONY, custodians, NOW, type Person, Relay, refreshOf, starter, startOf, witness } from "./rig.ts";

interface Liar {
  readonly seat: number;
  readonly state: CeremonyState;
  readonly view: TranscriptView;
}

const transportSecret = (state: CeremonyState) => state.derive(nobleCrypto, "transport-key", state.start)(32);
/** A seat that is not this one. */
const another = ({ seat, view }: Liar) => (seat % view.start.seats.length) + 1;

/** What a liar says instead of an act; `undefined`: nothing. */
const LIES = {
  "commits without proof": (act) => (act.type === "commitment" ? { ...act, commitments: [...act.commitments].reverse() } : act),
  "joins with a key of small order": (act) => (act.type === "join" ? { ...act, transport_key: base64(new Uint8Array(32)) } : act),
  "mixes packages up": (act) => (act.type === "packages" ? { ...act, sealed: [...act.sealed].reverse() } : act),
  "deals a wrong value": (act, me) => {
    if (act.type !== "packages") return act;
    const to = another(me);
    const place = { ceremony: CEREMONY, from: me.seat, to, transcript: me.view.round ?? "" };
    const key = me.view.joined.get(to) ?? "";
    const wrong = sealPackage(nobleCrypto, place, key, new Uint8Array(32).fill(1), seeded("lie"));
    return { ...act, sealed: act.sealed.map((sealed, i) => (i === (to < me.seat ? to - 1 : to - 2) ? wrong : sealed)) };
  },
  "complains of what holds": (act, me) =>
    act.type === "accepted"
      ? { type: "complaint", against: another(me), transport_secret: base64(transportSecret(me.state)) }
      : act,
  "complains with another secret": (act, me) =>
    act.type === "accepted" ? { type: "complaint", against: another(me), transport_secret: base64(seeded("another")(32)) } : act,
  "confirms another hash": (act) => (act.type === "confirmation" ? { ...act, transcript: base64(seeded("hash")(32)) } : act),
  "does not deal": (act) => (act.type === "packages" ? undefined : act),
  "does not accept": (act) => (act.type === "accepted" ? undefined : act),
  "accepts from the first on": () => ({ type: "accepted" }),
} as const satisfies Record<string, (act: Act, me: Liar) => Act | undefined>;
/** For what each lie is blamed; `undefined`: the ceremony stays open and nothing comes of it. */
const CAUGHT: Readonly<Record<keyof typeof LIES, BlameReason | undefined>> = {
  "commits without proof": "commitment",
  "joins with a key of small order": "transport_key",
  "mixes packages up": "package",
  "deals a wrong value": "package",
  "complains of what holds": "complaint",
  "complains with another secret": "complaint",
  "confirms another hash": undefined,
  "does not deal": undefined,
  "does not accept": undefined,
  "accepts from the first on": undefined,
};
const lieNames = Object.keys(LIES) as (keyof typeof LIES)[];

type Move =
  | { readonly kind: "speak"; readonly who: number; readonly relay: number; readonly behind: number }
  | { readonly kind: "deliver"; readonly which: number; readonly keep: boolean }
  | { readonly kind: "lose" | "crash" | "forge"; readonly which: number };

const small = fc.nat(11);
const moves: fc.Arbitrary<readonly Move[]> = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ kind: fc.constant("speak" as const), who: small, relay: fc.nat(1), behind: fc.nat(2) }) },
    { weight: 5, arbitrary: fc.record({ kind: fc.constant("deliver" as const), which: small, keep: fc.boolean() }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constantFrom("lose" as const, "crash" as const, "forge" as const), which: small }),
    },
  ),
  { maxLength: 40 },
);

interface Plan {
  readonly kind: "generate" | "refresh";
  readonly total: number;
  readonly threshold: number;
  readonly liars: ReadonlyMap<number, keyof typeof LIES>;
  readonly relays: number;
  readonly moves: readonly Move[];
}

const plans = (relays: number): fc.Arbitrary<Plan> =>
  fc
    .record({ kind: fc.constantFrom("generate" as const, "refresh" as const), total: fc.integer({ min: 3, max: 4 }) })
    .chain(({ kind, total }) =>
      fc.record({
        ...{ kind: fc.constant(kind), total: fc.constant(total), threshold: fc.integer({ min: 2, max: total }) },
        honest: fc.constantFrom(true, false, false),
      }),
    )
    .chain((shape) =>
      fc
        .tuple(
          fc.shuffledSubarray(
            Array.from({ length: shape.total }, (_, i) => i + 1),
            { minLength: shape.honest ? 0 : 1, maxLength: shape.honest ? 0 : shape.threshold - 1 },
          ),
          fc.array(fc.constantFrom(...lieNames), { minLength: shape.total, maxLength: shape.total }),
          moves,
        )
        .map(([seats, lies, made]) => ({
          ...{ ...shape, relays, moves: made },
          liars: new Map(seats.map((seat, i) => [seat, lies[i] ?? lieNames[0]] as [number, keyof typeof LIES])),
        })),
    );

/** Plays a plan, then lets everybody speak in turn until nothing new comes. */
function play(plan: Plan) {
  const people = custodians(plan.total);
  const refresh = plan.kind === "refresh" ? refreshOf(plan.total, plan.threshold) : undefined;
  const start = refresh?.start ?? startOf(plan.total, plan.threshold);
  const relays = Array.from({ length: plan.relays }, () => new Relay());
  for (const relay of relays) expect(relay.say(starter, start)).toBeUndefined();
  const held = (seat: number) => refresh?.shares[seat - 1];
  const begin = (seat: number, label: string) => takeSeat(relays[0]!.view, people[seat - 1]!.keys, seeded(`${label}/${seat}`));
  // An honest client has one state, wherever it looks; a liar has another for each relay.
  const honest = people.map((_, i) => begin(i + 1, "honest"));
  const lying = relays.map((_, relay) => people.map((_, i) => begin(i + 1, `liar/${relay}`)));
  const bag: { readonly relay: Relay; readonly entry: TranscriptEntry }[] = [];

  /** What a seat has to say to a view, its lie told. */
  const speak = (seat: number, at: number, view: TranscriptView): readonly TranscriptEntry[] => {
    const lie = plan.liars.get(seat);
    const person = people[seat - 1]!;
    const state = lie === undefined ? honest[seat - 1]! : lying[at]![seat - 1]!;
    const share = held(seat);
    const step = ceremonyStep(nobleCrypto, {
      ...{ keys: person.keys, state, view, at: NOW },
      ...(share === undefined ? {} : { share }),
      ...(view.transcript === undefined ? {} : { confirm: view.transcript }),
    });
    if (lie === undefined) {
      honest[seat - 1] = step.state;
      return step.entries;
    }
    lying[at]![seat - 1] = step.state;
    const tell: (act: Act, me: Liar) => Act | undefined = LIES[lie];
    const hashes = [...view.hashes];
    return step.entries.flatMap(({ act }) => {
      const told = tell(act, { seat, state, view });
      if (told === undefined) return [];
      const entry = signEntry(person.keys, { ceremony: CEREMONY, author: person.id, at: NOW }, told, { hashes });
      hashes.push(entryHash(nobleCrypto, entry));
      return [entry];
    });
  };
  const witnesses = () => {
    // The witness is a person too: one word, to whichever relay asks first.
    const ready = relays.find((relay) => relay.view.transcript !== undefined);
    if (ready !== undefined) ready.say(witness, confirmationOf("witness", ready.view));
  };

  for (const move of plan.moves) {
    if (move.kind === "speak") {
      const at = move.relay % relays.length;
      const { views } = relays[at]!;
      const view = views[Math.max(0, views.length - 1 - move.behind)]!;
      for (const entry of speak((move.who % plan.total) + 1, at, view)) bag.push({ relay: relays[at]!, entry });
    } else if (move.kind === "crash") {
      const seat = move.which % plan.total;
      honest[seat] = CeremonyState.fromBytes(honest[seat]!.toBytes());
    } else if (move.kind === "forge") {
      const [victim, forger] = [people[move.which % plan.total]!, people[(move.which + 1) % plan.total]!];
      const relay = relays[move.which % relays.length]!;
      const by = { ceremony: CEREMONY, author: victim.id, at: NOW };
      expect(relay.post(signEntry(forger.keys, by, { type: "accepted" }, relay.view))).toBe("signature");
    } else if (bag.length > 0) {
      const which = move.which % bag.length;
      const { relay, entry } = bag[which]!;
      if (move.kind === "deliver") relay.post(entry);
      if (move.kind !== "deliver" || !move.keep) bag.splice(which, 1);
    }
  }
  for (let before = -1, now = 0; before !== now; now = relays.reduce((sum, relay) => sum + relay.entries.length, 0)) {
    before = relays.reduce((sum, relay) => sum + relay.entries.length, 0);
    for (const [at, relay] of relays.entries()) {
      for (let seat = 1; seat <= plan.total; seat++) for (const entry of speak(seat, at, relay.view)) relay.post(entry);
    }
    witnesses();
  }
  const outcomeOf = (seat: number, relay: Relay) => {
    const share = held(seat);
    const input = { keys: people[seat - 1]!.keys, state: honest[seat - 1]!, view: relay.view, at: NOW };
    return ceremonyStep(nobleCrypto, { ...input, ...(share === undefined ? {} : { share }) }).outcome;
  };
  return {
    relays,
    people,
    honest,
    held,
    outcomeOf,
    honestSeats: people.map((_, i) => i + 1).filter((seat) => !plan.liars.has(seat)),
  };
}

/** Every string of a value, as it is and as the bytes that it is the base64 of. */
function texts(value: unknown): string[] {
  if (typeof value === "string") {
    try {
      return [value, hex(fromBase64(value))];
    } catch {
      return [value];
    }
  }
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(texts) : [];
}

/** What must never leave the process of an honest custodian, in hex; the transport secret only where they have not complained. */
function secretsOf(person: Person, state: CeremonyState, held: Share | undefined, view: TranscriptView): string[] {
  const own = person.keys.toBytes();
  const { secret } = JSON.parse(Buffer.from(state.toBytes()).toString()) as { secret: string };
  const { start } = view;
  const threshold = start.kind === "generate" ? start.threshold : start.crk.threshold;
  const random = state.derive(nobleCrypto, "polynomial", state.start);
  const draw = (count: number) => Array.from({ length: count }, () => randomScalar(random));
  const coefficients = start.kind === "generate" ? draw(threshold) : [0n, ...draw(threshold - 1)];
  // These are the seat's: they make what it commits to.
  const { commitment } = seatDealing(nobleCrypto, state, view, held);
  expect(coefficients.map((c) => base64(basePoint(c).toBytes()))).toEqual(commitment.commitments);
  // The nonce of the proof of knowledge tells the constant term.
  const nonce = start.kind === "generate" ? draw(1) : [];
  expect(nonce.map((k) => base64(basePoint(k).toBytes()))).toEqual(
    commitment.proof === undefined ? [] : [base64(fromBase64(commitment.proof).subarray(0, 32))],
  );
  const values = start.seats.map((_, i) => evaluate(coefficients, i + 1));
  const complained = view.acts.some(({ author, type }) => author === person.id && type === "complaint");
  return [
    ...(complained ? [] : [transportSecret(state)]),
    ...[...coefficients, ...nonce, ...values].filter((scalar) => scalar !== 0n).map((scalar) => scalars.toBytes(scalar)),
    own.subarray(0, 32),
    own.subarray(32),
    fromBase64(secret),
    ...(held === undefined ? [] : [held.payload()]),
  ].map(hex);
}

test.each(lieNames)("a custodian who %s is blamed for it, or keeps the others waiting", (lie) => {
  const plan = { kind: "generate", total: 3, threshold: 2, liars: new Map([[2, lie]]), relays: 1, moves: [] } as const;
  const { view } = play(plan).relays[0]!;
  expect(view.blame?.reason).toBe(CAUGHT[lie]);
  expect(view.blame?.seat).toBe(CAUGHT[lie] && 2);
  expect(view.status).toBe(CAUGHT[lie] === undefined ? "open" : "failed");
});

describe("in every history", () => {
  test("nobody innocent is blamed; active means confirmed by all; honest custodians end with one key; no entry shows a secret", () => {
    fc.assert(
      fc.property(plans(1), (plan) => {
        const { relays, people, honest, held, outcomeOf, honestSeats } = play(plan);
        const [relay] = relays as [Relay];
        const { view, entries } = relay;
        if (view.blame !== undefined) {
          expect(plan.liars.has(view.blame.seat)).toBe(true);
          // The blame is in the entry that it names, which the blamed has signed.
          expect(entries[view.blame.entry]?.author).toBe(people[view.blame.seat - 1]?.id);
        }
        if (plan.liars.size === 0) expect(view.status).toBe("active");
        const words = entries.flatMap(({ author, act }) =>
          act.type === "confirmation" || act.type === "witness" ? [{ author, said: canonicalJson({ ...act, type: "" }) }] : [],
        );
        expect(new Set(words.map(({ said }) => said)).size).toBeLessThanOrEqual(1);
        if (view.status === "active") {
          expect(words.map(({ author }) => author).sort()).toEqual([...people.map(({ id }) => id), witness.id].sort());
        }

        const outcomes = honestSeats.map((seat) => outcomeOf(seat, relay));
        const shares: Share[] = [];
        for (const outcome of outcomes) {
          expect(outcome.kind === "active").toBe(view.status === "active");
          if (outcome.kind !== "active") continue;
          expect(outcome.crk).toEqual(view.crk);
          expect(crkSet(outcome.crk).accepts(outcome.share)).toBe(true);
          shares.push(outcome.share);
        }
        if (view.crk !== undefined && shares.length >= plan.threshold) {
          const signature = signWithShares(view.crk, submit(shares), Uint8Array.of(1), seeded("s"));
          expect(nobleCrypto.ed25519Verify(view.crk.publicKey, Uint8Array.of(1), signature)).toBe(true);
        }

        const said = texts(entries).join("\n");
        const secrets = honestSeats.flatMap((seat) => secretsOf(people[seat - 1]!, honest[seat - 1]!, held(seat), view));
        for (const secret of [...secrets, ...shares.map((share) => hex(share.payload()))]) expect(said).not.toContain(secret);

        expect(verifyTranscript(nobleCrypto, encodeTranscript(entries))).toMatchObject({ valid: true, status: view.status });
      }),
      runs(6),
    );
  });

  test("a relay that shows different people different transcripts makes no two keys active, and frames nobody", () => {
    fc.assert(
      fc.property(plans(2), (plan) => {
        const { relays, outcomeOf, honestSeats } = play(plan);
        expect(relays.filter(({ view }) => view.status === "active").length).toBeLessThanOrEqual(1);
        const keys = relays.flatMap((relay) =>
          honestSeats
            .map((seat) => outcomeOf(seat, relay))
            .flatMap((outcome) => (outcome.kind === "active" ? [outcome.transcript] : [])),
        );
        expect(new Set(keys).size).toBeLessThanOrEqual(1);
        for (const { view } of relays) if (view.blame !== undefined) expect(plan.liars.has(view.blame.seat)).toBe(true);
      }),
      runs(3),
    );
  });
});
