import { notFound } from "@seneschal/core/keys";
import type { Reader } from "../../ground/index.ts";
import { type Group, groups } from "./collections.ts";

/** A group of the organisation; another one's does not exist. */
export async function findGroup(read: Reader, id: string, org: string): Promise<Group> {
  const group = await read.get(groups, id);
  if (group === undefined || group.org_id !== org) throw notFound("group");
  return group;
}
