import { checkArgument } from "@seneschal/kernel";
import { storageError } from "./errors.ts";

/** The most that a bucket may hold; a member that is absent is no limit. */
export interface BucketQuota {
  readonly max_bytes?: number;
  readonly max_objects?: number;
}

/** What a bucket holds, or by how much that changes: bytes of all versions, and versions that hold something (delete markers do not). */
export interface BucketUsage {
  readonly bytes: number;
  readonly objects: number;
}

/**
 * What a file system over a bucket has in all and has left: the cluster's room, or less where the bucket's quota says so (`limit`).
 *
 * @example
 * ```ts
 * import { spaceOf } from "@seneschal/core/storage";
 * console.log(spaceOf({ capacityBytes: 1000, usedBytes: 100 }, { max_bytes: 300, bytes: 50 })); // { total: 300, free: 250 }
 * ```
 */
export function spaceOf(
  room: { readonly capacityBytes: number; readonly usedBytes: number },
  limit: { readonly max_bytes?: number | undefined; readonly bytes?: number | undefined },
): { readonly total: number; readonly free: number } {
  checkArgument("room", room, "object");
  checkArgument("limit", limit, "object");
  const { capacityBytes, usedBytes } = room;
  const { max_bytes = capacityBytes, bytes = usedBytes } = limit;
  return {
    total: Math.min(capacityBytes, max_bytes),
    free: Math.max(0, Math.min(capacityBytes - usedBytes, max_bytes - bytes)),
  };
}

/**
 * Throws `QuotaExceeded` when a change would bring a bucket beyond its quota. What makes it smaller is let through also where it is beyond
 * already, and so is what leaves a figure as it is.
 *
 * @example
 * ```ts
 * import { checkBucketQuota } from "@seneschal/core/storage";
 * checkBucketQuota({ max_bytes: 100 }, { bytes: 90, objects: 1 }, { bytes: 10, objects: 1 }); // fits
 * ```
 */
export function checkBucketQuota(quota: BucketQuota, used: BucketUsage, change: BucketUsage): void {
  checkArgument("quota", quota, "object");
  checkArgument("used", used, "object");
  checkArgument("change", change, "object");
  const { max_bytes = Number.POSITIVE_INFINITY, max_objects = Number.POSITIVE_INFINITY } = quota;
  if (change.bytes > 0 && used.bytes + change.bytes > max_bytes)
    throw storageError("QuotaExceeded", `the bucket may hold ${max_bytes} bytes`, { limit: max_bytes, used: used.bytes });
  if (change.objects > 0 && used.objects + change.objects > max_objects)
    throw storageError("QuotaExceeded", `the bucket may hold ${max_objects} objects`, { limit: max_objects, used: used.objects });
}
