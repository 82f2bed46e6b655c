import { type IdentityType, invalidField } from "@seneschal/core/keys";
import type { Reader } from "../../ground/index.ts";
import { identityKinds } from "./kinds.ts";

/**
 * Throws `VALIDATION_ERROR` unless the organisation has a record of such an identity. A subject of tokens of which nothing is
 * recorded is nobody yet: it is registered first, so that a mistyped id gives nothing to whoever shows up under it.
 */
export async function requireIdentity(
  read: Reader,
  org: string,
  { identity_id, identity_type }: { readonly identity_id: string; readonly identity_type: IdentityType },
): Promise<void> {
  const known = await identityKinds[identity_type]?.find(read, identity_id);
  if (known?.org !== org || known.removed === true)
    throw invalidField("identity_id", `no such ${identity_type} in the organisation`);
}
