import { checkArgument, type JsonObject } from "@seneschal/kernel";
import { type BucketQuota, type BucketUsage, checkBucketQuota } from "./bucket-quota.ts";
import { compareKeys } from "./objects/listing.ts";
import type { ObjectVersion } from "./objects/records.ts";

/** Where versions are: the current one of each key, those of the past. They are counted in this order. */
type VersionPlaces = "storage_objects" | "storage_versions";

/** Where a version is in the order of its collection: leading bytes of its key, order among the versions of the key, id. */
type CountedTo = readonly [lead: string, order: number, id: string];

/** What a bucket with a quota holds: it moves in the commits that move its objects. */
export interface CountedUsage extends BucketUsage, JsonObject {
  readonly bytes: number;
  readonly objects: number;
  /** Present while what was there before the quota is counted: what lies behind this place is not in the figures yet. */
  readonly counting?: JsonObject & {
    readonly coll: VersionPlaces;
    /** Where the next page of the collection begins; absent: at its beginning. */
    readonly cursor?: string;
    /** The last that was counted. */
    readonly last?: CountedTo;
  };
}

/** What a bucket holds before any of it is counted. */
export const nothingCounted: CountedUsage = { bytes: 0, objects: 0, counting: { coll: "storage_objects" } };

/**
 * A version as it is counted: a delete marker holds nothing.
 *
 * @example
 * ```ts
 * import { usageOf } from "@seneschal/core/storage";
 * console.log(usageOf({ size: 3 }), usageOf({ size: 0, delete_marker: true })); // { bytes: 3, objects: 1 } { bytes: 0, objects: 0 }
 * ```
 */
export function usageOf(version: Pick<ObjectVersion, "size" | "delete_marker">): BucketUsage {
  checkArgument("version", version, "object");
  return { bytes: version.size, objects: version.delete_marker === true ? 0 : 1 };
}

/**
 * Both together, or the first without the second.
 *
 * @example
 * ```ts
 * import { addUsage, usageOf } from "@seneschal/core/storage";
 * const usage = usageOf({ size: 3 });
 * console.log(addUsage(addUsage(usage, usage), usage, -1).bytes); // 3
 * ```
 */
export function addUsage(a: BucketUsage, b: BucketUsage, sign: 1 | -1 = 1): BucketUsage {
  checkArgument("a", a, "object");
  checkArgument("b", b, "object");
  return { bytes: a.bytes + sign * b.bytes, objects: a.objects + sign * b.objects };
}

/** A version and where it lies. */
export interface PlacedVersion {
  readonly coll: VersionPlaces;
  readonly at: CountedTo;
  readonly version: Pick<ObjectVersion, "size" | "delete_marker">;
}

/** A version that comes to lie somewhere (`1`), or is not there any more (`-1`). */
export interface UsageChange extends PlacedVersion {
  readonly sign: 1 | -1;
}

/** Whether what lies there is in the figures. */
function isCounted({ counting }: CountedUsage, { coll, at: [lead, order, id] }: PlacedVersion): boolean {
  if (counting === undefined) return true;
  if (counting.coll !== coll) return counting.coll === "storage_versions";
  if (counting.last === undefined) return false;
  const [lastLead, lastOrder, lastId] = counting.last;
  return (compareKeys(lead, lastLead) || order - lastOrder || (id <= lastId ? 0 : 1)) <= 0;
}

/**
 * What a bucket with a quota holds once these changes are committed with it. Throws `QuotaExceeded` for changes that add to what is beyond the
 * quota. While the bucket is being counted, what was counted is a lower bound that refuses already; what is not counted yet will be.
 *
 * @example
 * ```ts
 * import { usageAfter } from "@seneschal/core/storage";
 * const put = { coll: "storage_objects", at: ["a", 0, "1"], version: { size: 3 }, sign: 1 } as const;
 * console.log(usageAfter({ max_bytes: 9 }, { bytes: 5, objects: 1 }, [put])); // { bytes: 8, objects: 2 }
 * ```
 */
export function usageAfter(quota: BucketQuota, usage: CountedUsage, changes: readonly UsageChange[]): CountedUsage {
  checkArgument("quota", quota, "object");
  checkArgument("usage", usage, "object");
  checkArgument("changes", changes, "array");
  const sum = (some: readonly UsageChange[]) =>
    some.reduce<BucketUsage>((all, { version, sign }) => addUsage(all, usageOf(version), sign), { bytes: 0, objects: 0 });
  checkBucketQuota(quota, usage, sum(changes));
  return { ...usage, ...addUsage(usage, sum(changes.filter((change) => isCounted(usage, change)))) };
}

/**
 * What is known of a bucket once a page of its versions is counted too, those behind the place that was reached; `next`: where the collection
 * goes on behind the page. Without `counting` all of it is counted.
 *
 * @example
 * ```ts
 * import { countOn } from "@seneschal/core/storage";
 * const usage = { bytes: 0, objects: 0, counting: { coll: "storage_objects" } } as const;
 * console.log(countOn(usage, [], undefined)); // { bytes: 0, objects: 0, counting: { coll: 'storage_versions' } }
 * ```
 */
export function countOn(usage: CountedUsage, page: readonly PlacedVersion[], next: string | undefined): CountedUsage {
  checkArgument("usage", usage, "object");
  checkArgument("page", page, "array");
  const { counting, ...figures } = usage;
  if (counting === undefined) return usage;
  const sum = page.reduce<BucketUsage>((all, { version }) => addUsage(all, usageOf(version)), figures);
  const last = page.at(-1)?.at;
  if (next !== undefined && last !== undefined) return { ...sum, counting: { coll: counting.coll, cursor: next, last } };
  return counting.coll === "storage_objects" ? { ...sum, counting: { coll: "storage_versions" } } : { ...sum };
}
