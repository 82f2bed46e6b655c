import {
  type Custodian,
  createSigningSession,
  type Holder,
  type SigningKey,
  type SigningSession,
  type SigningSessionInput,
  signingSessionStatus,
  stepSigningSession,
} from "@seneschal/core/keys";
import { isCoded } from "@seneschal/kernel";
import fc from "fast-check";
import { expect, test } from "vitest";

const start = Date.UTC(2026, 0, 1);
const lifetime = 60_000;
const holders: readonly Holder[] = ["ada", "bob", "cy", "dan", "eve"].map((identity_id) => ({
  identity_id,
  identity_type: "user",
  name: identity_id,
  emails: [`${identity_id}@acme.example`],
}));
type Piece = { readonly index: number };
type Session = SigningSession<Piece, Piece>;
const custodians: readonly Custodian[] = holders.slice(0, 4).map((holder, i) => ({ ...holder, index: i + 1 }));
const keyOf = (threshold: number): SigningKey => ({
  id: "k",
  version: 1,
  status: "active",
  threshold,
  total_shares: 5,
  custodians,
});

const piece = fc.record({ index: fc.integer({ min: 0, max: 6 }) });
const holder = fc.constantFrom(...holders, undefined);
const steps = fc.array(
  fc.record({
    kind: fc.constantFrom("commit", "commit", "sign", "sign", "complete"),
    piece,
    /** Mostly whose index it is. */
    own: fc.constantFrom(true, true, true, false),
    holder,
    active: fc.constantFrom(holders, holders, holders.slice(1)),
    later: fc.constantFrom(0, 0, 0, 1000, 20_000),
    rotated: fc.constantFrom(false, false, false, false, true),
  }),
  { maxLength: 40 },
);

test("each custodian commits once and signs once, nobody for another, in turn and in time, with the shares that the key has; as many as its threshold sign it", () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 3 }), steps, (threshold, history) => {
      const key = keyOf(threshold);
      let session: Session = createSigningSession({ id: "s", org: "acme", by: "ada", key }, start, lifetime);
      let now = start;
      for (const one of history) {
        now += one.later;
        const { index } = one.piece;
        const by = one.own ? custodians.find((custodian) => custodian.index === index) : one.holder;
        const input: SigningSessionInput<Piece, Piece> =
          one.kind === "commit"
            ? { kind: "commit", commitment: one.piece, holder: by, seats: session.seats ?? [] }
            : one.kind === "sign"
              ? { kind: "sign", part: one.piece, holder: by }
              : { kind: "complete", active: one.active.map(({ identity_id }) => identity_id) };
        const before = session;
        const usable = { ...key, ...(one.rotated && { version: 2 }) };
        try {
          session = stepSigningSession<Piece, Piece, Session>(before, input, usable, now);
        } catch (error) {
          if (!isCoded(error)) throw error;
          seen.add(error.code);
          continue;
        }
        seen.add(`${input.kind} ${session.status}`);
        expect([signingSessionStatus(before, now), one.rotated]).toEqual([
          input.kind === "commit" ? "committing" : "signing",
          false,
        ]);
        const indexes = (of: readonly Piece[]) => of.map((given) => given.index);
        expect(new Set(indexes(session.commitments)).size).toBe(session.commitments.length);
        expect(new Set(indexes(session.parts)).size).toBe(session.parts.length);
        if (input.kind !== "complete") expect(by?.identity_id).toBe(custodians[index - 1]?.identity_id);
        expect(session.commitments.length).toBeLessThanOrEqual(threshold);
        expect(session.status === "committing").toBe(session.commitments.length < threshold);
        for (const part of indexes(session.parts)) expect(indexes(session.commitments)).toContain(part);
        if (session.status === "completed") {
          expect(session.parts).toHaveLength(threshold);
          for (const part of indexes(session.parts)) {
            const who = custodians[part - 1]?.identity_id;
            expect(one.active.some(({ identity_id }) => identity_id === who)).toBe(true);
          }
        }
      }
    }),
    { numRuns: 500 },
  );
  for (const outcome of [
    "commit committing",
    "commit signing",
    "sign signing",
    "FORBIDDEN",
    "CONFLICT",
    "STATE_CONFLICT",
    "CRK_THRESHOLD_NOT_MET",
  ])
    expect(seen).toContain(outcome);
});

test("custodians who are all still there complete a session; one that has left stops it, and a session of a release that kept no seats does not go on", () => {
  const key = keyOf(2);
  let session: Session = createSigningSession({ id: "s", org: "acme", by: "ada", key }, start, lifetime);
  const step = (input: SigningSessionInput<Piece, Piece>) =>
    stepSigningSession<Piece, Piece, Session>(session, input, key, start);
  for (const index of [2, 3])
    session = step({ kind: "commit", commitment: { index }, holder: holders[index - 1], seats: session.seats ?? [] });
  for (const index of [3, 2]) session = step({ kind: "sign", part: { index }, holder: holders[index - 1] });
  expect(() => step({ kind: "complete", active: ["ada", "bob"] })).toThrow(expect.objectContaining({ code: "STATE_CONFLICT" }));
  expect(step({ kind: "complete", active: ["bob", "cy"] }).status).toBe("completed");
  const { seats: _, ...seatless } = session;
  expect(() =>
    stepSigningSession<Piece, Piece, Session>(seatless, { kind: "complete", active: ["bob", "cy"] }, key, start),
  ).toThrow("it is expired");
});
