import type { Handlers } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import { type IdentityType, notFound, refusal, timestamp } from "@seneschal/core/keys";
import { findOwn, type GatewayUnit, type Reader } from "../ground/index.ts";
import { type Group, groups, isMember, membershipId, memberships } from "./collections.ts";
import { requireIdentity } from "./identities.ts";
import type { PeopleServices } from "./services.ts";

/** A group of the organisation; another one's does not exist. */
export const findGroup = (read: Reader, id: string, org: string) => findOwn(read, groups, id, org, "group");

/** Takes an identity out of a group, and out of every workspace that it came into through the group. Who is not in it stays out. */
export async function leave(
  services: PeopleServices,
  unit: GatewayUnit,
  { id: group_id, org_id }: Pick<Group, "id" | "org_id">,
  identity_id: string,
): Promise<void> {
  const id = membershipId(group_id, identity_id);
  if ((await unit.get(memberships, id)) === undefined) return;
  unit.delete(memberships, id);
  unit.record({ type: "group.member.remove", metadata: { group_id, identity_id } });
  await services.admissions.endOf(unit, { org: org_id, id: identity_id }, group_id);
}

/** Empties a group, and removes it unless a workspace is bound to it. */
export async function removeGroup(services: PeopleServices, unit: GatewayUnit, org: string, id: string): Promise<void> {
  const group = await unit.get(groups, id);
  if (group?.org_id !== org) return;
  for (const { identity_id } of await unit.list(memberships, "by_group", [id])) await leave(services, unit, group, identity_id);
  if (!(await services.admissions.bound(unit, { org, id }))) unit.delete(groups, id);
  unit.record({ type: "group.update", metadata: { group_id: id, fields: ["members"] } });
}

type Routes = Pick<
  GatewayContract,
  "createGroup" | "listGroups" | "getGroup" | "updateGroup" | "addGroupMember" | "removeGroupMember"
>;

/** A group with its members, oldest first. */
async function view(read: Reader, group: Group) {
  const members = await read.list(memberships, "by_group", [group.id]);
  return {
    ...group,
    vault_policies: [...group.vault_policies],
    members: members.map(({ identity_id, identity_type }) => ({ identity_id, identity_type })),
  };
}

/** Takes an identity into a group that it is not in. */
export function join(unit: GatewayUnit, group: Group, identity_id: string, identity_type: IdentityType): void {
  unit.insert(memberships, membershipId(group.id, identity_id), {
    group_id: group.id,
    org_id: group.org_id,
    identity_id,
    identity_type,
    added_at: timestamp(unit.call.now),
  });
  unit.record({ type: "group.member.add", metadata: { group_id: group.id, identity_id, identity_type } });
}

export const groupHandlers: Handlers<Routes, PeopleServices> = {
  async createGroup(services, { principal, body, now, requestId }) {
    return services.transact({ principal, now, requestId }, async (unit) => {
      const at = timestamp(now);
      const group: Group = { id: services.newId(now), org_id: principal.org, ...body, created_at: at, updated_at: at };
      unit.insert(groups, group.id, group);
      unit.record({ type: "group.create", metadata: { group_id: group.id, name: group.name } });
      return view(unit, group);
    });
  },

  async listGroups({ read }, { principal, query }) {
    const { items, total } = await read.page(groups, "by_org", [principal.org], query);
    return { groups: await Promise.all(items.map((group) => view(read, group))), count: items.length, total };
  },

  async getGroup({ read }, { principal, params }) {
    return view(read, await findGroup(read, params.id, principal.org));
  },

  async updateGroup(services, { principal, params, body, now, requestId }) {
    return services.transact({ principal, now, requestId }, async (unit) => {
      const group = await findGroup(unit, params.id, principal.org);
      const next: Group = {
        ...group,
        name: body.name ?? group.name,
        description: body.description ?? group.description,
        vault_policies: body.vault_policies ?? group.vault_policies,
        updated_at: timestamp(now),
      };
      unit.put(groups, next.id, next);
      unit.record({ type: "group.update", metadata: { group_id: next.id, fields: Object.keys(body) } });
      return view(unit, next);
    });
  },

  async addGroupMember(services, { principal, params, body, now, requestId }) {
    await services.transact({ principal, now, requestId }, async (unit) => {
      const group = await findGroup(unit, params.id, principal.org);
      await requireIdentity(unit, principal.org, body);
      if (await isMember(unit, principal.org, group.id, body.identity_id)) {
        throw refusal("CONFLICT", "the identity is in the group already");
      }
      join(unit, group, body.identity_id, body.identity_type);
    });
  },

  async removeGroupMember(services, { principal, params, now, requestId }) {
    await services.transact({ principal, now, requestId }, async (unit) => {
      const group = await findGroup(unit, params.id, principal.org);
      const id = membershipId(group.id, params.identity_id);
      if ((await unit.get(memberships, id)) === undefined) throw notFound("member");
      await leave(services, unit, group, params.identity_id);
    });
  },
};
