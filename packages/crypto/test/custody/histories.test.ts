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
  type StartAct,
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
import { dealtIndexes, pointsOf } from "../../src/custody/dealing.ts";
import { dealtTo, receiversOf, sendersOf } from "../../src/custody/parts.ts";
import { seatDealing } from "../../src/custody/seat-dealing.ts";
import { transportKey } from "../../src/custody/transcript-view.ts";
import { basePoint, evaluate, lagrange, randomScalar, readScalar, scalars } from "../../src/threshold/scalar-field.ts";
import { runs, submit } from "../submit.ts";
import {
  CEREMONY,
  custodians,
  NOW,
  type Person,
  Relay,
  refreshOf,
  repairOf,
  reshareOf,
  starter,
  startOf,
  witness,
} from "./rig.ts";

interface Liar {
  readonly seat: number;
  readonly state: CeremonyState;
  readonly view: TranscriptView;
}

/** The secrets of a seat's transport keys, in the order of those who seal to it. */
const transportSecrets = (state: CeremonyState, { start }: TranscriptView) => {
  const random = state.derive(nobleCrypto, "transport-key", state.start);
  const senders = sendersOf(start, state.seat);
  return (start.kind === "generate" || start.kind === "refresh" ? senders.slice(0, 1) : senders).map(() => random(32));
};
/** What holds is said to be false, with the secret that belongs to it or another. */
const complaint = ({ seat, state, view }: Liar, secret = transportSecrets(state, view)[0]!): Act => ({
  type: "complaint",
  against: sendersOf(view.start, seat)[0]!,
  transport_secret: base64(secret),
});
/** A value of 1, sealed as it should be. */
const wrongFor = ({ seat, view }: Liar, to: number) => {
  const place = { ceremony: CEREMONY, from: seat, to, transcript: view.round ?? "" };
  return sealPackage(nobleCrypto, place, transportKey(view, seat, to)!, new Uint8Array(32).fill(1), seeded("lie"));
};
const consents = ({ type }: Act) => type === "accepted" || type === "contribution";

/** What a liar says instead of an act; `undefined`: nothing. */
const LIES = {
  "commits to another key": (act) =>
    act.type === "commitment" ? { ...act, commitments: [act.commitments[1]!, ...act.commitments.slice(1)] } : act,
  "joins with a key of small order": (act) => {
    if (act.type !== "join") return act;
    const nothing = base64(new Uint8Array(32));
    if (act.transport_keys === undefined) return { type: "join", transport_key: nothing };
    return { type: "join", transport_keys: [...act.transport_keys.slice(1), nothing] };
  },
  "mixes packages up": (act) => {
    if (act.type !== "packages") return act;
    return { ...act, sealed: act.sealed.length > 1 ? [...act.sealed].reverse() : [base64(seeded("nothing")(80))] };
  },
  "deals a wrong value": (act, me) =>
    act.type === "packages"
      ? { ...act, sealed: [wrongFor(me, dealtTo(me.view.start, me.seat)[0]!), ...act.sealed.slice(1)] }
      : act,
  "contributes a wrong sum": (act, me) => (act.type === "contribution" ? { ...act, sealed: wrongFor(me, 1) } : act),
  "complains of what holds": (act, me) => (consents(act) ? complaint(me) : act),
  "complains with another secret": (act, me) => (consents(act) ? complaint(me, seeded("another")(32)) : act),
  "confirms another hash": (act) => (act.type === "confirmation" ? { ...act, transcript: base64(seeded("hash")(32)) } : act),
  "does not deal": (act) => (act.type === "packages" ? undefined : act),
  "does not accept": (act) => (consents(act) ? undefined : act),
  "accepts from the first on": () => ({ type: "accepted" }),
} as const satisfies Record<string, (act: Act, me: Liar) => Act | undefined>;
/** For what each lie is blamed; `undefined`: the ceremony stays open and nothing comes of it. */
const CAUGHT: Readonly<Record<keyof typeof LIES, BlameReason | undefined>> = {
  "commits to another key": "commitment",
  "joins with a key of small order": "transport_key",
  "mixes packages up": "package",
  "deals a wrong value": "package",
  "contributes a wrong sum": "package",
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

const KINDS = ["generate", "refresh", "reshare", "repair"] as const;
interface Plan {
  readonly kind: (typeof KINDS)[number];
  readonly total: number;
  readonly threshold: number;
  readonly liars: ReadonlyMap<number, keyof typeof LIES>;
  readonly relays: number;
  readonly moves: readonly Move[];
}

const plans = (relays: number): fc.Arbitrary<Plan> =>
  fc
    .record({ kind: fc.constantFrom(...KINDS), total: fc.integer({ min: 3, max: 4 }) })
    .chain(({ kind, total }) =>
      fc.record({
        kind: fc.constant(kind),
        total: fc.constant(total),
        threshold: fc.integer({ min: 2, max: total }),
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
          ...shape,
          relays,
          moves: made,
          liars: new Map(seats.map((seat, i) => [seat, lies[i] ?? lieNames[0]] as [number, keyof typeof LIES])),
        })),
    );

/** The start of a plan's ceremony, and the shares that seats deal with. A threshold of a reshare or repair is bounded by who has a share. */
function castOf({ kind, total, threshold }: Plan): {
  readonly start: StartAct;
  readonly shares: readonly (Share | undefined)[];
} {
  if (kind === "generate") return { start: startOf(total, threshold), shares: [] };
  if (kind === "refresh") return refreshOf(total, threshold);
  const most = Math.min(threshold, total - 1);
  return kind === "reshare" ? reshareOf(total, most) : repairOf(total, most);
}

