import { checkArgument } from "@seneschal/kernel";
import type { ColumnReport } from "../classification/columns/column-report.ts";
import { highestTier, lowestTier, maxTier, type TierPolicy } from "../classification/tiers.ts";
import type { TierTags } from "../lineage/types.ts";

/** Values of a column, and its type where its source has types. */
export interface SampledColumn {
  readonly name: string;
  readonly type?: string;
  readonly values: readonly string[];
  /** Some values are bytes that are no text. */
  readonly unread?: boolean;
  /** What it is called in place of `name`, where that may be a value: it counts for the tier alone. */
  readonly called?: string;
  /** Of a nested one the names of its members, from the outermost on. */
  readonly path?: readonly string[];
}

/** What scans know of one asset; no value of it. */
export interface ScannedAsset {
  /** Tier and tags are absent where nothing was found: that is no proof that nothing is there. */
  readonly columns: Readonly<
    Record<string, { readonly type?: string; readonly tier?: string; readonly tags?: readonly string[] }>
  >;
  /** Nobody could read what is there: it may be anything. */
  readonly unread: boolean;
  /** Of the source, when it was read. */
  readonly revision?: string;
  /** The source does not have it any more. */
  readonly gone: boolean;
}

/** A column as it is told, and what the classifier says of it. */
export type ScannedColumn = Pick<SampledColumn, "name" | "type"> & Pick<ColumnReport, "tier" | "tags">;

/**
 * What is known of an asset after a scan. `read`: what the scan saw, `undefined` when the asset could not be read; `revision`: of what it saw, or could not read. A scan looks at samples, so that it takes nothing back: a
 * column keeps the highest tier and all tags that any scan found, as long as it is there; columns of one name count all. What could not be read stays as it was, and is of the highest tier when no
 * scan ever read what is there now.
 *
 * @example
 * ```ts
 * import { DEFAULT_TIER_POLICY, scannedAsset } from "@seneschal/governance";
 * const first = scannedAsset(DEFAULT_TIER_POLICY, undefined, [{ name: "note", tier: "RESTRICTED", tags: ["PHI"] }]);
 * const again = scannedAsset(DEFAULT_TIER_POLICY, first, [{ name: "note", tier: "PUBLIC", tags: [] }]);
 * console.log(again.columns["note"]?.tier); // RESTRICTED
 * ```
 */
export function scannedAsset(
  policy: TierPolicy,
  before: ScannedAsset | undefined,
  read: readonly ScannedColumn[] | undefined,
  revision?: string,
): ScannedAsset {
  checkArgument("policy", policy, "object");
  if (read !== undefined) checkArgument("read", read, "array");
  if (read === undefined) {
    const another = before === undefined || before.gone || (revision !== undefined && revision !== before.revision);
    return { columns: {}, ...before, unread: another || before.unread, gone: false };
  }
  const columns = new Map<string, ScannedAsset["columns"][string]>();
  for (const { name, type, tier, tags } of read) {
    const earlier = before !== undefined && Object.hasOwn(before.columns, name) ? before.columns[name] : undefined;
    const known = columns.get(name) ?? earlier;
    const highest = maxTier(policy, tier, known?.tier ?? lowestTier(policy));
    const all = [...new Set([...(known?.tags ?? []), ...tags])];
    const found = highest !== lowestTier(policy) || all.length > 0;
    columns.set(name, { ...(type === undefined ? {} : { type }), ...(found ? { tier: highest, tags: all } : {}) });
  }
  return { columns: Object.fromEntries(columns), unread: false, gone: false, ...(revision === undefined ? {} : { revision }) };
}

/** What a scan declares of a resource as a whole. */
export function scannedTier(policy: Pick<TierPolicy, "tiers">, asset: Pick<ScannedAsset, "unread">): TierTags | undefined {
  checkArgument("policy", policy, "object");
  checkArgument("asset", asset, "object");
  return asset.unread ? { tier: highestTier(policy), tags: [] } : undefined;
}

/** Whether two have the same columns, of the same types. */
export function sameSchema(a: ScannedAsset["columns"], b: ScannedAsset["columns"]): boolean {
  checkArgument("a", a, "object");
  checkArgument("b", b, "object");
  const text = (columns: ScannedAsset["columns"]) =>
    JSON.stringify(
      Object.entries(columns)
        .map(([name, { type = null }]) => [name, type])
        .sort(),
    );
  return text(a) === text(b);
}
