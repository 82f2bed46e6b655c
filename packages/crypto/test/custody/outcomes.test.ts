import { base64, nobleCrypto } from "@seneschal/crypto";
import { seeded } from "@seneschal/crypto/arbitraries";
import {
  admitEntry,
  awaitedIn,
  ceremonyStep,
  confirmationOf,
  receiversOf,
  type StartAct,
  seatsFlaw,
  signEntry,
  type TranscriptEntry,
  witnessStep,
} from "@seneschal/crypto/custody";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sealPackage } from "../../src/custody/ceremony-package.ts";
import { transportKey } from "../../src/custody/transcript-view.ts";
import { begun, CEREMONY, custodians, NOW, person, refreshOf, repairOf, reshareOf, starter, startOf, witness } from "./rig.ts";

/** A ceremony of 2 of 3 in which all have accepted. */
function accepted() {
  const ceremony = begun(startOf(3, 2));
  for (let i = 0; i < 4; i++)
    for (const seat of [1, 2, 3]) for (const entry of ceremony.step(seat, undefined, false).entries) ceremony.relay.post(entry);
  const { view } = ceremony.relay;
  const as = (seat: number, more: { readonly confirm?: string; readonly at?: number } = {}) =>
    ceremonyStep(nobleCrypto, {
      keys: custodians(3)[seat - 1]!.keys,
      state: ceremony.states[seat - 1]!,
      view: ceremony.relay.view,
      at: NOW,
      ...more,
    });
  return { ...ceremony, transcript: view.transcript as string, as };
}
const other = base64(new Uint8Array(32));

