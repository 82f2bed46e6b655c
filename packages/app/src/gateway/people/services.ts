import type { GatewayUnit, GroundServices } from "../ground/index.ts";
import type { LastUse } from "./last-use.ts";

/** What identities were let into on the floors above, and how that ends with what gave it. Handed in by the composition. */
export interface IdentityAdmissions {
  /** Ends an admission to a workspace; one that is over stays so. */
  end(unit: GatewayUnit, id: string): Promise<void>;
  /** Ends the admissions of an identity: all, or those that it has through a group. */
  endOf(unit: GatewayUnit, identity: { readonly org: string; readonly id: string }, group?: string): Promise<void>;
  /** Whether a workspace is bound to a group. */
  bound(unit: GatewayUnit, group: { readonly org: string; readonly id: string }): Promise<boolean>;
}

export interface PeopleServices extends GroundServices {
  readonly lastUse: LastUse;
  readonly admissions: IdentityAdmissions;
}
