import { md5 } from "@noble/hashes/legacy.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { checkArgument } from "@seneschal/kernel";
import { storageError } from "../errors.ts";
import { objectError } from "./object-errors.ts";
import type { Completion, UploadTarget, VersionAttributes } from "./object-store.ts";
import { type ObjectDescription, type ObjectVersion, partLimits, type Upload, type UploadPart } from "./records.ts";

/**
 * Throws `NoSuchUpload` unless what was found is the upload that a target names.
 *
 * @example
 * ```ts
 * import { checkUpload } from "@seneschal/core/storage";
 * const target = { tenant: "acme", bucket: "docs", key: "a", upload: "u1" };
 * try {
 *   checkUpload(undefined, target);
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // NoSuchUpload
 * }
 * ```
 */
export function checkUpload(found: Upload | undefined, target: UploadTarget): asserts found is Upload {
  checkArgument("target", target, "object");
  const { bucket, key, upload } = target;
  if (found?.bucket !== bucket || found.key !== key) throw objectError("NoSuchUpload", "the upload does not exist", { upload });
}

/**
 * The parts that a completion names, as they were uploaded: `found` has them in the order in which they are named, `undefined` for one that is
 * not there. Throws `InvalidPart` unless each was uploaded with the ETag that is named, `InvalidPartOrder`, `EntityTooSmall`.
 *
 * @example
 * ```ts
 * import { partsToJoin } from "@seneschal/core/storage";
 * const part = { upload: "u", number: 1, size: 3, etag: "0".repeat(32), modified_at: 0 };
 * console.log(partsToJoin([{ number: 1, etag: part.etag }], [part]).length); // 1
 * ```
 */
export function partsToJoin<P extends UploadPart>(named: Completion["parts"], found: readonly (P | undefined)[]): readonly P[] {
  checkArgument("named", named, "array");
  checkArgument("found", found, "array");
  if (named.length === 0) throw objectError("InvalidPart", "no part is named");
  if (named.some(({ number }, i) => i > 0 && number <= (named[i - 1]?.number ?? 0)))
    throw objectError("InvalidPartOrder", "parts must be in ascending order");
  return named.map(({ number, etag }, i) => {
    const part = found[i];
    if (part === undefined || part.etag !== etag)
      throw objectError("InvalidPart", `part ${number} was not uploaded with this ETag`);
    if (part.size < partLimits.minBytes && i < named.length - 1)
      throw objectError("EntityTooSmall", `part ${number} is below 5 MiB`);
    return part;
  });
}

/**
 * The ETag of an object that is made of parts: the MD5 of theirs, and how many there are; `undefined` where one of theirs is no MD5.
 *
 * @example
 * ```ts
 * import { etagOfParts } from "@seneschal/core/storage";
 * console.log(etagOfParts([{ etag: "900150983cd24fb0d6963f7d28e17f72" }])); // af5da9f45af7a300e3aded972f8ff687-1
 * ```
 */
export function etagOfParts(parts: readonly { readonly etag: string }[]): string | undefined {
  checkArgument("parts", parts, "array");
  if (!parts.every(({ etag }) => /^[0-9a-f]{32}$/.test(etag))) return undefined;
  const digest = md5(hexToBytes(parts.map(({ etag }) => etag).join("")));
  return `${bytesToHex(digest)}-${parts.length}`;
}

/**
 * What an object has of the upload that it was made by, and of the parts that it was joined of; `joined`: headers that it has of those besides.
 *
 * @example
 * ```ts
 * import { joinedObject } from "@seneschal/core/storage";
 * const described = { content_type: "text/plain", headers: {}, meta: {} };
 * const upload = { id: "u1", tenant: "acme", bucket: "docs", key: "a", started_at: 0, ...described };
 * const part = { upload: "u1", number: 1, size: 3, etag: "900150983cd24fb0d6963f7d28e17f72", modified_at: 0 };
 * console.log(joinedObject(upload, [part], {}).size); // 3
 * ```
 */
export function joinedObject(
  upload: Upload,
  parts: readonly UploadPart[],
  joined: Readonly<Record<string, string>>,
): ObjectDescription & VersionAttributes & Pick<ObjectVersion, "size" | "etag"> {
  checkArgument("upload", upload, "object");
  checkArgument("parts", parts, "array");
  checkArgument("joined", joined, "object");
  const { started_at: _, checksum: __, replica: ___, ...description } = upload;
  const etag = etagOfParts(parts);
  if (etag === undefined) throw storageError("InvariantViolation", "a part has an ETag that is no MD5");
  return {
    ...description,
    headers: { ...upload.headers, ...joined },
    size: parts.reduce((sum, { size }) => sum + size, 0),
    etag,
  };
}
