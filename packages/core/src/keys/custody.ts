import { checkArgument } from "@seneschal/kernel";
import { invalidField, refusal } from "./codes.ts";
import { isSamePerson } from "./person.ts";
import { type Timestamp, timestamp } from "./time.ts";

/** Identities that are people: nothing else holds a share of a root key. */
export const custodianTypes = ["admin", "user"] as const;
export type CustodianType = (typeof custodianTypes)[number];

/** Somebody who may hold a share: an identity that is registered with the organisation and active now. */
export interface Holder {
  readonly identity_id: string;
  readonly identity_type: CustodianType;
  readonly name: string;
  /** Every address that records, or the holder's own tokens, give this person. */
  readonly emails: readonly string[];
}

/** Who holds the share of an index. */
export type Custodian = Holder & { readonly index: number };

/** A custodian's place in a ceremony or session. `taken_at` is `null` while it is kept for its holder. */
export type CustodianSeat = Custodian & { readonly taken_at: Timestamp | null };

const same = (a: Holder, b: Holder): boolean => isSamePerson(asPerson(a), asPerson(b));
const asPerson = ({ identity_id, emails }: Holder) => ({ id: identity_id, emails, accounts: "registered" });

function requireIndex(index: number, total: number, field: string): void {
  if (index < 1 || index > total) throw invalidField(field, `must be between 1 and ${total}`);
}

/**
 * Names who is to hold which index: each index one holder, each person one index. `undefined` stands for an identity that is
 * not registered or not active. Throws `VALIDATION_ERROR`.
 *
 * @example
 * ```ts
 * import { nameCustodians } from "@seneschal/core/keys";
 * const bob = { identity_id: "bob", identity_type: "user", name: "Bob", emails: ["bob@acme.example"] } as const;
 * console.log(nameCustodians([{ index: 2, holder: bob }], 3).map(({ index, name }) => `${index} ${name}`)); // [ '2 Bob' ]
 * ```
 */
export function nameCustodians(
  named: readonly { readonly index: number; readonly holder: Holder | undefined }[],
  total: number,
): readonly Custodian[] {
  checkArgument("named", named, "array");
  checkArgument("total", total, "number");
  const custodians: Custodian[] = [];
  for (const [i, { index, holder }] of named.entries()) {
    requireIndex(index, total, `custodians[${i}].index`);
    if (holder === undefined) {
      throw invalidField(`custodians[${i}].identity_id`, "must be a registered, active admin or user of the organisation");
    }
    for (const other of custodians) {
      if (other.index === index) throw invalidField(`custodians[${i}].index`, "is named twice");
      if (same(other, holder))
        throw invalidField(`custodians[${i}].identity_id`, `is the same person as at index ${other.index}`);
    }
    custodians.push({ ...holder, index });
  }
  return inOrder(custodians);
}

/**
 * Seats that are kept for the custodians of a key.
 *
 * @example
 * ```ts
 * import { keepSeats } from "@seneschal/core/keys";
 * const bob = { identity_id: "bob", identity_type: "user", name: "Bob", emails: ["bob@acme.example"] } as const;
 * console.log(keepSeats([{ ...bob, index: 2 }])[0]?.taken_at); // null
 * ```
 */
export function keepSeats(custodians: readonly Custodian[]): readonly CustodianSeat[] {
  checkArgument("custodians", custodians, "array");
  return custodians.map((custodian) => ({ ...custodian, taken_at: null }));
}

/**
 * Takes a seat: one seat, one person, known by name. `holder` is the caller, `undefined` unless registered and active. A seat that is
 * kept for somebody is that identity's only. `free`: who may take a seat that is kept for nobody, everybody or nobody. Throws
 * `FORBIDDEN`, `VALIDATION_ERROR` for an index that is none, `CONFLICT` for a taken seat and for a person who has another.
 *
 * @example
 * ```ts
 * import { takeSeat } from "@seneschal/core/keys";
 * const ada = { identity_id: "0199", identity_type: "user", name: "Ada", emails: ["ada@acme.example"] } as const;
 * const seats = takeSeat([], { index: 1, total: 3, holder: ada, free: "everybody" }, 0);
 * try {
 *   takeSeat(seats, { index: 2, total: 3, holder: { ...ada, identity_id: "second-account" }, free: "everybody" }, 0);
 * } catch (error) {
 *   console.log((error as { code: string }).code); // CONFLICT
 * }
 * ```
 */
