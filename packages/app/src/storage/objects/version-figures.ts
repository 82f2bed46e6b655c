import type { BucketUsage } from "@seneschal/core/storage";
import type { ObjectDoc } from "../documents.ts";

/** A version as shards and buckets count it: a delete marker holds nothing. */
export function figureOf({ size, delete_marker }: ObjectDoc): BucketUsage {
  return { bytes: size, objects: delete_marker === true ? 0 : 1 };
}

/** Both together, or the first without the second. */
export function plus(a: BucketUsage, b: BucketUsage, sign: 1 | -1 = 1): BucketUsage {
  return { bytes: a.bytes + sign * b.bytes, objects: a.objects + sign * b.objects };
}