describe("a step tells where the ceremony stands once its entries are in", () => {
  test("who accepts last is shown the hash, who has confirmed waits for the others", () => {
    const { relay, step } = begun(startOf(3, 2));
    const turn = (seat: number) => {
      const made = step(seat, undefined, false);
      for (const entry of made.entries) relay.post(entry);
      return made.outcome.kind;
    };
    for (let i = 0; i < 2; i++) for (const seat of [1, 2, 3]) expect(turn(seat)).toBe("waiting");
    expect([1, 2, 3].map(turn)).toEqual(["waiting", "waiting", "confirm"]);
    const { as, transcript } = accepted();
    expect(as(1, { confirm: transcript })).toMatchObject({ entries: [expect.anything()], outcome: { kind: "waiting" } });
  });

  test("who complains is told that the ceremony has failed, and who is to blame", () => {
    const { relay, step } = begun(startOf(3, 2));
    for (let i = 0; i < 1; i++) for (const seat of [1, 2, 3]) for (const entry of step(seat).entries) relay.post(entry);
    const ada = person("ada");
    const { round } = relay.view;
    const sealed = [2, 3].map((to) => {
      const place = { ceremony: CEREMONY, from: 1, to, transcript: round as string };
      return sealPackage(
        nobleCrypto,
        place,
        transportKey(relay.view, 1, to) ?? "",
        new Uint8Array(32).fill(7),
        seeded(`bad/${to}`),
      );
    });
    expect(relay.say(ada, { type: "packages", sealed })).toBeUndefined();
    for (const entry of step(2).entries) relay.post(entry);
    expect(step(2)).toMatchObject({
      entries: [{ act: { type: "complaint" } }],
      outcome: { kind: "failed", blame: { seat: 1, reason: "package" } },
    });
  });

  test("a hash that is not this transcript's is told as another one, by custodian and witness, and nothing is said", () => {
    const { as, transcript, relay } = accepted();
    expect(as(1, { confirm: other })).toMatchObject({ entries: [], outcome: { kind: "other_hash", transcript } });
    const seen = { keys: witness.keys, view: relay.view, at: NOW };
    expect(witnessStep(nobleCrypto, { ...seen, confirm: other })).toEqual({
      entries: [],
      outcome: { kind: "other_hash", transcript },
    });
    expect(witnessStep(nobleCrypto, seen)).toMatchObject({ entries: [], outcome: { kind: "confirm", transcript } });
  });

  test("who is late says nothing that everybody would refuse, and knows whether its own word is in", () => {
    const { as, transcript, relay } = accepted();
    const late = NOW + 3601;
    const by = { keys: witness.keys, view: relay.view, at: late, confirm: transcript };
    expect(witnessStep(nobleCrypto, by)).toEqual({ entries: [], outcome: { kind: "expired", confirmed: false } });
    for (const entry of as(1, { confirm: transcript }).entries as readonly TranscriptEntry[]) relay.post(entry);
    expect(as(1, { at: late, confirm: transcript }).outcome).toEqual({ kind: "expired", confirmed: true });
    expect(as(2, { at: late, confirm: transcript }).outcome).toEqual({ kind: "expired", confirmed: false });
  });

  test("a witness who confirms before others is told which seats have yet to confirm", () => {
    const { as, transcript, relay } = accepted();
    for (const entry of as(2, { confirm: transcript }).entries) relay.post(entry);
    const step = witnessStep(nobleCrypto, { keys: witness.keys, view: relay.view, at: NOW, confirm: transcript });
    expect(step).toMatchObject({
      entries: [expect.anything()],
      outcome: { kind: "waiting", awaited: { seats: [1, 3], witness: false } },
    });
  });

  test("a seat with whose keys was accepted what does not hold is told that it has no share, and whose package it was", () => {
    const { relay, step, people, states } = begun(startOf(3, 2));
    for (const seat of [1, 2, 3]) for (const entry of step(seat).entries) relay.post(entry);
    const round = relay.view.round as string;
    const sealed = [2, 3].map((to) => {
      const place = { ceremony: CEREMONY, from: 1, to, transcript: round };
      return sealPackage(
        nobleCrypto,
        place,
        transportKey(relay.view, 1, to) ?? "",
        new Uint8Array(32).fill(7),
        seeded(`bad/${to}`),
      );
    });
    relay.say(people[0]!, { type: "packages", sealed });
    for (const seat of [2, 3]) {
      const { entries } = ceremonyStep(nobleCrypto, {
        keys: people[seat - 1]!.keys,
        state: states[seat - 1]!,
        view: relay.view,
        at: NOW,
      });
      for (const { act } of entries) if (act.type === "packages") relay.say(people[seat - 1]!, act);
    }
    for (const who of people) expect(relay.say(who, { type: "accepted" })).toBeUndefined();
    for (const who of people) relay.say(who, confirmationOf("confirmation", relay.view));
    relay.say(witness, confirmationOf("witness", relay.view));
    expect(relay.view.status).toBe("active");
    expect(step(2)).toMatchObject({ entries: [], outcome: { kind: "no_share", against: [1] } });
    expect(step(1)).toMatchObject({ outcome: { kind: "active" } });
  });

  test("the witness's entry makes the key active when all have confirmed; nobody else witnesses", () => {
    const { as, transcript, relay } = accepted();
    for (const seat of [1, 2, 3]) for (const entry of as(seat, { confirm: transcript }).entries) relay.post(entry);
    const { entries, outcome } = witnessStep(nobleCrypto, { keys: witness.keys, view: relay.view, at: NOW, confirm: transcript });
    expect(outcome).toMatchObject({ kind: "witnessed", transcript });
    expect(entries.map((entry) => relay.post(entry))).toEqual([undefined]);
    expect(relay.view.status).toBe("active");
    expect(witnessStep(nobleCrypto, { keys: witness.keys, view: relay.view, at: NOW })).toMatchObject({ entries: [], outcome });
    const ada = { keys: person("ada").keys, view: relay.view, at: NOW };
    expect(() => witnessStep(nobleCrypto, ada)).toThrow(expect.objectContaining({ code: "protocol_invalid" }));
  });
});

