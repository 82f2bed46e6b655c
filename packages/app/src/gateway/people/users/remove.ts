import { timestamp } from "@seneschal/core/keys";
import type { GatewayUnit } from "../../ground/index.ts";
import { voidApprovals } from "../emergency/collections.ts";
import { forgetIdentity } from "../identities/forget.ts";
import type { PeopleServices } from "../services.ts";
import { users } from "./collections.ts";

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
