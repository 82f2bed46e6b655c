import { sha256 } from "@noble/hashes/sha2.js";
import { checkArgument, utf8Encode } from "@seneschal/kernel";
import { utf8Length } from "@seneschal/kernel/store";
import { maxKeyBytes } from "../objects/records.ts";
import { fileError } from "./file-errors.ts";

/** The most bytes of a name. */
export const maxNameBytes = 255;

/**
 * True for what can be the name of a file. Segments of keys that cannot are not seen as files.
 *
 * @example
 * ```ts
 * import { isFileName } from "@seneschal/core/storage";
 * console.log(isFileName("a.txt"), isFileName("..")); // true false
 * ```
 */
export function isFileName(name: string): boolean {
  checkArgument("name", name, "string");
  return name !== "" && name !== "." && name !== ".." && !/[/\0]/.test(name) && utf8Length(name) <= maxNameBytes;
}

/**
 * Throws `ENAMETOOLONG`, `EEXIST` for `.` and `..`, `EINVAL`.
 *
 * @example
 * ```ts
 * import { checkFileName } from "@seneschal/core/storage";
 * checkFileName("a");
 * try {
 *   checkFileName("..");
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // EEXIST
 * }
 * ```
 */
export function checkFileName(name: string): void {
  checkArgument("name", name, "string");
  if (utf8Length(name) > maxNameBytes) throw fileError("ENAMETOOLONG", `a name has at most ${maxNameBytes} bytes`);
  if (name === "." || name === "..") throw fileError("EEXIST", "the directory itself and the one above are always there");
  if (!isFileName(name)) throw fileError("EINVAL", "that cannot be the name of a file");
}

/**
 * The key of a file, and without its last `/` that of a directory, below the directory that has the key `directory`; keys of directories end
 * with `/`, that of the root is empty. Throws `ENAMETOOLONG`.
 *
 * @example
 * ```ts
 * import { childKey } from "@seneschal/core/storage";
 * console.log(childKey("a/", "b", "file"), childKey("a/", "b", "directory")); // a/b a/b/
 * ```
 */
export function childKey(directory: string, name: string, kind: "file" | "directory"): string {
  const key = `${directory}${name}${kind === "directory" ? "/" : ""}`;
  if (utf8Length(key) > maxKeyBytes) throw fileError("ENAMETOOLONG", `a path has at most ${maxKeyBytes} bytes`);
  return key;
}

/**
 * The key of the directory that a key is in; of the root, which is in none, the root.
 *
 * @example
 * ```ts
 * import { parentKey } from "@seneschal/core/storage";
 * console.log(parentKey("a/b"), parentKey("a/b/"), JSON.stringify(parentKey("a"))); // a/ a/ ""
 * ```
 */
export function parentKey(key: string): string {
  checkArgument("key", key, "string");
  return key.slice(0, key.lastIndexOf("/", key.length - 2) + 1);
}

/**
 * The first segment of a key below a directory, and whether it is one of a directory.
 *
 * @example
 * ```ts
 * import { entryOf } from "@seneschal/core/storage";
 * console.log(entryOf("a/", "a/b/c")); // { name: 'b', kind: 'directory' }
 * ```
 */
export function entryOf(directory: string, key: string): { readonly name: string; readonly kind: "file" | "directory" } {
  checkArgument("directory", directory, "string");
  checkArgument("key", key, "string");
  const slash = key.indexOf("/", directory.length);
  return slash < 0
    ? { name: key.slice(directory.length), kind: "file" }
    : { name: key.slice(directory.length, slash), kind: "directory" };
}

const firstCookie = 16n;

/**
 * Where a name stands in the listing of its directory: 62 bits of a hash, the same for ever, so that a listing goes on behind a name whatever
 * was made, removed or renamed meanwhile. Names that share one are listed together.
 *
 * @example
 * ```ts
 * import { cookieOf } from "@seneschal/core/storage";
 * console.log(cookieOf("a") === cookieOf("a"), cookieOf("a") < 2n ** 63n); // true true
 * ```
 */
export function cookieOf(name: string): bigint {
  const hash = sha256(utf8Encode(name));
  const cookie = new DataView(hash.buffer, hash.byteOffset).getBigUint64(0) >> 2n;
  return cookie < firstCookie ? firstCookie : cookie;
}
