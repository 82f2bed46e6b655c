import { checkArgument } from "@seneschal/kernel";
import { foldedName } from "../../sql/folded-name.ts";
import { maxTier, type TierPolicy } from "../tiers.ts";
import type { KnownResource } from "./sql-evidence.ts";

/**
 * What is known of a name that may mean several resources: the highest tier, the tags of all, and each column as the highest of what they say of it, where those that do not list it say what
 * they say of the whole.
 */
export function mergedResource(
  policy: Pick<TierPolicy, "tiers">,
  resources: readonly KnownResource[],
): KnownResource | undefined {
  checkArgument("policy", policy, "object");
  checkArgument("resources", resources, "array");
  const [first, ...others] = resources;
  if (first === undefined || others.length === 0) return first;
  const names = new Map<string, string>();
  const listed = resources.map(({ columns = {} }) => {
    const own = new Map<string, Classified>();
    for (const [name, column] of Object.entries(columns)) {
      const key = foldedName(name);
      const known = own.get(key);
      own.set(key, known === undefined ? column : highest(policy, [known, column]));
      names.set(key, name);
    }
    return own;
  });
  const columns = [...names].map(
    ([key, name]) =>
      [
        name,
        highest(
          policy,
          resources.map((resource, i) => listed[i]?.get(key) ?? resource),
        ),
      ] as const,
  );
  return {
    ...highest(policy, resources),
    columns: Object.fromEntries(columns),
    ...(resources.every(({ unclassified }) => unclassified === true) ? { unclassified: true } : {}),
  };
}

type Classified = Pick<KnownResource, "tier" | "tags">;

function highest(policy: Pick<TierPolicy, "tiers">, all: readonly Classified[]): Classified {
  return {
    tier: all.map(({ tier }) => tier).reduce((a, b) => maxTier(policy, a, b)),
    tags: [...new Set(all.flatMap(({ tags }) => tags))],
  };
}
