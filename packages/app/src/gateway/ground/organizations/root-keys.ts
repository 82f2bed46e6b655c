import type { Crk } from "@seneschal/core/keys";
import type { CrkPublicJson } from "@seneschal/crypto/threshold";
import { collection } from "../../../platform/collection.ts";

/** A root key with the public material that shares are judged by. */
export type StoredCrk = Crk & { readonly material: CrkPublicJson };

export const crks = collection<StoredCrk>("crks", { by_org: { key: (crk) => [crk.org_id, crk.created_at] } });
