import type { Principal } from "@seneschal/contract";
import { type IdentityType, identityTypes } from "@seneschal/core/keys";

/** The kind of identity behind a caller. A break-glass token stands for the admin or user who asked for it: admitted as `user`. */
export function identityTypeOf({ type }: Principal): IdentityType {
  return identityTypes.find((known) => known === type) ?? "user";
}
