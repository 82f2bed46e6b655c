import { keyText } from "../../../platform/index.ts";
import { collection } from "../../ground/index.ts";

/** Rego source of an organisation, for one workspace or (`workspace_id` null) for all of its own. */
export interface Policy {
  readonly id: string;
  readonly org_id: string;
  readonly workspace_id: string | null;
  readonly name: string;
  readonly rego: string;
  readonly version: number;
  readonly created_by: string;
  readonly created_at: string;
  readonly updated_at: string;
}

export const policies = collection<Policy>("policies", {
  by_workspace: { key: (policy) => (policy.workspace_id === null ? undefined : [policy.workspace_id, policy.created_at]) },
  org_wide: { key: (policy) => (policy.workspace_id === null ? [policy.org_id, policy.created_at] : undefined) },
  by_org: { key: (policy) => [policy.org_id, policy.created_at] },
  by_name: {
    key: (policy) => [policy.org_id, policy.workspace_id ?? "", keyText(policy.name)],
    unique: "a policy of that name exists for the workspace",
  },
});
