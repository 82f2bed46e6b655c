import { limits, refusal } from "@seneschal/core/keys";
import type { Reader } from "../../ground/index.ts";
import { type Policy, policies } from "./collections.ts";

/**
 * Throws `CONFLICT` when a workspace would have more policies, or more text in them, than travels to its participants' instances.
 * Policies of an organisation stay where they are: only their size is bounded, by the contract.
 */
export async function requireRoom(read: Reader, policy: Pick<Policy, "id" | "workspace_id" | "rego">): Promise<void> {
  if (policy.workspace_id === null) return;
  const others = (await read.list(policies, "by_workspace", [policy.workspace_id])).filter(({ id }) => id !== policy.id);
  const bytes = [...others, policy].reduce((sum, { rego }) => sum + Buffer.byteLength(JSON.stringify(rego)), 0);
  if (others.length >= limits.policies.count || bytes > limits.policies.bytes) {
    const { count, bytes: most } = limits.policies;
    throw refusal("CONFLICT", `a workspace has at most ${count} policies of ${most} bytes together`, { count, bytes: most });
  }
}
