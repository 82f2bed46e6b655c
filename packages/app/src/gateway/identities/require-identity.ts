import { type IdentityType, invalidField } from "@seneschal/core/keys";
import { identityKinds } from "../auth/identity-kinds.ts";
import type { Reader } from "../store/reader.ts";

/**
 * Throws `VALIDATION_ERROR` unless the organisation has such an identity. A user without a record, known by the subject of
 * its tokens only, is taken at its word: it can do nothing without a token of the trusted issuer.
 */
export async function requireIdentity(
  read: Reader,
  org: string,
  { identity_id, identity_type }: { readonly identity_id: string; readonly identity_type: IdentityType },
): Promise<void> {
  const known = await identityKinds[identity_type]?.find(read, identity_id);
  if (known === undefined ? identity_type !== "user" : known.org !== org) {
    throw invalidField("identity_id", `no such ${identity_type} in the organisation`);
  }
}
