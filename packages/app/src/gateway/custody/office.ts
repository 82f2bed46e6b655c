import type { Principal } from "@seneschal/contract";
import { adminRoles } from "@seneschal/core/keys";

/** Whether somebody administers the organisation, in whatever role, and so sees all of its custody. */
export function holdsOffice({ roles }: Principal): boolean {
  return roles.some((role) => (adminRoles as readonly string[]).includes(role));
}
