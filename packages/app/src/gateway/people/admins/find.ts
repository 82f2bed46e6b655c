import { type Admin, isActiveSuperAdmin, notFound } from "@seneschal/core/keys";
import type { Reader } from "../../ground/index.ts";
import { admins } from "./collections.ts";

/** An admin of the organisation; another one's does not exist. */
export async function findAdmin(read: Reader, id: string, org: string): Promise<Admin> {
  const admin = await read.get(admins, id);
  if (admin === undefined || admin.org_id !== org) throw notFound("admin");
  return admin;
}

/**
 * How many active super admins the organisation has, at most two are counted. Each one counted is read one by one, so
 * that two who disable each other at the same moment cannot both succeed.
 */
export async function countSuperAdmins(read: Reader, org: string): Promise<number> {
  let count = 0;
  for (const { id } of await read.list(admins, "active_super", [org], { limit: 10 })) {
    const admin = await read.get(admins, id);
    if (admin !== undefined && isActiveSuperAdmin(admin)) count++;
    if (count === 2) break;
  }
  return count;
}
