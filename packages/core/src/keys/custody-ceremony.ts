import { checkArgument } from "@seneschal/kernel";
import { invalidField, refusal } from "./codes.ts";
import { lifetimes } from "./lifetimes.ts";
import { isPast, type Timestamp, timestamp } from "./time.ts";

/** `open` awaits entries. What stands in the transcript makes it `active`, `failed` or `ended`; the gateway `cancelled` or `expired`. */
export const custodyCeremonyStatuses = ["open", "active", "failed", "ended", "cancelled", "expired"] as const;
export type CustodyCeremonyStatus = (typeof custodyCeremonyStatuses)[number];
export const custodyCeremonyKinds = ["generate", "refresh", "reshare", "repair"] as const;

/** Whose signed acts a ceremony consists of. `seat` is 0 for the witness and for a starter without a seat. */
export interface CeremonyParticipant {
  readonly seat: number;
  readonly role: "custodian" | "witness" | "starter";
  /** The enrolment whose card stands in the start. */
  readonly enrollment_id: string;
  readonly identity_id: string;
  readonly fingerprint: string;
}

/** A ceremony among custodians' own clients: the gateway relays what they sign, and has no part in the key. */
export interface CustodyCeremony {
  readonly id: string;
  readonly org_id: string;
  /** Its name in the transcript, of the starter's choice. */
  readonly ceremony: string;
  readonly kind: (typeof custodyCeremonyKinds)[number];
  readonly status: CustodyCeremonyStatus;
  readonly threshold: number;
  readonly total_shares: number;
  readonly participants: readonly CeremonyParticipant[];
  /** So many entries there are, and the hash of the last. */
  readonly entries: number;
  readonly head: string;
  /** The key that was made, or whose shares are renewed, handed on or repaired. */
  readonly crk_id: string | null;
  /** The version of the key that its shares are of, once it is active. */
  readonly crk_version: number | null;
  readonly started_by: string;
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
  readonly expires_at: Timestamp;
}

/**
 * Whether a ceremony of this kind gives a key that exists new shares: meanwhile the key is rotating.
 *
 * @example
 * ```ts
 * import { rotatesShares } from "@seneschal/core/keys";
 * console.log(rotatesShares("reshare"), rotatesShares("generate")); // true false
 * ```
 */
export function rotatesShares(kind: CustodyCeremony["kind"]): boolean {
  return kind === "refresh" || kind === "reshare";
}

/**
 * The participants without whom the ceremony cannot come to its end: who will have a share by it, the witness and the starter, and who has
 * not dealt yet. Who only deals, in a reshare or a repair, and has done so, may be gone by then: a key is handed on by people who leave,
 * and what they dealt was checked. `done`: seats that have dealt all that they deal.
 *
 * @example
 * ```ts
 * import { awaitedParticipants } from "@seneschal/core/keys";
 * const seat = (seat: number) => ({ seat, role: "custodian", enrollment_id: `e${seat}`, identity_id: `c${seat}`, fingerprint: "00" }) as const;
 * const given = { kind: "reshare", total_shares: 2, participants: [seat(1), seat(2), seat(3)] } as const;
 * console.log(awaitedParticipants(given, [3]).map(({ identity_id }) => identity_id)); // [ 'c1', 'c2' ]
 * ```
 */
export function awaitedParticipants(
  given: Pick<CustodyCeremony, "kind" | "total_shares" | "participants">,
  done: readonly number[],
): readonly CeremonyParticipant[] {
  checkArgument("given", given, "object");
  checkArgument("done", done, "array");
  const { kind, total_shares, participants } = given;
  const givenShare = kind === "repair" ? 1 : total_shares;
  return participants.filter(({ role, seat }) => role !== "custodian" || seat <= givenShare || !done.includes(seat));
}

/** Clocks of custodians may be off by so much. */
const CLOCK_SKEW = 5 * 60 * 1000;

