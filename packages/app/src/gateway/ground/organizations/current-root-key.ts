import { refusal } from "@seneschal/core/keys";
import type { Reader } from "../store/reader.ts";
import { organizations } from "./collections.ts";
import { crks, type StoredCrk } from "./root-keys.ts";

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
