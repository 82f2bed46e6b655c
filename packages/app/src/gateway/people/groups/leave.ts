import type { GatewayUnit } from "../../ground/index.ts";
import type { PeopleServices } from "../services.ts";
import { type Group, groups, membershipId, memberships } from "./collections.ts";

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
