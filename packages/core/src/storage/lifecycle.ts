import { checkArgument } from "@seneschal/kernel";

/** When versions of the keys of a bucket expire. Days count from midnight UTC behind them, as S3 has it. */
export interface LifecycleRule {
  readonly id: string;
  readonly enabled: boolean;
  readonly filter: LifecycleFilter;
  /** What the rule was given with, so that it is given back so. */
  readonly form: "prefix" | "filter";
  readonly expiration?: { readonly days: number } | { readonly date: number } | { readonly marker: true };
  readonly noncurrent?: { readonly days?: number; readonly newer?: number };
  /** Days after which an upload that was not completed is given up. */
  readonly abort?: number;
}

/** Which versions a rule is about: all that it says must be true of them. */
export interface LifecycleFilter {
  readonly prefix?: string;
  readonly tags?: readonly { readonly key: string; readonly value: string }[];
  readonly over?: number;
  readonly under?: number;
}

/** A version as its rules see it. */
export interface LifecycleVersion {
  readonly key: string;
  readonly size: number;
  readonly tags: readonly { readonly key: string; readonly value: string }[];
  readonly marker: boolean;
  readonly modifiedAt: number;
  /** Since when it is not current; absent: it is. */
  readonly supersededAt?: number;
  /** How many versions that are not current are newer; of a current one, how many there are. */
  readonly others: number;
}

/** The midnight behind a number of days, or the same of another length of day. */
export function dueAt(from: number, days: number, dayMs: number): number {
  return Math.ceil((from + days * dayMs) / dayMs) * dayMs;
}

/** True for what a rule is about. */
export function inFilter(filter: LifecycleFilter, version: Pick<LifecycleVersion, "key" | "size" | "tags">): boolean {
  checkArgument("filter", filter, "object");
  checkArgument("version", version, "object");
  const { prefix = "", tags = [], over, under } = filter;
  return (
    version.key.startsWith(prefix) &&
    (over === undefined || version.size > over) &&
    (under === undefined || version.size < under) &&
    tags.every(({ key, value }) => version.tags.some((tag) => tag.key === key && tag.value === value))
  );
}

/** The last time that a `Date` can be, milliseconds. */
const lastTime = 8.64e15;

/**
 * When the current version of a key expires by a rule; `undefined`: by none. Clients are told it.
 *
 * @example
 * ```ts
 * import { expiresAt } from "@seneschal/core/storage";
 * const rule = { id: "r1", enabled: true, filter: {}, form: "filter", expiration: { days: 1 }, abort: 1 } as const;
 * const version = { key: "a", size: 3, tags: [], marker: false, modifiedAt: 0, others: 0 };
 * console.log(expiresAt([rule], version, 86_400_000)); // { rule: 'r1', at: 86400000 }
 * ```
 */
export function expiresAt(
  rules: readonly LifecycleRule[],
  version: LifecycleVersion,
  dayMs: number,
): { readonly rule: string; readonly at: number } | undefined {
  checkArgument("rules", rules, "array");
  checkArgument("version", version, "object");
  checkArgument("dayMs", dayMs, "number");
  if (version.supersededAt !== undefined || version.marker) return undefined;
  const dates = rules.flatMap(({ id, enabled, filter, expiration }) => {
    if (!enabled || expiration === undefined || "marker" in expiration || !inFilter(filter, version)) return [];
    return [{ rule: id, at: "date" in expiration ? expiration.date : dueAt(version.modifiedAt, expiration.days, dayMs) }];
  });
  // What lies behind the last time that there is does not come.
  return dates.filter(({ at }) => at <= lastTime).sort((a, b) => a.at - b.at)[0];
}

/**
 * What is due: `delete` the key, so that a bucket with versions gets a delete marker, or `remove` the version for good: one of the
 * past, or a delete marker that hides nothing any more.
 *
 * @example
 * ```ts
 * import { lifecycleDue } from "@seneschal/core/storage";
 * const rule = { id: "r1", enabled: true, filter: {}, form: "filter", expiration: { days: 1 }, abort: 1 } as const;
 * const version = { key: "a", size: 3, tags: [], marker: false, modifiedAt: 0, others: 0 };
 * console.log(lifecycleDue([rule], version, 1, 86_400_000), lifecycleDue([rule], version, 3 * 86_400_000, 86_400_000)); // undefined delete
 * ```
 */
export function lifecycleDue(
  rules: readonly LifecycleRule[],
  version: LifecycleVersion,
  now: number,
  dayMs: number,
): "delete" | "remove" | undefined {
  checkArgument("rules", rules, "array");
  checkArgument("version", version, "object");
  checkArgument("now", now, "number");
  checkArgument("dayMs", dayMs, "number");
  const { supersededAt, marker, others } = version;
  const due = expiresAt(rules, version, dayMs);
  if (due !== undefined) return due.at <= now ? "delete" : undefined;
  for (const { enabled, filter, expiration, noncurrent } of rules) {
    if (!enabled || !inFilter(filter, version)) continue;
    if (supersededAt !== undefined && noncurrent !== undefined) {
      const old = dueAt(supersededAt, noncurrent.days ?? 0, dayMs) <= now;
      if (old && others >= (noncurrent.newer ?? 0)) return "remove";
    }
    if (supersededAt === undefined && marker && others === 0 && expiration !== undefined) {
      const alone = "marker" in expiration || ("days" in expiration && dueAt(version.modifiedAt, expiration.days, dayMs) <= now);
      if (alone) return "remove";
    }
  }
  return undefined;
}
