import type { AuthoriseInput, Principal } from "@seneschal/contract";
import { organizationBeginnings } from "@seneschal/contract/gateway";
import { refusal } from "@seneschal/core/keys";
import { recordRefusal } from "./audit/record-refusal.ts";
import { isLocal } from "./organizations.ts";
import type { GroundServices } from "./services.ts";

const beginnings: ReadonlySet<string> = new Set(organizationBeginnings);

/**
 * A caller whose organisation has no record here may read, and begin it; a partner's record is its federation. Throws
 * `ORGANIZATION_UNKNOWN`, audited.
 */
export async function requireBegun(
  services: GroundServices,
  { id, route, now, requestId }: AuthoriseInput,
  principal: Principal,
): Promise<void> {
  if (route.method === "GET" || beginnings.has(id) || principal.type === "partner") return;
  if (await isLocal(services.read, principal.org)) return;
  const error = refusal("ORGANIZATION_UNKNOWN", "the caller's organisation has not begun here");
  await recordRefusal(services, { principal, now, requestId }, id, error);
  throw error;
}
