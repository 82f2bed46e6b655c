import { checkArgument } from "@seneschal/kernel";
import { loweredTier, lowestTier, maxTier, type TierPolicy, unclassifiedTier } from "../classification/tiers.ts";
import type { EvaluatedResource, EvaluationCatalogue, OperationRequest, Transformation } from "./types.ts";

/** Smallest group that counts as an aggregate. */
export const MIN_GROUP = 10;

/**
 * Tier and tags of what a request touches: the maximum over its sources after its transformations. Dropped columns do not count, masked and
 * pseudonymised ones count one tier less, an aggregate over groups of at least {@link MIN_GROUP} counts two less; nothing gets below the second tier.
 */
export function classifyRequest(
  request: OperationRequest,
  catalogue: EvaluationCatalogue,
  policy: TierPolicy,
): { readonly tier: string; readonly tags: readonly string[] } {
  checkArgument("request", request, "object");
  checkArgument("catalogue", catalogue, "object");
  checkArgument("policy", policy, "object");
  let tier = lowestTier(policy);
  const tags = new Set<string>();
  for (const id of request.source_resources) {
    const resource = catalogue.resource(id);
    if (resource === undefined) {
      // What nobody classified is not public.
      tier = maxTier(policy, tier, unclassifiedTier(policy));
      continue;
    }
    const after = transformed(resource, request.transformations ?? [], policy);
    tier = maxTier(policy, tier, after.tier);
    for (const tag of after.tags) tags.add(tag);
  }
  return { tier, tags: [...tags] };
}

function transformed(
  resource: EvaluatedResource,
  transformations: readonly Transformation[],
  policy: TierPolicy,
): { readonly tier: string; readonly tags: readonly string[] } {
  const names = Object.keys(resource.columns);
  const touches = (t: Transformation, column: string) =>
    t.columns === undefined || t.columns.some((c) => c.toLowerCase() === column.toLowerCase());
  const aggregated = transformations.some((t) => t.type === "aggregate" && (t.k ?? 0) >= MIN_GROUP);
  if (names.length === 0 || transformations.length === 0) {
    // Columns are not told apart: only what touches all of it has an effect.
    const masked = transformations.some((t) => (t.type === "mask" || t.type === "pseudonymize") && t.columns === undefined);
    let tier = resource.tier;
    if (masked) tier = loweredTier(policy, tier);
    if (aggregated) tier = loweredTier(policy, loweredTier(policy, tier));
    return { tier, tags: resource.tags };
  }
  let tier = policy.tiers[Math.min(1, policy.tiers.length - 1)] ?? lowestTier(policy);
  const tags = new Set<string>();
  for (const name of names) {
    const column = resource.columns[name];
    if (column === undefined || transformations.some((t) => t.type === "drop" && t.columns !== undefined && touches(t, name)))
      continue;
    const masked = transformations.some((t) => (t.type === "mask" || t.type === "pseudonymize") && touches(t, name));
    let own = masked ? loweredTier(policy, column.tier) : column.tier;
    if (aggregated) own = loweredTier(policy, loweredTier(policy, own));
    tier = maxTier(policy, tier, own);
    for (const tag of column.tags) tags.add(tag);
  }
  return { tier, tags: [...tags] };
}
