import type { Principal } from "@seneschal/contract";
import { notFound, type Organization, refusal, timestamp } from "@seneschal/core/keys";
import { checkArgument } from "@seneschal/kernel";
import { type Collection, collection } from "../../platform/collection.ts";
import type { GatewayUnit } from "./call.ts";
import type { Reader } from "./store/reader.ts";

/** `crk_id` names the organisation's root key; a change of it is a change of this document, which guards it. */
export type StoredOrganization = Organization & { readonly crk_id: string | null };

export const organizations = collection<StoredOrganization>("organizations", { by_time: { key: (org) => [org.created_at] } });

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

/** Whether an organisation is on this instance. */
export async function isLocal(read: Reader, org: string): Promise<boolean> {
  return (await read.get(organizations, org)) !== undefined;
}

/** The organisation that a request is about: the caller's. One that the client names must be the same (`FORBIDDEN`). */
export function ownOrganization(principal: Principal, named: string | undefined): string {
  if (named !== undefined && named !== principal.org) {
    throw refusal("FORBIDDEN", "callers act for their own organisation only", { field: "org_id" });
  }
  return principal.org;
}

/** A document of the organisation; another one's does not exist. Throws `NOT_FOUND` of the noun. */
export async function findOwn<T extends { readonly org_id: string }>(
  read: Reader,
  from: Collection<T>,
  id: string,
  org: string,
  noun: string,
): Promise<T> {
  const found = await read.get(from, id);
  if (found?.org_id !== org) throw notFound(noun);
  return found;
}