/** What a model of the ceremony says: who has something to say, however far it has come and whoever was faster. */
describe("the next step that anybody is told is true in every state, for every part", () => {
  const kinds = {
    generate: () => ({ start: startOf(3, 2), shares: [] }),
    refresh: () => refreshOf(3, 2),
    reshare: () => reshareOf(4, 2),
    repair: () => repairOf(3),
  };
  test.each(Object.keys(kinds) as (keyof typeof kinds)[])(
    "in a %s: who is named has a word to say, who is not has none, and somebody is named until it is over",
    (kind) => {
      const turns = fc.array(fc.nat(), { minLength: 30, maxLength: 30 });
      fc.assert(
        fc.property(turns, (order) => {
          const { start, shares } = kinds[kind]();
          const { relay, people, states, step } = begun(start, shares);
          const seats = people.map((_, i) => i + 1);
          const asWitness = () => {
            const { view } = relay;
            const confirm = view.transcript === undefined ? {} : { confirm: view.transcript };
            return witnessStep(nobleCrypto, { keys: witness.keys, view, at: NOW, ...confirm });
          };
          /** A step that is looked at and not taken. */
          const look = (seat: number) => {
            const kept = states[seat - 1]!;
            const made = step(seat);
            states[seat - 1] = kept;
            return made;
          };
          for (let i = 0; relay.view.status === "open"; i++) {
            const before = awaitedIn(relay.view);
            const talkers = seats.filter((seat) => look(seat).entries.length > 0);
            expect({ seats: talkers, witness: asWitness().entries.length > 0 }).toEqual(before);
            expect(before.seats.length + Number(before.witness)).toBeGreaterThan(0);
            // Now and then it is the turn of somebody who has nothing to say.
            const due = [...before.seats, ...(before.witness ? [0] : [])];
            const pick = order[i % order.length]!;
            const among = pick % 4 === 0 ? [...seats, 0] : due;
            const who = among[pick % among.length]!;
            const { entries, outcome } = who === 0 ? asWitness() : step(who);
            for (const entry of entries) expect(relay.post(entry)).toBeUndefined();
            const { view } = relay;
            if (outcome.kind === "waiting") expect(outcome.awaited).toEqual(awaitedIn(view));
            const last = who === 0 ? "witnessed" : "completes";
            const toConfirm =
              view.transcript !== undefined && (who === 0 ? !view.witnessed : awaitedIn(view).seats.includes(who));
            expect(outcome.kind).toBe(view.status === "active" ? last : toConfirm ? "confirm" : "waiting");
          }
          expect(awaitedIn(relay.view)).toEqual({ seats: [], witness: false });
          const given = seats.map((seat) => [seat, step(seat).outcome.kind]);
          expect(given).toEqual(seats.map((seat) => [seat, receiversOf(start).includes(seat) ? "active" : "dealt"]));
        }),
        { numRuns: Number(process.env["FC_RUNS"] ?? 1) },
      );
    },
  );

  test("in a start that contradicts itself, the seats are named that do", () => {
    const { seats } = startOf(3, 2);
    const [ada, bob] = seats as [(typeof seats)[0], (typeof seats)[0]];
    const renamed = { ...ada, custodian_id: "another name" };
    const reshare = reshareOf(4, 2).start;
    const repair = repairOf(3).start;
    const flaws: readonly (readonly [StartAct, string | undefined])[] = [
      [startOf(3, 2), undefined],
      [startOf(3, 2, { seats: [ada, bob, ada] }), "seat 1 and seat 3 are one person"],
      [startOf(3, 2, { seats: [ada, bob, renamed] }), "seat 1 and seat 3 have one signing key"],
      [startOf(3, 2, { witness: bob }), "seat 2 and the witness are one person"],
      [startOf(3, 2, { starter: witness.card }), "the witness and the starter are one person"],
      [startOf(3, 2, { starter: { ...ada, org_id: "globex" } }), "seat 1 and the starter are one person"],
      [startOf(3, 2, { starter: ada }), undefined],
      [startOf(3, 4), "the threshold, 4, is above the number of 3 seats"],
      [reshare, undefined],
      [{ ...reshare, deals: [2, 0, 0, 9] }, "seat 4 deals with the share of index 9, of which the key has 4"],
      [{ ...reshare, deals: [4, 0, 0, 4] }, "seat 1 and seat 4 deal with the share of one index, 4"],
      [{ ...reshare, deals: [2, 4, 0, 0] }, "seat 4 has no part: it neither deals nor is given a share"],
      [{ ...reshare, deals: [0, 0, 0, 4] }, "1 seats deal, and the key needs 2"],
      [repair, undefined],
      [{ ...repair, deals: [4, 5, 1] }, "seat 1 is given its share back, and deals with none"],
      [{ ...repair, deals: [0, 3, 1] }, "seat 2 deals with the share of index 3, which is lost"],
    ];
    for (const [start, flaw] of flaws) {
      expect(seatsFlaw(start)).toBe(flaw);
      const entry = signEntry(starter.keys, { ceremony: CEREMONY, author: start.starter.custodian_id, at: NOW }, start);
      const admission = admitEntry(nobleCrypto, undefined, entry);
      expect(admission).toMatchObject(flaw === undefined ? {} : { admitted: false, reason: "seats", flaw });
    }
  });
});
