import { checkArgument } from "@seneschal/kernel";
import { refusal } from "../codes.ts";
import { timestamp } from "../time.ts";
import type { Workspace } from "../workspace.ts";
import { type Offer, offerOf, type Replica } from "./judge.ts";
import type { OfferRoute } from "./offer.ts";

/** A workspace that was carried here in a bundle. */
export interface CarriedWorkspace {
  readonly workspace: Offer & Pick<Workspace, "id" | "revision">;
  /** Whose bundle it is. */
  readonly exporter_org: string;
  /** It has keys for the organisation here. */
  readonly sealed: boolean;
}

/**
 * The part that an organisation here takes in a workspace by the import of its owner's bundle: the import is the acceptance, a later bundle brings it up to
 * date. `id`: of the invitation that nobody sent. Throws `BUNDLE_INVALID` for a bundle that is of somebody else or has no keys for the organisation,
 * `CONFLICT` for one that is no newer than what is known.
 *
 * @example
 * ```ts
 * import { replicaOfBundle } from "@seneschal/core/keys";
 * const route = { federation_id: "f1", org_id: "globex", owner_org_id: "acme" };
 * const offer = { name: "merger", classification: "CONFIDENTIAL", mode: "airgap", purpose: "", crk_protected: false } as const;
 * const carried = { workspace: { id: "w1", revision: 3, ...offer }, exporter_org: "acme", sealed: true };
 * console.log(replicaOfBundle(route, carried, { id: "i1", known: undefined, existing: undefined }, 0).stage); // accepted
 * ```
 */
export function replicaOfBundle(
  route: OfferRoute,
  carried: CarriedWorkspace,
  facts: {
    readonly id: string;
    readonly known: Replica | undefined;
    readonly existing: Pick<Workspace, "revision"> | undefined;
  },
  now: number,
): Replica {
  checkArgument("route", route, "object");
  checkArgument("carried", carried, "object");
  checkArgument("facts", facts, "object");
  checkArgument("now", now, "number");
  const { federation_id, org_id, owner_org_id } = route;
  const { workspace, exporter_org, sealed } = carried;
  const { id: invitation_id, known, existing } = facts;
  if (exporter_org !== owner_org_id || !sealed)
    throw refusal("BUNDLE_INVALID", "the bundle's recipient does not hold", { reason: "recipient" });
  if (existing !== undefined && (known === undefined || existing.revision >= workspace.revision))
    throw refusal("CONFLICT", "a workspace of that id exists", { id: workspace.id });
  const at = timestamp(now);
  return (
    known ?? {
      workspace_id: workspace.id,
      org_id,
      owner_org_id,
      federation_id,
      invitation_id,
      group_id: null,
      offer: offerOf(workspace),
      stage: "accepted",
      sequence: 0,
      created_at: at,
      updated_at: at,
    }
  );
}
