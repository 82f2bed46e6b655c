import type { Principal } from "@seneschal/contract";
import { type Holder, nameCustodians } from "@seneschal/core/keys";
import type { Reader } from "../../ground/index.ts";
import { admins } from "../admins/collections.ts";
import { users } from "../users/collections.ts";

/** The registered, active admin or user of the organisation that an id names; `undefined` for anything else. */
async function holderNamed(read: Reader, org: string, id: string): Promise<Holder | undefined> {
  const admin = await read.get(admins, id);
  if (admin?.org_id === org) {
    const { name, email } = admin;
    return admin.enrollment_status === "active" ? { identity_id: id, identity_type: "admin", name, emails: [email] } : undefined;
  }
  const user = await read.get(users, id);
  if (user?.org_id !== org || !user.active) return undefined;
  return { identity_id: id, identity_type: "user", name: user.name, emails: [user.email] };
}

/** The caller as a holder of shares. What its token says of its address counts as well. */
export async function holderCalling(read: Reader, { id, org, type, email }: Principal): Promise<Holder | undefined> {
  const holder = type === "admin" || type === "user" ? await holderNamed(read, org, id) : undefined;
  if (holder === undefined || email === undefined) return holder;
  return { ...holder, emails: [...holder.emails, email] };
}

/** Which of these identities are registered and active now. */
export async function activeHolders(read: Reader, org: string, of: readonly { readonly identity_id: string }[]) {
  const found = await Promise.all(of.map(({ identity_id }) => holderNamed(read, org, identity_id)));
  return found.flatMap((holder) => (holder === undefined ? [] : [holder.identity_id]));
}

/** These holders with the addresses that records give them now beside those they were known by. */
export function asKnownNow<T extends Holder>(read: Reader, org: string, of: readonly T[]): Promise<readonly T[]> {
  return Promise.all(
    of.map(async (one) => {
      const now = await holderNamed(read, org, one.identity_id);
      return now === undefined ? one : { ...one, emails: [...new Set([...one.emails, ...now.emails])] };
    }),
  );
}

/** The custodians that a request names, by index. Throws `VALIDATION_ERROR`. */
export async function custodiansNamed(
  read: Reader,
  org: string,
  named: readonly { readonly index: number; readonly identity_id: string; readonly identity_type: string }[] | undefined,
  total: number,
) {
  const found = await Promise.all(
    (named ?? []).map(async ({ index, identity_id, identity_type }) => {
      const holder = await holderNamed(read, org, identity_id);
      return { index, holder: holder?.identity_type === identity_type ? holder : undefined };
    }),
  );
  return nameCustodians(found, total);
}
