import type { Principal } from "@seneschal/contract";
import {
  type Holder,
  type IdentityType,
  identityTypes,
  invalidField,
  isActiveDevice,
  isSamePerson,
  nameCustodians,
  type Person,
  refusal,
  timestamp,
} from "@seneschal/core/keys";
import { CodedError } from "@seneschal/kernel";
import { type GatewayUnit, type GroundServices, type Reader, systemCall } from "../ground/index.ts";
import {
  admins,
  assignmentId,
  devices,
  membershipId,
  memberships,
  roleAssignments,
  serviceIdentities,
  subjectKey,
  users,
} from "./collections.ts";
import type { PeopleServices } from "./services.ts";

/** Takes an identity out of every group, role and workspace of its organisation, in the transaction that removes it. */
export async function forgetIdentity(services: PeopleServices, unit: GatewayUnit, org: string, identity: string): Promise<void> {
  for (const { group_id } of await unit.list(memberships, "by_identity", [org, identity])) {
    unit.delete(memberships, membershipId(group_id, identity));
  }
  for (const { role_id } of await unit.list(roleAssignments, "by_identity", [org, identity])) {
    unit.delete(roleAssignments, assignmentId(role_id, identity));
  }
  await services.admissions.endOf(unit, { org, id: identity });
}

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

/** The kind of identity behind a caller. A break-glass token stands for the admin or user who asked for it: admitted as `user`. */
export function identityTypeOf({ type }: Principal): IdentityType {
  return identityTypes.find((known) => known === type) ?? "user";
}

/** "invalid token" (401), with the reason in the details and nothing of the token. */
export function invalidToken(reason: string): CodedError {
  return new CodedError("invalid_token", "invalid token", { reason });
}

/** An identity that has a record here. */
interface KnownIdentity {
  readonly id: string;
  readonly org: string;
  readonly roles: readonly string[];
  /** It was ended for good: its record is a mark that refuses it, and nothing is given to it any more. */
  readonly removed?: boolean;
  /** It may act at that time: enrolled, not disabled, not revoked, not run out. */
  isActive(now: number): boolean;
}

/** How identities of one kind are found by id. */
export interface IdentityKind {
  find(read: Reader, id: string): Promise<KnownIdentity | undefined>;
}

/** Every kind of identity of an organisation that certificates and tokens can stand for. A new kind adds its line. */
export const identityKinds: Readonly<Record<string, IdentityKind | undefined>> = {
  admin: {
    async find(read, id) {
      const admin = await read.get(admins, id);
      if (admin === undefined) return undefined;
      return { id, org: admin.org_id, roles: [admin.role], isActive: () => admin.enrollment_status === "active" };
    },
  },
  device: {
    async find(read, id) {
      const device = await read.get(devices, id);
      if (device === undefined) return undefined;
      return {
        id,
        org: device.org_id,
        roles: [],
        removed: device.status === "revoked",
        isActive: (now) => isActiveDevice(device, now),
      };
    },
  },
  service: {
    async find(read, id) {
      const service = await read.get(serviceIdentities, id);
      if (service === undefined) return undefined;
      return { id, org: service.org_id, roles: [], isActive: () => service.active };
    },
  },
  user: {
    async find(read, id) {
      const user = await read.get(users, id);
      if (user === undefined) return undefined;
      return { id, org: user.org_id, roles: [], removed: !user.active, isActive: () => user.active };
    },
  },
};

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

/**
 * Throws `VALIDATION_ERROR` unless the organisation has a record of such an identity. A subject of tokens of which nothing is
 * recorded is nobody yet: it is registered first, so that a mistyped id gives nothing to whoever shows up under it.
 */
export async function requireIdentity(
  read: Reader,
  org: string,
  { identity_id, identity_type }: { readonly identity_id: string; readonly identity_type: IdentityType },
): Promise<void> {
  const known = await identityKinds[identity_type]?.find(read, identity_id);
  if (known?.org !== org || known.removed === true)
    throw invalidField("identity_id", `no such ${identity_type} in the organisation`);
}

/** When it is worth trying again: somebody must decide or read first. */
const RETRY_SECONDS = 900;

/**
 * Throws `RATE_LIMITED` when the caller has no room left in a budget of `waiting`. `own`: what is the caller's of what waits; absent where
 * there is one at most of a member. `all`: what waits in the organisation.
 */
export async function requireRoom(
  { config }: Pick<GroundServices, "config">,
  read: Reader,
  principal: Principal,
  budget: keyof GroundServices["config"]["waiting"],
  { own, all }: { readonly own?: () => Promise<number>; readonly all: () => Promise<number> },
): Promise<void> {
  const known = await identityKinds[identityTypeOf(principal)]?.find(read, principal.id);
  const member = known?.org === principal.org && known.removed !== true;
  const waiting = await (member ? own?.() : all());
  const limit = config.waiting[budget];
  if (waiting === undefined || waiting < limit) return;
  const of = member ? "the caller's" : "the organisation's, for callers who are not registered with it";
  throw refusal("RATE_LIMITED", `so many ${budget.replace("_", " ")} wait already (${of})`, {
    budget,
    limit,
    registered: member,
    retry_after: RETRY_SECONDS,
  });
}

/** Writes what was noted into the records of admins, users, services and devices; a later time of another process stays. */
export async function writeLastUse(services: PeopleServices, now: number): Promise<void> {
  for (const { type, id, at } of services.lastUse.drain()) {
    const when = timestamp(at);
    await services.transact(systemCall("system:last-use", "", now), async (unit) => {
      const later = (known: string | null): boolean => known === null || known < when;
      switch (type) {
        case "admin": {
          const admin = await unit.get(admins, id);
          if (admin !== undefined && later(admin.last_login_at)) unit.put(admins, id, { ...admin, last_login_at: when });
          return;
        }
        case "user": {
          const user = await unit.get(users, id);
          if (user !== undefined && later(user.last_login_at)) unit.put(users, id, { ...user, last_login_at: when });
          return;
        }
        case "service": {
          const service = await unit.get(serviceIdentities, id);
          if (service !== undefined && later(service.last_auth_at)) {
            unit.put(serviceIdentities, id, { ...service, last_auth_at: when });
          }
          return;
        }
        case "device": {
          const device = await unit.get(devices, id);
          if (device !== undefined && later(device.last_seen_at)) unit.put(devices, id, { ...device, last_seen_at: when });
          return;
        }
        default:
      }
    });
  }
}
