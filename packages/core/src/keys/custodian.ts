import { checkArgument } from "@seneschal/kernel";
import { invalidField, refusal } from "./codes.ts";
import type { CustodianType } from "./custody.ts";
import { isSamePerson, type Person } from "./person.ts";
import { type Timestamp, timestamp } from "./time.ts";
import { nextStatus, type TransitionTable, to, wrongState } from "./transition.ts";

export const custodianStatuses = ["pending", "active", "revoked"] as const;
export type CustodianStatus = (typeof custodianStatuses)[number];
type EnrolledCustodianInput = "confirm" | "revoke";

/** So many other persons must have compared a card's fingerprint with its holder before its keys count. */
export const CONFIRMATIONS = 2;

/** A person who has compared the fingerprint. */
export interface CardConfirmation {
  readonly identity_id: string;
  readonly emails: readonly string[];
  readonly confirmed_at: Timestamp;
}

/** The keys of a custodian, enrolled with the organisation by who holds them: good for nothing until others have confirmed them. */
export interface EnrolledCustodian {
  readonly id: string;
  readonly org_id: string;
  readonly identity_id: string;
  readonly identity_type: CustodianType;
  readonly name: string;
  /** Lower-case hex. */
  readonly fingerprint: string;
  readonly status: CustodianStatus;
  readonly confirmations: readonly CardConfirmation[];
  readonly revoked_by: string | null;
  /** Organisations that are given the card by the holder's word; absent: none. */
  readonly partners?: readonly string[];
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
}

/** `confirm` leads to `active` with the last of {@link CONFIRMATIONS}. */
export const custodianTable: TransitionTable<CustodianStatus, EnrolledCustodianInput> = {
  pending: { confirm: to("active"), revoke: to("revoked") },
  active: { confirm: wrongState, revoke: to("revoked") },
  revoked: { confirm: wrongState, revoke: wrongState },
};

/**
 * Keys that somebody has just shown to hold.
 *
 * @example
 * ```ts
 * import { enrollCustodian } from "@seneschal/core/keys";
 * const input = { id: "e1", org_id: "acme", identity_id: "bob", identity_type: "user", name: "Bob", fingerprint: "00" } as const;
 * console.log(enrollCustodian(input, 0).status); // pending
 * ```
 */
export function enrollCustodian(
  input: Pick<EnrolledCustodian, "id" | "org_id" | "identity_id" | "identity_type" | "name" | "fingerprint">,
  now: number,
): EnrolledCustodian {
  checkArgument("input", input, "object");
  checkArgument("now", now, "number");
  const at = timestamp(now);
  return { ...input, status: "pending", confirmations: [], revoked_by: null, created_at: at, updated_at: at };
}

/**
 * Somebody says that the keys are this person's. `by` confirms, `holder` holds the keys, `before` have confirmed: three persons at least.
 * Throws `STATE_CONFLICT`, `FORBIDDEN` for the holder and for who has confirmed, `VALIDATION_ERROR` for another fingerprint.
 *
 * @example
 * ```ts
 * import { confirmCustodian, enrollCustodian } from "@seneschal/core/keys";
 * const input = { id: "e1", org_id: "acme", identity_id: "bob", identity_type: "user", name: "Bob", fingerprint: "00" } as const;
 * const person = (id: string) => ({ id, emails: [`${id}@acme.example`], accounts: "people" });
 * const given = { by: person("ada"), holder: person("bob"), before: [], fingerprint: "00" };
 * console.log(confirmCustodian(enrollCustodian(input, 0), given, 1).confirmations.length); // 1
 * ```
 */
export function confirmCustodian(
  custodian: EnrolledCustodian,
  given: {
    readonly by: Person;
    readonly holder: Person;
    readonly before: readonly Person[];
    readonly fingerprint: string;
  },
  now: number,
): EnrolledCustodian {
  checkArgument("custodian", custodian, "object");
  checkArgument("given", given, "object");
  checkArgument("now", now, "number");
  const { by, holder, before, fingerprint } = given;
  const confirmed = nextStatus("custodian", custodianTable, custodian.status, "confirm");
  if (isSamePerson(by, holder)) throw refusal("FORBIDDEN", "nobody confirms their own keys");
  if (before.some((one) => isSamePerson(one, by))) throw refusal("FORBIDDEN", "this person has confirmed these keys already");
  if (fingerprint !== custodian.fingerprint) throw invalidField("fingerprint", "is not that of the enrolled card");
  const at = timestamp(now);
  const confirmations = [...custodian.confirmations, { identity_id: by.id, emails: by.emails, confirmed_at: at }];
  const status = confirmations.length >= CONFIRMATIONS ? confirmed : custodian.status;
  return { ...custodian, status, confirmations, updated_at: at };
}

/**
 * The keys count no more, for good. Throws `STATE_CONFLICT`.
 *
 * @example
 * ```ts
 * import { enrollCustodian, revokeCustodian } from "@seneschal/core/keys";
 * const input = { id: "e1", org_id: "acme", identity_id: "bob", identity_type: "user", name: "Bob", fingerprint: "00" } as const;
 * console.log(revokeCustodian(enrollCustodian(input, 0), "ada", 1).status); // revoked
 * ```
 */
export function revokeCustodian(custodian: EnrolledCustodian, by: string, now: number): EnrolledCustodian {
  checkArgument("custodian", custodian, "object");
  checkArgument("by", by, "string");
  checkArgument("now", now, "number");
  const status = nextStatus("custodian", custodianTable, custodian.status, "revoke");
  return { ...custodian, status, revoked_by: by, updated_at: timestamp(now) };
}

/**
 * The holder says which organisations are given the card, in place of those that were: nobody else may. Throws `FORBIDDEN`, `STATE_CONFLICT` once revoked.
 *
 * @example
 * ```ts
 * import { enrollCustodian, shareCard } from "@seneschal/core/keys";
 * const input = { id: "e1", org_id: "acme", identity_id: "bob", identity_type: "user", name: "Bob", fingerprint: "00" } as const;
 * console.log(shareCard(enrollCustodian(input, 0), { by: "bob", partners: ["globex"] }, 1).partners); // [ 'globex' ]
 * ```
 */
export function shareCard(
  custodian: EnrolledCustodian,
  given: { readonly by: string; readonly partners: readonly string[] },
  now: number,
): EnrolledCustodian {
  checkArgument("custodian", custodian, "object");
  checkArgument("given", given, "object");
  checkArgument("now", now, "number");
  const { by, partners } = given;
  if (by !== custodian.identity_id) throw refusal("FORBIDDEN", "only its holder gives a card away");
  if (custodian.status === "revoked") throw refusal("STATE_CONFLICT", "the keys were revoked");
  return { ...custodian, partners: [...new Set(partners)].sort(), updated_at: timestamp(now) };
}