/**
 * The status at a moment: what is open expires by itself.
 *
 * @example
 * ```ts
 * import { custodyCeremonyStatus } from "@seneschal/core/keys";
 * const at = "1970-01-01T00:00:00.000Z";
 * const begun = { id: "c1", org_id: "acme", ceremony: "00", kind: "generate", status: "open", threshold: 2, total_shares: 3, participants: [] } as const;
 * const rest = { entries: 0, head: "", crk_id: null, crk_version: null, started_by: "ada", created_at: at, updated_at: at };
 * const ceremony = { ...begun, ...rest, expires_at: "1970-01-01T00:00:01.000Z" };
 * console.log(custodyCeremonyStatus(ceremony, 999), custodyCeremonyStatus(ceremony, 1000)); // open expired
 * ```
 */
export function custodyCeremonyStatus(ceremony: CustodyCeremony, now: number): CustodyCeremonyStatus {
  checkArgument("ceremony", ceremony, "object");
  checkArgument("now", now, "number");
  return ceremony.status === "open" && isPast(ceremony.expires_at, now) ? "expired" : ceremony.status;
}

/**
 * How long a start may give the custodians. Throws `VALIDATION_ERROR`. `expiresAt` in whole seconds.
 *
 * @example
 * ```ts
 * import { requireCustodyTerm } from "@seneschal/core/keys";
 * console.log(requireCustodyTerm(3600, 0)); // 1970-01-01T01:00:00.000Z
 * ```
 */
export function requireCustodyTerm(expiresAt: number, now: number): Timestamp {
  checkArgument("expiresAt", expiresAt, "number");
  checkArgument("now", now, "number");
  if (expiresAt * 1000 <= now) throw invalidField("entry.act.expires_at", "is over already");
  if (expiresAt * 1000 > now + lifetimes.custodyCeremonyMax) {
    throw invalidField("entry.act.expires_at", `at most ${lifetimes.custodyCeremonyMax / 86_400_000} days from now`);
  }
  return timestamp(expiresAt * 1000);
}

/**
 * Whether an entry may be relayed, before it is looked at whether it fits the transcript: by its author, in time, by a clock that is
 * about right. Throws `STATE_CONFLICT`, `FORBIDDEN`, `VALIDATION_ERROR`. `at` in whole seconds.
 *
 * @example
 * ```ts
 * import { requireRelayed } from "@seneschal/core/keys";
 * requireRelayed({ author: "c1", at: 0 }, "c1", 0);
 * try {
 *   requireRelayed({ author: "c1", at: 0 }, "c2", 0);
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // FORBIDDEN
 * }
 * ```
 */
export function requireRelayed(entry: { readonly author: string; readonly at: number }, caller: string, now: number): void {
  checkArgument("entry", entry, "object");
  checkArgument("caller", caller, "string");
  checkArgument("now", now, "number");
  if (entry.author !== caller) throw refusal("FORBIDDEN", "an entry is brought by who signed it");
  if (Math.abs(entry.at * 1000 - now) > CLOCK_SKEW)
    throw invalidField("entry.at", "is more than five minutes from this server's clock");
}

/**
 * Throws `STATE_CONFLICT` unless the ceremony awaits entries.
 *
 * @example
 * ```ts
 * import { requireOpenCeremony } from "@seneschal/core/keys";
 * const at = "1970-01-01T00:00:00.000Z";
 * const begun = { id: "c1", org_id: "acme", ceremony: "00", kind: "generate", status: "open", threshold: 2, total_shares: 3, participants: [] } as const;
 * const rest = { entries: 0, head: "", crk_id: null, crk_version: null, started_by: "ada", created_at: at, updated_at: at };
 * try {
 *   requireOpenCeremony({ ...begun, ...rest, expires_at: "1970-01-01T00:00:01.000Z" }, 1000);
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // STATE_CONFLICT
 * }
 * ```
 */
export function requireOpenCeremony(ceremony: CustodyCeremony, now: number): void {
  checkArgument("ceremony", ceremony, "object");
  checkArgument("now", now, "number");
  const status = custodyCeremonyStatus(ceremony, now);
  if (status !== "open") throw refusal("STATE_CONFLICT", `the ceremony is ${status}`, { status });
}
