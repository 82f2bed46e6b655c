import { checkArgument } from "@seneschal/kernel";
import { mergedResource } from "../classification/code/merged-resource.ts";
import { type KnownResource, starEvidence } from "../classification/code/sql-evidence.ts";
import { withSystemResources } from "../classification/code/system-resources.ts";
import { Surroundings, termOf } from "../classification/lexicon.ts";
import { lowestTier, maxTier, policyOf, type TierPolicy, unclassifiedTier } from "../classification/tiers.ts";
import type { EvaluatedResource, EvaluationCatalogue } from "../evaluate/types.ts";

/** A table of a query, with the resources that it may stand for. */
export interface QueriedTable {
  /** As the query names it. */
  readonly name: string;
  readonly ids: readonly string[];
  /** The register knows it by its name; where it does not, the caller alone says what it stands for. */
  readonly registered: boolean;
}

/**
 * The catalogue as one query sees it: of each resource the columns that the query names (`columns`, in lower case; absent: all), and whatever the name of the table itself says besides: what databases keep in tables so called,
 * and, where the register does not know it, what its columns are called. Each of several resources that one name may mean counts in the others:
 * a column that one of them does not list has that one's tier. So nothing that a caller says of a table makes it less than that.
 *
 * @example
 * ```ts
 * import { DEFAULT_TIER_POLICY, queriedCatalogue } from "@seneschal/governance";
 * const columns = { id: { tier: "PUBLIC", tags: [] }, ssn: { tier: "RESTRICTED", tags: ["PII"] } };
 * const catalogue = { resource: () => ({ tier: "RESTRICTED", tags: [], columns }), destinations: () => [], purposes: () => [], approvals: () => [] };
 * const tables = [{ name: "orders", ids: ["orders"], registered: true }];
 * const seen = queriedCatalogue(catalogue, DEFAULT_TIER_POLICY, tables, ["id"]);
 * console.log(seen.resource("orders")?.tier); // PUBLIC
 * ```
 */
export function queriedCatalogue(
  catalogue: EvaluationCatalogue,
  policy: TierPolicy,
  tables: readonly QueriedTable[],
  columns?: readonly string[],
): EvaluationCatalogue {
  checkArgument("catalogue", catalogue, "object");
  checkArgument("policy", policy, "object");
  checkArgument("tables", tables, "array");
  const named = columns === undefined ? undefined : new Set(columns);
  return {
    resource: (id) => {
      const own = catalogue.resource(id);
      if (own === undefined) return undefined;
      const said = tables
        .filter(({ ids }) => ids.includes(id))
        .flatMap((table) => [
          ...saidBy(table, own, policy, named === undefined),
          ...table.ids.filter((other) => other !== id).flatMap((other) => catalogue.resource(other) ?? []),
        ]);
      const whole = mergedResource(policy, [own, ...said]) ?? own;
      const seen = named === undefined ? whole : narrowed(whole, policy, named);
      return { ...own, tier: seen.tier, tags: seen.tags, columns: seen.columns ?? {} };
    },
    destinations: () => catalogue.destinations(),
    purposes: () => catalogue.purposes(),
    approvals: () => catalogue.approvals(),
  };
}

/** What the name of a table says of a resource that it stands for. */
function saidBy(
  { name, registered }: QueriedTable,
  own: EvaluatedResource,
  policy: TierPolicy,
  whole: boolean,
): readonly KnownResource[] {
  const found: KnownResource[] = [];
  const system = withSystemResources(() => undefined, policy)(name);
  if (system !== undefined) found.push(system);
  if (registered) return found;
  const names = Object.keys(own.columns);
  const around = new Surroundings(name, names);
  const plain = { tier: unclassifiedTier(policy), tags: [] };
  const all = whole ? starEvidence(name, policy, () => undefined) : [];
  const terms = names.map((column) => {
    const term = termOf(column, around);
    return [column, term === undefined ? plain : policyOf(policy, term.entity)] as const;
  });
  const tier = [...all, ...terms.map(([, term]) => term)].reduce((most, each) => maxTier(policy, most, each.tier), plain.tier);
  return [
    ...found,
    ...all.map((each) => ({ tier: each.tier, tags: each.tags })),
    { tier, tags: [], columns: Object.fromEntries(terms) },
  ];
}

/** A resource of which only some columns are named: what the others hold does not count. Where none that is known is named, it is what it is. */
function narrowed(resource: KnownResource, policy: TierPolicy, named: ReadonlySet<string>): KnownResource {
  const columns = Object.entries(resource.columns ?? {});
  const used = columns.filter(([column]) => named.has(column.toLowerCase())).map(([, own]) => own);
  if (used.length === 0) return resource;
  const unused = { tier: lowestTier(policy), tags: [] };
  return {
    tier: used.reduce((most, { tier }) => maxTier(policy, most, tier), lowestTier(policy)),
    tags: [...new Set(used.flatMap(({ tags }) => tags))],
    columns: Object.fromEntries(columns.map(([column, own]) => [column, named.has(column.toLowerCase()) ? own : unused])),
  };
}
