import type { Workspace } from "@seneschal/core/keys";
import type { GatewayUnit } from "../call.ts";
import { policies } from "../policies/collections.ts";

/** The part of a workspace that travels between instances. */
export type TravellingWorkspace = Omit<Workspace, "org_id"> & { readonly owner_org_id: string };

export interface TravellingPolicy {
  readonly id: string;
  readonly name: string;
  readonly rego: string;
  readonly version: number;
}

export function travelling({ org_id: owner_org_id, ...rest }: Workspace): TravellingWorkspace {
  return { ...rest, owner_org_id };
}

/** A workspace as it is stored, from what travelled. */
export function arrived({ owner_org_id: org_id, ...rest }: TravellingWorkspace): Workspace {
  return { ...rest, org_id };
}

/** The policies of a workspace as they travel. */
export async function travellingPolicies(unit: GatewayUnit, workspace: string): Promise<readonly TravellingPolicy[]> {
  const bound = await unit.list(policies, "by_workspace", [workspace]);
  return bound.map(({ id, name, rego, version }) => ({ id, name, rego, version }));
}
