import { type Crk, refusal } from "@seneschal/core/keys";
import type { CrkPublicJson } from "@seneschal/crypto/threshold";
import { collection } from "../../platform/collection.ts";
import { organizations } from "./organizations.ts";
import type { Reader } from "./store/reader.ts";

/** A root key with the public material that shares are judged by. */
export type StoredCrk = Crk & { readonly material: CrkPublicJson };

export const crks = collection<StoredCrk>("crks", { by_org: { key: (crk) => [crk.org_id, crk.created_at] } });

/** A root key as callers see it. One of an earlier release names no custodians. */
export function crkView(crk: StoredCrk) {
  return { ...crk, custodians: [...(crk.custodians ?? [])] };
}

/** The organisation's root key, if it has one. */
export async function currentCrk(read: Reader, org: string): Promise<StoredCrk | undefined> {
  const owner = await read.get(organizations, org);
  return owner === undefined || owner.crk_id === null ? undefined : read.get(crks, owner.crk_id);
}

/** The organisation's root key; throws `CRK_NOT_CONFIGURED`. */
export async function requireCrk(read: Reader, org: string): Promise<StoredCrk> {
  const crk = await currentCrk(read, org);
  if (crk === undefined || crk.status === "revoked") {
    throw refusal("CRK_NOT_CONFIGURED", "the organisation has no customer root key");
  }
  return crk;
}
