import { checkArgument } from "@seneschal/kernel";

/** Who stands behind a caller, as far as records and credentials tell. */
export interface Person {
  /** Id of the record, or the subject of the token where there is none. */
  readonly id: string;
  /** Addresses that records or the issuer of a token give this person. */
  readonly emails: readonly string[];
  /** Who keeps one account for each person: `admin` for the gateway's own records, else how the token was issued. */
  readonly accounts: string;
}

const fold = (email: string): string => email.normalize("NFKC").trim().toLowerCase();

function shareAddress(a: Person, b: Person): boolean {
  const known = new Set(a.emails.map(fold));
  return b.emails.some((email) => known.has(fold(email)));
}

/**
 * Whether two callers are known to be one person: the same account, or the same address. Nobody decides on what is their own.
 *
 * @example
 * ```ts
 * import { isSamePerson } from "@seneschal/core/keys";
 * const bob = { id: "bob", emails: ["bob@acme.example"], accounts: "people" };
 * console.log(isSamePerson(bob, { ...bob, id: "serial 01" }), isSamePerson(bob, { ...bob, id: "eve", emails: ["eve@acme.example"] })); // true false
 * ```
 */
export function isSamePerson(a: Person, b: Person): boolean {
  checkArgument("a", a, "object");
  checkArgument("b", b, "object");
  return a.id === b.id || shareAddress(a, b);
}

/**
 * The first of these who is known to be the same person as one before, by place; in one pass over however many there are.
 *
 * @example
 * ```ts
 * import { findSamePerson } from "@seneschal/core/keys";
 * const person = (id: string, email: string) => ({ id, emails: [email], accounts: "people" });
 * console.log(findSamePerson([person("bob", "bob@acme.example"), person("serial 01", "bob@acme.example")])); // 1
 * ```
 */
export function findSamePerson(persons: readonly Person[]): number | undefined {
  checkArgument("persons", persons, "array");
  const seen = new Set<string>();
  for (const [place, { id, emails }] of persons.entries()) {
    const marks = new Set([`id ${id}`, ...emails.map((email) => `address ${fold(email)}`)]);
    for (const mark of marks) if (seen.has(mark)) return place;
    for (const mark of marks) seen.add(mark);
  }
  return undefined;
}

/**
 * Whether two callers are known to be two people. Somebody with a certificate can hold a token of another subject as well; so it
 * takes two accounts where one person has one, or two addresses. What is not known does not count.
 *
 * @example
 * ```ts
 * import { areTwoPeople } from "@seneschal/core/keys";
 * const ada = { id: "0199", emails: ["ada@acme.example"], accounts: "admin" };
 * console.log(areTwoPeople(ada, { id: "somebody", emails: [], accounts: "jwt" })); // false
 * ```
 */
export function areTwoPeople(a: Person, b: Person): boolean {
  checkArgument("a", a, "object");
  checkArgument("b", b, "object");
  if (isSamePerson(a, b)) return false;
  return a.accounts === b.accounts || (a.emails.length > 0 && b.emails.length > 0);
}