export function takeSeat(
  seats: readonly CustodianSeat[],
  given: {
    readonly index: number;
    readonly total: number;
    readonly holder: Holder | undefined;
    readonly free: "everybody" | "nobody";
  },
  now: number,
): readonly CustodianSeat[] {
  checkArgument("seats", seats, "array");
  checkArgument("given", given, "object");
  checkArgument("now", now, "number");
  const { index, total, holder, free } = given;
  if (holder === undefined) {
    throw refusal("FORBIDDEN", "a custodian is a registered, active admin or user of the organisation");
  }
  requireIndex(index, total, "index");
  const seat = seats.find((one) => one.index === index);
  if (seat !== undefined && seat.taken_at === null && seat.identity_id !== holder.identity_id) {
    throw refusal("FORBIDDEN", `index ${index} is another custodian's`, { index });
  }
  if (seat === undefined && free === "nobody") {
    throw refusal("FORBIDDEN", `nobody is recorded as the custodian of index ${index}`, { index });
  }
  if (seat !== undefined && seat.taken_at !== null) throw refusal("CONFLICT", `index ${index} is taken already`, { index });
  const other = seats.find((one) => one.index !== index && same(one, holder));
  if (other !== undefined) {
    throw refusal("CONFLICT", `this person holds index ${other.index}: one person, one seat`, { index: other.index });
  }
  const taken: CustodianSeat = { ...holder, index, taken_at: timestamp(now) };
  return inOrder([...seats.filter((one) => one !== seat), taken]);
}

/**
 * What a ceremony comes to rests on people who are still there: every one of these indexes has a seat that was taken, by an identity
 * that is among `active`. Throws `STATE_CONFLICT` with the indexes.
 *
 * @example
 * ```ts
 * import { requireSeated } from "@seneschal/core/keys";
 * const bob = { identity_id: "bob", identity_type: "user", name: "Bob", emails: ["bob@acme.example"] } as const;
 * const seats = [{ ...bob, index: 1, taken_at: "2026-01-01T00:00:00.000Z" }];
 * requireSeated(seats, [1], ["bob"]);
 * try {
 *   requireSeated(seats, [1], []);
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // STATE_CONFLICT
 * }
 * ```
 */
export function requireSeated(seats: readonly CustodianSeat[], indexes: readonly number[], active: readonly string[]): void {
  checkArgument("seats", seats, "array");
  checkArgument("indexes", indexes, "array");
  checkArgument("active", active, "array");
  const empty = indexes.filter(
    (index) => !seats.some((seat) => seat.index === index && seat.taken_at !== null && active.includes(seat.identity_id)),
  );
  if (empty.length > 0) {
    throw refusal("STATE_CONFLICT", "the holder of a seat is not a registered, active identity any more: cancel and start anew", {
      indexes: empty,
    });
  }
}

/**
 * Gives an index of a key a custodian, in place of whoever had it. Throws `VALIDATION_ERROR`, `CONFLICT`.
 *
 * @example
 * ```ts
 * import { assignCustodian } from "@seneschal/core/keys";
 * const bob = { identity_id: "bob", identity_type: "user", name: "Bob", emails: ["bob@acme.example"] } as const;
 * console.log(assignCustodian([], 3, { ...bob, index: 2 }).map(({ index, name }) => `${index} ${name}`)); // [ '2 Bob' ]
 * ```
 */
export function assignCustodian(custodians: readonly Custodian[], total: number, custodian: Custodian): readonly Custodian[] {
  checkArgument("custodians", custodians, "array");
  checkArgument("total", total, "number");
  checkArgument("custodian", custodian, "object");
  requireIndex(custodian.index, total, "index");
  const rest = custodians.filter(({ index }) => index !== custodian.index);
  const other = rest.find((one) => same(one, custodian));
  if (other !== undefined) {
    throw refusal("CONFLICT", `this person holds index ${other.index}: one person, one seat`, { index: other.index });
  }
  return inOrder([...rest, custodian]);
}

/**
 * Who holds the shares that a rotation deals: those named for it; else whoever holds the index now and is among `active`. What
 * is left belongs to nobody until it is assigned.
 *
 * @example
 * ```ts
 * import { succeedCustodians } from "@seneschal/core/keys";
 * const holder = (identity_id: string) =>
 *   ({ identity_id, identity_type: "user", name: identity_id, emails: [`${identity_id}@acme.example`] }) as const;
 * const present = [{ ...holder("bob"), index: 1 }];
 * console.log(succeedCustodians(present, [{ ...holder("eve"), index: 2 }], 3, ["bob", "eve"]).map(({ name }) => name)); // [ 'bob', 'eve' ]
 * ```
 */
export function succeedCustodians(
  present: readonly Custodian[],
  named: readonly Custodian[],
  total: number,
  active: readonly string[],
): readonly Custodian[] {
  checkArgument("present", present, "array");
  checkArgument("named", named, "array");
  checkArgument("total", total, "number");
  checkArgument("active", active, "array");
  const staying = present.filter(
    (one) =>
      one.index <= total &&
      active.includes(one.identity_id) &&
      !named.some((other) => other.index === one.index || same(other, one)),
  );
  return inOrder([...named, ...staying]);
}

function inOrder<T extends { readonly index: number }>(items: readonly T[]): readonly T[] {
  return [...items].sort((a, b) => a.index - b.index);
}
