import type { Principal } from "@seneschal/contract";
import { refusal } from "@seneschal/core/keys";

/** The organisation that a request is about: the caller's. One that the client names must be the same (`FORBIDDEN`). */
export function ownOrganization(principal: Principal, named: string | undefined): string {
  if (named !== undefined && named !== principal.org) {
    throw refusal("FORBIDDEN", "callers act for their own organisation only", { field: "org_id" });
  }
  return principal.org;
}
