import { type Organization, timestamp } from "@seneschal/core/keys";
import { checkArgument } from "@seneschal/kernel";
import type { GatewayUnit } from "../call.ts";
import { organizations, type StoredOrganization } from "./collections.ts";

/**
 * The organisation's record; made when it does not exist. Only who generates a root key or starts the password ceremony for one, the
 * configuration and the operator call this (a restore brings the record along): being authenticated alone never makes one.
 */
export async function ensureOrganization(
  unit: GatewayUnit,
  id: string,
  origin: Organization["origin"],
  anchor: string | null = null,
): Promise<StoredOrganization> {
  checkArgument("unit", unit, "object");
  checkArgument("id", id, "string");
  checkArgument("origin", origin, "string");
  const known = await unit.get(organizations, id);
  if (known !== undefined) return known;
  const at = timestamp(unit.call.now);
  const created: StoredOrganization = { id, origin, anchor_public_key: anchor, crk_id: null, created_at: at, updated_at: at };
  unit.insert(organizations, id, created);
  unit.record({ type: "organization.create", org: id, metadata: { origin } });
  return created;
}