/** Plays a plan, then lets everybody speak in turn until nothing new comes. */
function play(plan: Plan) {
  const people = custodians(plan.total);
  const { start, shares } = castOf(plan);
  const relays = Array.from({ length: plan.relays }, () => new Relay());
  for (const relay of relays) expect(relay.say(starter, start)).toBeUndefined();
  const held = (seat: number) => shares[seat - 1];
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
      keys: person.keys,
      state,
      view,
      at: NOW,
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

/** The scalars that a seat draws for what it deals, as they make what it commits to; then the nonce of its proof, which tells the constant. */
function drawnBy(state: CeremonyState, held: Share | undefined, view: TranscriptView): readonly bigint[] {
  const { start } = view;
  const { commitment } = seatDealing(nobleCrypto, state, view, held);
  if (commitment === undefined) return [];
  const random = state.derive(nobleCrypto, "polynomial", state.start);
  const draw = (count: number) => Array.from({ length: count }, () => randomScalar(random));
  const indexes = dealtIndexes(start);
  const weighted = (x: number) => scalars.mul(lagrange(indexes, held!.index, x), readScalar(held!.payload()));
  const points = pointsOf(start);
  const made = ((): readonly bigint[] => {
    if (start.kind === "generate") return draw(points);
    if (start.kind === "refresh") return [0n, ...draw(points - 1)];
    if (start.kind === "reshare") return [weighted(0), ...draw(points - 1)];
    const summands = draw(points - 1);
    return [...summands, summands.reduce((rest, one) => scalars.sub(rest, one), weighted(start.index))];
  })();
  expect(made.map((c) => base64(basePoint(c).toBytes()))).toEqual(commitment.commitments);
  const nonce = start.kind === "generate" ? draw(1) : [];
  expect(nonce.map((k) => base64(basePoint(k).toBytes()))).toEqual(
    commitment.proof === undefined ? [] : [base64(fromBase64(commitment.proof).subarray(0, 32))],
  );
  const values = start.kind === "repair" ? [] : start.seats.map((_, i) => evaluate(made, i + 1));
  return [...made, ...nonce, ...values];
}

/** What must never leave the process of an honest custodian, in hex: of transport secrets all but the one that a complaint has shown. */
function secretsOf(person: Person, state: CeremonyState, held: Share | undefined, relay: Relay): string[] {
  const own = person.keys.toBytes();
  const { view, entries } = relay;
  const { secret } = JSON.parse(Buffer.from(state.toBytes()).toString()) as { secret: string };
  const shown = entries.flatMap(({ author, act }) =>
    author === person.id && act.type === "complaint" ? [hex(fromBase64(act.transport_secret))] : [],
  );
  const dealt = drawnBy(state, held, view).filter((scalar) => scalar !== 0n);
  const all = [
    ...transportSecrets(state, view),
    ...dealt.map((scalar) => scalars.toBytes(scalar)),
    own.subarray(0, 32),
    own.subarray(32),
    fromBase64(secret),
    ...(held === undefined ? [] : [held.payload()]),
  ].map(hex);
  return all.filter((one) => !shown.includes(one));
}

/** Who tells a lie in which kind of ceremony: somebody whose part has it. */
const liarOf = (kind: Plan["kind"], lie: keyof typeof LIES): number =>
  kind === "reshare" || (kind === "repair" && lie === "confirms another hash") ? 1 : 2;
const told = KINDS.filter((kind) => kind !== "refresh").flatMap((kind) =>
  lieNames.filter((lie) => lie !== "contributes a wrong sum" || kind === "repair").map((lie) => [kind, lie] as const),
);

test.each(told)("a custodian who, in a %s, %s is blamed for it, or keeps the others waiting", (kind, lie) => {
  const seat = liarOf(kind, lie);
  const { view } = play({ kind, total: 3, threshold: 2, liars: new Map([[seat, lie]]), relays: 1, moves: [] }).relays[0]!;
  expect(view.blame?.reason).toBe(CAUGHT[lie]);
  expect(view.blame?.seat).toBe(CAUGHT[lie] && seat);
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
          const confirming = receiversOf(view.start).map((seat) => people[seat - 1]?.id ?? "");
          expect(words.map(({ author }) => author).sort()).toEqual([...confirming, witness.id].sort());
        }

        const shares: Share[] = [];
        for (const seat of honestSeats) {
          const outcome = outcomeOf(seat, relay);
          const given = receiversOf(view.start).includes(seat);
          expect(outcome.kind === (given ? "active" : "dealt")).toBe(view.status === "active");
          if (outcome.kind !== "active") continue;
          expect(outcome.crk).toEqual(view.crk);
          expect(crkSet(outcome.crk).accepts(outcome.share)).toBe(true);
          shares.push(outcome.share);
        }
        if (view.crk !== undefined && shares.length >= view.crk.threshold) {
          const signature = signWithShares(view.crk, submit(shares), Uint8Array.of(1), seeded("s"));
          expect(nobleCrypto.ed25519Verify(view.crk.publicKey, Uint8Array.of(1), signature)).toBe(true);
        }

        const said = texts(entries).join("\n");
        const secrets = honestSeats.flatMap((seat) => secretsOf(people[seat - 1]!, honest[seat - 1]!, held(seat), relay));
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
