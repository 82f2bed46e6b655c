import type { RotationPolicy } from "@seneschal/core/keys";
import { collection } from "../../ground/index.ts";

/** Kept under the id of their workspace: one each. */
export const rotationPolicies = collection<RotationPolicy>("rotation_policies", {
  by_org: { key: (policy) => [policy.org_id, policy.created_at] },
  enabled: { key: (policy) => (policy.enabled ? [policy.created_at] : undefined) },
});
