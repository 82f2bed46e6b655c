import type { Principal } from "@seneschal/contract";
import { type Holder, isSamePerson, type Person, refusal } from "@seneschal/core/keys";
import type { Reader } from "../../ground/index.ts";
import { admins } from "../admins/collections.ts";
import { subjectKey, users } from "../users/collections.ts";

/**
 * The person behind an identity, by what the organisation's records say now. What was known of it before (its token's address,
 * a record that is gone) still counts.
 */
export async function personOf(read: Reader, org: string, known: Person): Promise<Person> {
  const { id, emails } = known;
  const admin = await read.get(admins, id);
  if (admin?.org_id === org) return { id, emails: merged(emails, admin.email), accounts: "admin" };
  const user = (await read.get(users, id)) ?? (await read.list(users, "by_subject", subjectKey(org, id), { limit: 1 }))[0];
  return user?.org_id === org ? { ...known, id: user.id, emails: merged(emails, user.email) } : known;
}

/** The person who calls. */
export function personCalling(read: Reader, { id, org, method, email }: Principal): Promise<Person> {
  return personOf(read, org, { id, emails: email === undefined ? [] : [email], accounts: method });
}

/** The person behind an id that a record or a request names. */
export function personNamed(read: Reader, org: string, id: string): Promise<Person> {
  return personOf(read, org, { id, emails: [], accounts: "named" });
}

/** The person on a custodian's seat. */
export function personSeated({ identity_id, emails }: Holder): Person {
  return { id: identity_id, emails, accounts: "named" };
}

/** Throws `FORBIDDEN` with `message` when the caller is known to be one of these persons. */
export function requireAnother(caller: Person, others: readonly Person[], message: string): void {
  if (others.some((other) => isSamePerson(caller, other))) throw refusal("FORBIDDEN", message);
}

function merged(emails: readonly string[], email: string): readonly string[] {
  return email === "" || emails.includes(email) ? emails : [...emails, email];
}
