import { type Federation, notFound, refusal, stepFederation } from "@seneschal/core/keys";
import { keyText } from "../../../platform/index.ts";
import type { GatewayUnit, Reader } from "../../ground/index.ts";
import { federations } from "../collections.ts";

/** The federation of an organisation with a partner: the one that is not revoked, else the newest of those that were. */
export async function findFederation(read: Reader, partner: string, org: string): Promise<Federation | undefined> {
  const [open] = await read.list(federations, "open", [org, keyText(partner)], { limit: 1 });
  const [newest] =
    open === undefined
      ? await read.list(federations, "by_partner", [org, keyText(partner)], { reverse: true, limit: 1 })
      : [open];
  // Read again by id: a unit of work guards that.
  return newest === undefined ? undefined : read.get(federations, newest.id);
}

/** As {@link findFederation}; throws `NOT_FOUND`. */
export async function requireFederation(read: Reader, partner: string, org: string): Promise<Federation> {
  const federation = await findFederation(read, partner, org);
  if (federation === undefined) throw notFound("federation");
  return federation;
}

/** The active federation with a partner; throws `FEDERATION_INACTIVE`. */
export async function requireActive(read: Reader, partner: string, org: string): Promise<Federation> {
  const federation = await findFederation(read, partner, org);
  if (federation?.status === "active") return federation;
  throw refusal("FEDERATION_INACTIVE", "there is no active federation with that organisation", { partner_org_id: partner });
}

/** The federation by which a partner's call came in. */
export async function federationOfCaller(read: Reader, principal: { readonly id: string }): Promise<Federation> {
  const federation = await read.get(federations, principal.id);
  if (federation?.status === "active") return federation;
  throw refusal("FEDERATION_INACTIVE", "the federation is not active");
}

/** An active federation by its id. */
export async function federationOf(read: Reader, id: string): Promise<Federation> {
  return federationOfCaller(read, { id });
}

/** The partner's instance was heard: what it shares with us may be used for a while. */
export function noteHeard(unit: GatewayUnit, federation: Federation): void {
  unit.put(federations, federation.id, stepFederation(federation, { kind: "hear" }, unit.call.now).state);
}
