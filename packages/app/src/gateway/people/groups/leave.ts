import type { GatewayUnit } from "../../ground/call.ts";
import { admissions } from "../../workspaces/admissions/collections.ts";
import { endAdmission } from "../../workspaces/admissions/end.ts";
import { seats } from "../../workspaces/workspaces/collections.ts";
import { type Group, groups, membershipId, memberships } from "./collections.ts";

/** Takes an identity out of a group, and out of every workspace that it came into through the group. Who is not in it stays out. */
export async function leave(
  unit: GatewayUnit,
  { id: group_id, org_id }: Pick<Group, "id" | "org_id">,
  identity_id: string,
): Promise<void> {
  const id = membershipId(group_id, identity_id);
  if ((await unit.get(memberships, id)) === undefined) return;
  unit.delete(memberships, id);
  unit.record({ type: "group.member.remove", metadata: { group_id, identity_id } });
  for (const admission of await unit.list(admissions, "by_identity", [org_id, identity_id])) {
    if (admission.via_group === group_id) await endAdmission(unit, admission.id);
  }
}

/** Empties a group, and removes it unless a workspace is bound to it. */
export async function removeGroup(unit: GatewayUnit, org: string, id: string): Promise<void> {
  const group = await unit.get(groups, id);
  if (group?.org_id !== org) return;
  for (const { identity_id } of await unit.list(memberships, "by_group", [id])) await leave(unit, group, identity_id);
  if ((await unit.list(seats, "by_group", [org, id], { limit: 1 })).length === 0) unit.delete(groups, id);
  unit.record({ type: "group.update", metadata: { group_id: id, fields: ["members"] } });
}
