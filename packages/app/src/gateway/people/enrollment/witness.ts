import { invalidField, isUuid } from "@seneschal/core/keys";
import { keyText } from "../../../platform/index.ts";
import type { Reader } from "../../ground/index.ts";
import { admins } from "../admins/collections.ts";

/** The active admin of the organisation that a witness is named by, id or e-mail; answers the id. */
export async function findWitness(read: Reader, org: string, named: string): Promise<string> {
  const byId = isUuid(named) ? await read.get(admins, named) : undefined;
  const admin = byId ?? (await read.list(admins, "by_email", [org, keyText(named.toLowerCase())], { limit: 1 }))[0];
  if (admin === undefined || admin.org_id !== org || admin.enrollment_status !== "active") {
    throw invalidField("witness", "must be an active admin of the organisation");
  }
  return admin.id;
}
