import type { Principal } from "@seneschal/contract";
import { refusal } from "@seneschal/core/keys";
import type { GroundServices, Reader } from "../../ground/index.ts";
import { identityTypeOf } from "./identity-type.ts";
import { identityKinds } from "./kinds.ts";

/** When it is worth trying again: somebody must decide or read first. */
const RETRY_SECONDS = 900;

/**
 * Throws `RATE_LIMITED` when the caller has no room left in a budget of `waiting`. `own`: what is the caller's of what waits; absent where
 * there is one at most of a member. `all`: what waits in the organisation.
 */
export async function requireRoom(
  { config }: Pick<GroundServices, "config">,
  read: Reader,
  principal: Principal,
  budget: keyof GroundServices["config"]["waiting"],
  { own, all }: { readonly own?: () => Promise<number>; readonly all: () => Promise<number> },
): Promise<void> {
  const known = await identityKinds[identityTypeOf(principal)]?.find(read, principal.id);
  const member = known?.org === principal.org && known.removed !== true;
  const waiting = await (member ? own?.() : all());
  const limit = config.waiting[budget];
  if (waiting === undefined || waiting < limit) return;
  const of = member ? "the caller's" : "the organisation's, for callers who are not registered with it";
  throw refusal("RATE_LIMITED", `so many ${budget.replace("_", " ")} wait already (${of})`, {
    budget,
    limit,
    registered: member,
    retry_after: RETRY_SECONDS,
  });
}
