import { checkArgument } from "@seneschal/kernel";

/** What an access key may do of what its tenant may. */
export interface KeyAccess {
  readonly mode: "read_write" | "read_only";
  /** Buckets, or what in them begins with a prefix; absent: every bucket. */
  readonly resources?: readonly { readonly bucket: string; readonly prefix: string }[];
}

/** One thing that a request wants, by the name of its action in S3. */
export interface KeyQuestion {
  readonly action: string;
  /** Empty: of the service. */
  readonly bucket: string;
  /** Empty: of the bucket. */
  readonly key: string;
  /** What a listing is of. */
  readonly prefix: string;
}

const listings = ["s3:ListBucket", "s3:ListBucketVersions", "s3:ListBucketMultipartUploads"];

/**
 * True for what the key may ask for. Of a bucket whose prefix alone it reaches it may list what begins so, and ask where it is.
 *
 * @example
 * ```ts
 * import { keyMay } from "@seneschal/core/storage";
 * const question = { action: "s3:GetObject", bucket: "docs", key: "a", prefix: "" };
 * console.log(keyMay({ mode: "read_only" }, question), keyMay({ mode: "read_only", resources: [] }, question)); // true false
 * ```
 */
export function keyMay(access: KeyAccess, question: KeyQuestion): boolean {
  checkArgument("access", access, "object");
  checkArgument("question", question, "object");
  const { action, bucket, key, prefix } = question;
  if (access.mode === "read_only" && !/^s3:(?:Get|List)/.test(action)) return false;
  if (access.resources === undefined) return true;
  return access.resources.some((resource) => {
    if (bucket === "" || resource.bucket !== bucket) return false;
    if (resource.prefix === "") return true;
    if (key !== "") return key.startsWith(resource.prefix);
    return action === "s3:GetBucketLocation" || (listings.includes(action) && prefix.startsWith(resource.prefix));
  });
}
