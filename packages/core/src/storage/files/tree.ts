import { checkArgument } from "@seneschal/kernel";
import type { Bucket, ObjectVersion } from "../objects/records.ts";
import { type KeptAttributes, touched } from "./attributes.ts";
import { movedKey } from "./changes.ts";
import type { FileKind } from "./file-service.ts";

/** The media type of an object that is a symbolic link; its bytes are the target. */
export const symlinkType = "inode/symlink";
/** The media type of the object of a directory, whose key ends with `/`. */
export const directoryType = "application/x-directory";

/**
 * What an object is as a file; `undefined`: nothing, it is deleted.
 *
 * @example
 * ```ts
 * import { kindOfObject } from "@seneschal/core/storage";
 * console.log(kindOfObject({ content_type: "text/plain" }), kindOfObject({ content_type: "", delete_marker: true })); // file undefined
 * ```
 */
export function kindOfObject(
  object: Pick<ObjectVersion, "content_type" | "delete_marker">,
): Exclude<FileKind, "directory"> | undefined {
  checkArgument("object", object, "object");
  if (object.delete_marker === true) return undefined;
  return object.content_type === symlinkType ? "symlink" : "file";
}

/** The MD5 digest of nothing. */
const emptyEtag = "d41d8cd98f00b204e9800998ecf8427e";

/**
 * The object that a directory needs so that it stays when the last of its entries goes: none where it has one (`found`), nor does the root. It is
 * part of the commit that takes the entry away: in a bucket that is full it takes the place of what went.
 *
 * @example
 * ```ts
 * import { directoryObject } from "@seneschal/core/storage";
 * const bucket = { name: "docs", tenant: "acme", created_at: 0, region: "eu", deleting: false };
 * console.log(directoryObject(bucket, "a/", undefined, 0)?.size, directoryObject(bucket, "", undefined, 0)); // 0 undefined
 * ```
 */
export function directoryObject(
  bucket: Bucket,
  key: string,
  found: Pick<ObjectVersion, "delete_marker"> | undefined,
  now: number,
): ObjectVersion | undefined {
  checkArgument("bucket", bucket, "object");
  checkArgument("key", key, "string");
  checkArgument("now", now, "number");
  if (key === "" || (found !== undefined && found.delete_marker !== true)) return undefined;
  const { name, tenant, encryption } = bucket;
  const described = { content_type: directoryType, headers: {}, meta: {}, ...(encryption && { encryption }) };
  return { tenant, bucket: name, key, size: 0, etag: emptyEtag, modified_at: now, ...described };
}

/** Something that goes to another key, as it is there then. */
export interface Move<T> {
  readonly from: T;
  readonly to: T;
}

/** What a file or directory is kept of by its key. */
interface Keyed {
  readonly key: string;
}

/**
 * What a rename of a directory moves: `objects`, all below it and its own, and what is kept (`records`) of those keys and of the directories on
 * the way to them ({@link keysWithin}). Nothing of them changes but their keys, and when the directory itself did.
 *
 * @example
 * ```ts
 * import { moveDirectory } from "@seneschal/core/storage";
 * const { objects } = moveDirectory("old/", "new/", [{ key: "old/a" }], [], 5);
 * console.log(objects[0]?.to.key); // new/a
 * ```
 */
export function moveDirectory<O extends Keyed, R extends Keyed & KeptAttributes>(
  from: string,
  to: string,
  objects: readonly O[],
  records: readonly R[],
  now: number,
): { readonly objects: readonly Move<O>[]; readonly records: readonly Move<R>[] } {
  checkArgument("from", from, "string");
  checkArgument("to", to, "string");
  checkArgument("objects", objects, "array");
  checkArgument("records", records, "array");
  checkArgument("now", now, "number");
  const moved = <T extends Keyed>(one: T): T => ({ ...one, key: movedKey(one.key, from, to) });
  return {
    objects: objects.map((one) => ({ from: one, to: moved(one) })),
    records: records.map((one) => ({ from: one, to: moved(one.key === from ? touched(one, now) : one) })),
  };
}
