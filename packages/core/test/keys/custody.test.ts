import { isCoded } from "@seneschal/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  assignCustodian,
  type Custodian,
  type CustodianSeat,
  type Holder,
  keepSeats,
  nameCustodians,
  requireSeated,
  succeedCustodians,
  takeSeat,
} from "../../src/keys/index.ts";

const now = Date.UTC(2026, 0, 2);
const code = (run: () => unknown): string => {
  try {
    run();
    return "ok";
  } catch (error) {
    return isCoded(error) ? error.code : "not coded";
  }
};

/** Six people; some have a second account, which only the address gives away. */
const person = fc.integer({ min: 1, max: 6 });
const account = fc.tuple(person, fc.boolean()).map(
  ([n, second]): Holder => ({
    identity_id: `p${n}${second ? "-again" : ""}`,
    identity_type: second ? "user" : "admin",
    name: `Person ${n}`,
    emails: second ? [`other-${n}@x.example`, `P${n}@X.example`] : [`p${n}@x.example`],
  }),
);
const whoIs = ({ identity_id }: Holder): string => identity_id.slice(0, 2);
const index = fc.integer({ min: -1, max: 7 });
const total = 5;
const free = fc.constantFrom("everybody" as const, "nobody" as const);

function oneSeatOnePerson(seats: readonly Custodian[]): void {
  expect(new Set(seats.map((seat) => seat.index)).size).toBe(seats.length);
  expect(new Set(seats.map(whoIs)).size).toBe(seats.length);
  expect(seats.map((seat) => seat.index)).toEqual(seats.map((seat) => seat.index).toSorted((a, b) => a - b));
  for (const seat of seats) expect(seat.index >= 1 && seat.index <= total).toBe(true);
}

describe("custody", () => {
  it("one seat, one person: whoever tries whatever seat in whatever order, under whichever account", () => {
    const kept = fc
      .array(fc.record({ index: fc.integer({ min: 1, max: total }), holder: account }))
      .filter((named) => code(() => nameCustodians(named, total)) === "ok")
      .map((named) => nameCustodians(named, total));
    fc.assert(
      fc.property(kept, fc.array(fc.tuple(index, fc.option(account, { nil: undefined }), free)), (custodians, attempts) => {
        let seats: readonly CustodianSeat[] = keepSeats(custodians);
        for (const [at, holder, opened] of attempts) {
          const before = seats;
          const result = code(() => {
            seats = takeSeat(seats, { index: at, total, holder, free: opened }, now);
          });
          const keeper = custodians.find((one) => one.index === at);
          if (holder === undefined) expect(result).toBe("FORBIDDEN");
          else if (at < 1 || at > total) expect(result).toBe("VALIDATION_ERROR");
          else if (keeper !== undefined && result === "ok") expect(keeper.identity_id).toBe(holder.identity_id);
          else if (keeper === undefined && opened === "nobody" && !before.some((one) => one.index === at)) {
            expect(result).toBe("FORBIDDEN");
          }
          if (result !== "ok") expect(seats).toBe(before);
          oneSeatOnePerson(seats);
          // Whoever sits, sits until the end.
          for (const seat of before) if (seat.taken_at !== null) expect(seats).toContainEqual(seat);
        }
      }),
    );
  });

  it("what a seat's holder has brought counts only while that identity is registered and active", () => {
    fc.assert(
      fc.property(fc.uniqueArray(person, { minLength: 1, maxLength: total }), fc.subarray([1, 2, 3, 4, 5, 6]), (people, left) => {
        const seats = people.reduce<readonly CustodianSeat[]>((sum, n, i) => {
          const holder: Holder = { identity_id: `p${n}`, identity_type: "user", name: "", emails: [`p${n}@x.example`] };
          return takeSeat(sum, { index: i + 1, total, holder, free: "everybody" }, now);
        }, []);
        const active = people.filter((n) => !left.includes(n)).map((n) => `p${n}`);
        const indexes = people.map((_, i) => i + 1);
        const result = code(() => requireSeated(seats, indexes, active));
        expect(result).toBe(active.length === people.length ? "ok" : "STATE_CONFLICT");
        expect(code(() => requireSeated(seats, [...indexes, people.length + 1], active))).toBe("STATE_CONFLICT");
      }),
    );
  });

  it("a seat that is kept is not one that was taken", () => {
    const holder: Holder = { identity_id: "p1", identity_type: "user", name: "", emails: [] };
    expect(code(() => requireSeated(keepSeats([{ ...holder, index: 1 }]), [1], ["p1"]))).toBe("STATE_CONFLICT");
  });

  it("a key's custodians are distinct people through every assignment and rotation", () => {
    const change = fc.oneof(
      fc.record({ kind: fc.constant("assign" as const), index, holder: account }),
      fc.record({
        kind: fc.constant("rotate" as const),
        named: fc.array(fc.record({ index: fc.integer({ min: 1, max: total }), holder: account }), { maxLength: 3 }),
        left: fc.subarray(["p1", "p2", "p3"]),
      }),
    );
    fc.assert(
      fc.property(fc.array(change), (changes) => {
        let custodians: readonly Custodian[] = [];
        for (const one of changes) {
          if (one.kind === "assign") {
            code(() => {
              custodians = assignCustodian(custodians, total, { ...one.holder, index: one.index });
            });
          } else if (code(() => nameCustodians(one.named, total)) === "ok") {
            const active = custodians.map((c) => c.identity_id).filter((id) => !one.left.includes(id));
            const named = nameCustodians(one.named, total);
            custodians = succeedCustodians(custodians, named, total, active);
            for (const id of one.left) {
              if (!named.some((n) => n.identity_id === id)) expect(custodians.map((c) => c.identity_id)).not.toContain(id);
            }
            for (const n of named) expect(custodians).toContainEqual(n);
          }
          oneSeatOnePerson(custodians);
        }
      }),
    );
  });
});
