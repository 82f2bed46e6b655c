import { checkArgument } from "@seneschal/kernel";
import { refusal } from "../codes.ts";

/** A policy as its owner names it. */
export interface PolicyVersion {
  readonly id: string;
  readonly version: number;
  readonly rego: string;
}

/**
 * The policies of a workspace that an owner names, against those that stand here and the versions that it has taken away: which are new or
 * newer, which are gone. Throws `STATE_CONFLICT` for one that is named twice, and for a version that goes back or changes its text, also by
 * way of having been taken away.
 *
 * @example
 * ```ts
 * import { followPolicies } from "@seneschal/core/keys";
 * const policy = { id: "p1", version: 1, rego: "package p" };
 * console.log(followPolicies([policy], {}, [{ ...policy, version: 2 }]).changed.length, followPolicies([policy], {}, []).gone.length); // 1 1
 * ```
 */
export function followPolicies<P extends PolicyVersion>(
  standing: readonly PolicyVersion[],
  retired: Readonly<Record<string, number>>,
  pushed: readonly P[],
): { readonly changed: readonly P[]; readonly gone: readonly PolicyVersion[] } {
  checkArgument("standing", standing, "array");
  checkArgument("retired", retired, "object");
  checkArgument("pushed", pushed, "array");
  const names = new Set(pushed.map(({ id }) => id));
  if (names.size !== pushed.length) throw refusal("STATE_CONFLICT", "a policy is named once");
  const known = new Map(standing.map((policy) => [policy.id, policy]));
  const changed = pushed.filter(({ id, version, rego }) => {
    const before = known.get(id);
    if (before !== undefined && before.version === version && before.rego === rego) return false;
    const last = before?.version ?? (Object.hasOwn(retired, id) ? retired[id] : undefined) ?? 0;
    if (last >= version) throw refusal("STATE_CONFLICT", "versions of policies do not go back", { policy_id: id });
    return true;
  });
  return { changed, gone: standing.filter(({ id }) => !names.has(id)) };
}
