import type { Handlers } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import { invalidField, notFound, refusal, timestamp } from "@seneschal/core/keys";
import { keyText } from "../../platform/index.ts";
import { findOwn, type GatewayUnit, listed, type Reader } from "../ground/index.ts";
import {
  admins,
  groups,
  isMember,
  membershipId,
  memberships,
  subjectKey,
  type User,
  users,
  voidApprovals,
} from "./collections.ts";
import { forgetIdentity } from "./identities.ts";
import type { PeopleServices } from "./services.ts";

/** Removes a user of the organisation from all that it was let into; one that is gone stays gone. */
export async function removeUser(services: PeopleServices, unit: GatewayUnit, org: string, id: string): Promise<void> {
  const user = await unit.get(users, id);
  if (user?.org_id !== org || !user.active) return;
  await forgetIdentity(services, unit, org, id);
  for (const known of [id, user.sso_subject]) await voidApprovals(unit, org, known);
  // The mark keeps what refuses the subject's tokens and no personal data beyond it.
  unit.put(users, id, { ...user, email: "", name: "", groups: [], active: false, updated_at: timestamp(unit.call.now) });
  unit.record({ type: "user.delete", metadata: { user_id: id } });
}

type Routes = Pick<GatewayContract, "createSsoUser" | "listUsers" | "getUser" | "deleteUser">;

const view = (user: User) => ({ ...user, groups: [...user.groups] });

async function findUser(read: Reader, id: string, org: string): Promise<User> {
  const user = await findOwn(read, users, id, org, "user");
  if (!user.active) throw notFound("user");
  return user;
}

/** Puts the user into the organisation's groups that the provider's groups map to; names that map to none say nothing here. */
async function joinMapped(unit: GatewayUnit, user: User, mapping: Readonly<Record<string, string>>): Promise<void> {
  for (const claimed of user.groups) {
    const name = Object.hasOwn(mapping, claimed) ? mapping[claimed] : claimed;
    const [group] = await unit.list(groups, "by_name", [user.org_id, name ?? claimed], { limit: 1 });
    if (group === undefined || (await isMember(unit, user.org_id, group.id, user.id))) continue;
    unit.insert(memberships, membershipId(group.id, user.id), {
      group_id: group.id,
      org_id: user.org_id,
      identity_id: user.id,
      identity_type: "user",
      added_at: timestamp(unit.call.now),
    });
    unit.record({ type: "group.member.add", metadata: { group_id: group.id, identity_id: user.id, identity_type: "user" } });
  }
}

/** Whoever is an admin as well loses tokens with the record: that is for a super admin to do. */
async function requireMayRemove(unit: GatewayUnit, user: User): Promise<void> {
  const { principal } = unit.call;
  const [admin] = await unit.list(admins, "by_email", [user.org_id, keyText(user.email.toLowerCase())], { limit: 1 });
  const rules = principal.type !== "emergency" && principal.roles.includes("super_admin");
  if (admin === undefined || rules) return;
  throw refusal("FORBIDDEN", "the user is an admin of the organisation: a super_admin removes them");
}

export const userHandlers: Handlers<Routes, PeopleServices> = {
  async createSsoUser(services, { principal, body, now, requestId }) {
    const provider = services.config.sso.providers.find(({ id }) => id === body.provider);
    if (provider === undefined) throw invalidField("provider", "is not configured");
    return services.transact({ principal, now, requestId }, async (unit) => {
      // The mark that a removed user leaves refuses the subject's tokens: an admin's are not for others to refuse.
      if ((await unit.get(admins, body.subject))?.org_id === principal.org) {
        throw invalidField("subject", "is an admin of the organisation");
      }
      const [known] = await unit.list(users, "by_subject", [...subjectKey(principal.org, body.subject), body.provider], {
        limit: 1,
      });
      if (known?.active === true) throw refusal("CONFLICT", "the user is known already");
      const at = timestamp(now);
      const user: User = {
        id: known?.id ?? services.newId(now),
        org_id: principal.org,
        email: body.email,
        name: body.name,
        sso_provider: body.provider,
        sso_subject: body.subject,
        groups: body.groups,
        active: true,
        last_login_at: null,
        created_at: at,
        updated_at: at,
      };
      if (known === undefined) unit.insert(users, user.id, user);
      else unit.put(users, user.id, user);
      unit.record({ type: "user.create.sso", metadata: { user_id: user.id, provider: user.sso_provider } });
      await joinMapped(unit, user, provider.groups);
      return view(user);
    });
  },

  listUsers: async ({ read }, { principal, query }) =>
    listed("users", await read.page(users, "by_org", [principal.org], query), view),

  async getUser({ read }, { principal, params }) {
    return view(await findUser(read, params.id, principal.org));
  },

  async deleteUser(services, { principal, params, now, requestId }) {
    await services.transact({ principal, now, requestId }, async (unit) => {
      const user = await findUser(unit, params.id, principal.org);
      await requireMayRemove(unit, user);
      await removeUser(services, unit, principal.org, user.id);
    });
  },
};
