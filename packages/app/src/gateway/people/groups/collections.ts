import type { IdentityType } from "@seneschal/core/keys";
import { keyText } from "../../../platform/index.ts";
import { collection, type Reader } from "../../ground/index.ts";

export interface Group {
  readonly id: string;
  readonly org_id: string;
  readonly name: string;
  readonly description: string;
  readonly vault_policies: readonly string[];
  readonly created_at: string;
  readonly updated_at: string;
}

export const groups = collection<Group>("groups", {
  by_org: { key: (group) => [group.org_id, group.created_at] },
  by_name: { key: (group) => [group.org_id, keyText(group.name)], unique: "a group of that name exists" },
});

/** One identity in one group. */
export interface Membership {
  readonly group_id: string;
  readonly org_id: string;
  readonly identity_id: string;
  readonly identity_type: IdentityType;
  readonly added_at: string;
}

export const memberships = collection<Membership>("group_members", {
  by_group: { key: (member) => [member.group_id, member.added_at] },
  by_identity: { key: (member) => [member.org_id, member.identity_id] },
});

export const membershipId = (group: string, identity: string): string => `${group}/${identity}`;

/** Whether an identity of an organisation is in a group of it. */
export async function isMember(read: Reader, org: string, group: string, identity: string): Promise<boolean> {
  return (await read.get(memberships, membershipId(group, identity)))?.org_id === org;
}
