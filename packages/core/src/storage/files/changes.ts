import { checkArgument, isCoded } from "@seneschal/kernel";
import { utf8Length } from "@seneschal/kernel/store";
import { storageError } from "../errors.ts";
import type { ObjectErrorCode } from "../objects/object-errors.ts";
import { maxKeyBytes } from "../objects/records.ts";
import { type FileErrorCode, fileError } from "./file-errors.ts";
import type { Creation, FileAttributes, FileKind } from "./file-service.ts";
import { parentKey } from "./names.ts";
import { checkEntryChange, type FileUser, mayTransfer } from "./permissions.ts";

/** The most bytes of a file. */
export const maxFileSize = 5 * 2 ** 30;
/** The most keys below a directory that is renamed: they change in one commit. */
export const maxRenamedKeys = 1000;

type Owned = Pick<FileAttributes, "mode" | "uid" | "gid" | "kind">;

/**
 * Throws `EISDIR`, `EINVAL` or `EACCES` unless the user may read or write bytes of a file, `EFBIG` for a write that ends behind the most.
 *
 * @example
 * ```ts
 * import { checkTransfer } from "@seneschal/core/storage";
 * const file = { kind: "file", mode: 0o640, uid: 1000, gid: 100 } as const;
 * const [ada, eve] = [{ uid: 1000, gid: 100, gids: [] }, { uid: 2000, gid: 200, gids: [] }];
 * checkTransfer(ada, file, "write", 10);
 * try {
 *   checkTransfer(eve, file, "read");
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // EACCES
 * }
 * ```
 */
export function checkTransfer(user: FileUser, file: Owned, want: "read" | "write", end = 0): void {
  checkArgument("user", user, "object");
  checkArgument("file", file, "object");
  if (file.kind === "directory") throw fileError("EISDIR", "a directory has no bytes");
  if (file.kind !== "file") throw fileError("EINVAL", "that is no file");
  if (!mayTransfer(user, file, want)) throw fileError("EACCES", "the file's mode does not allow it");
  if (want === "write") checkSize(end);
}

/**
 * Throws `EISDIR`, `EINVAL` or `EFBIG` unless a file can be made so many bytes long.
 *
 * @example
 * ```ts
 * import { checkResize } from "@seneschal/core/storage";
 * checkResize("file", 10);
 * try {
 *   checkResize("directory", 0);
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // EISDIR
 * }
 * ```
 */
export function checkResize(kind: FileKind, size: number): void {
  checkArgument("kind", kind, "string");
  checkArgument("size", size, "number");
  if (kind === "directory") throw fileError("EISDIR", "a directory has no size to set");
  if (kind !== "file") throw fileError("EINVAL", "that is no file");
  checkSize(size);
}

function checkSize(size: number): void {
  if (size > maxFileSize) throw fileError("EFBIG", `a file has at most ${maxFileSize} bytes`);
}

/**
 * Throws `EEXIST` where a name is taken that is to be made: it is left to who does not mind, and to who made it exclusively by the same
 * call (`exclusive`, what it was called by) and asks again since the answer was lost.
 *
 * @example
 * ```ts
 * import { checkTaken } from "@seneschal/core/storage";
 * checkTaken({ kind: "file" }, { kind: "unchecked" });
 * try {
 *   checkTaken({ kind: "file" }, { kind: "guarded" });
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // EEXIST
 * }
 * ```
 */
export function checkTaken(
  found: { readonly kind: FileKind; readonly exclusive?: string | undefined },
  creation: { readonly kind: Creation["kind"]; readonly exclusive?: string | undefined },
): void {
  checkArgument("found", found, "object");
  checkArgument("creation", creation, "object");
  const mine = creation.exclusive !== undefined && found.exclusive === creation.exclusive;
  if (found.kind !== "file" || creation.kind === "guarded" || (creation.kind === "exclusive" && !mine))
    throw fileError("EEXIST", "the name is taken");
}

/**
 * Throws unless what has the new name may be replaced by what is renamed: `EACCES` and `EPERM` as of a removal, `ENOTDIR`, `EISDIR`.
 *
 * @example
 * ```ts
 * import { checkReplaced } from "@seneschal/core/storage";
 * const directory = { kind: "directory", mode: 0o755, uid: 1000, gid: 100 } as const;
 * const [ada, eve] = [{ uid: 1000, gid: 100, gids: [] }, { uid: 2000, gid: 200, gids: [] }];
 * checkReplaced(ada, directory, directory, directory);
 * try {
 *   checkReplaced(eve, directory, directory, directory);
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // EACCES
 * }
 * ```
 */
export function checkReplaced(user: FileUser, source: Pick<Owned, "kind">, directory: Owned, replaced: Owned): void {
  checkArgument("source", source, "object");
  checkArgument("replaced", replaced, "object");
  checkEntryChange(user, directory, replaced);
  if (source.kind === "directory" && replaced.kind !== "directory")
    throw fileError("ENOTDIR", "a directory does not replace a file");
  if (source.kind !== "directory" && replaced.kind === "directory")
    throw fileError("EISDIR", "a file does not replace a directory");
}

/**
 * Throws `CrossShardRename` for a rename over exports.
 *
 * @example
 * ```ts
 * import { checkSameExport } from "@seneschal/core/storage";
 * checkSameExport(1n, 1n);
 * try {
 *   checkSameExport(1n, 2n);
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // CrossShardRename
 * }
 * ```
 */
export function checkSameExport(from: bigint, to: bigint): void {
  if (from !== to) throw storageError("CrossShardRename", "that is another export: its keys are in other shards");
}

/**
 * Throws `EINVAL` for a rename of a directory into itself; keys of directories end with `/`.
 *
 * @example
 * ```ts
 * import { checkOutside } from "@seneschal/core/storage";
 * checkOutside("a/", "b/");
 * try {
 *   checkOutside("a/", "a/b/");
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // EINVAL
 * }
 * ```
 */
export function checkOutside(from: string, to: string): void {
  checkArgument("from", from, "string");
  checkArgument("to", to, "string");
  if (from.endsWith("/") && to.startsWith(from)) throw fileError("EINVAL", "a directory does not go into itself");
}

/**
 * Throws `CrossShardRename` for a directory that is not renamed in one commit: `keys` below it, more where there are `more`.
 *
 * @example
 * ```ts
 * import { checkDirectoryRename } from "@seneschal/core/storage";
 * checkDirectoryRename(false, 3, false);
 * try {
 *   checkDirectoryRename(false, 3, true);
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // CrossShardRename
 * }
 * ```
 */
export function checkDirectoryRename(versioned: boolean, keys: number, more: boolean): void {
  checkArgument("versioned", versioned, "boolean");
  checkArgument("keys", keys, "number");
  checkArgument("more", more, "boolean");
  if (versioned)
    throw storageError(
      "CrossShardRename",
      "a directory of a bucket with versions is copied, not renamed: every version stays where it was",
    );
  if (keys > maxRenamedKeys || more)
    throw storageError(
      "CrossShardRename",
      `a directory of more than ${maxRenamedKeys} keys lies in more shards than one commit takes`,
    );
}

/**
 * The key that one below a renamed directory, or the directory itself, has then. Throws `ENAMETOOLONG`.
 *
 * @example
 * ```ts
 * import { movedKey } from "@seneschal/core/storage";
 * console.log(movedKey("old/a/b", "old/", "new/")); // new/a/b
 * ```
 */
export function movedKey(key: string, from: string, to: string): string {
  checkArgument("key", key, "string");
  const moved = to + key.slice(from.length);
  if (utf8Length(moved) > maxKeyBytes) throw fileError("ENAMETOOLONG", "a path below it would be too long");
  return moved;
}

/**
 * A directory, the keys below it, and the directories on the way down to them: they have records, though they may have no objects.
 *
 * @example
 * ```ts
 * import { keysWithin } from "@seneschal/core/storage";
 * console.log(keysWithin("a/", ["a/b/c"])); // [ 'a/', 'a/b/c', 'a/b/' ]
 * ```
 */
export function keysWithin(directory: string, keys: readonly string[]): readonly string[] {
  checkArgument("directory", directory, "string");
  checkArgument("keys", keys, "array");
  const all = new Set([directory]);
  for (const key of keys) for (let name = key; name.length > directory.length; name = parentKey(name)) all.add(name);
  return [...all];
}

/**
 * Throws `ENOTEMPTY` for a directory with anything but its own object among keys that were met from its own on.
 *
 * @example
 * ```ts
 * import { checkEmpty } from "@seneschal/core/storage";
 * checkEmpty("a/", ["a/", "b"]);
 * try {
 *   checkEmpty("a/", ["a/", "a/x"]);
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // ENOTEMPTY
 * }
 * ```
 */
export function checkEmpty(directory: string, keys: readonly string[]): void {
  checkArgument("directory", directory, "string");
  checkArgument("keys", keys, "array");
  if (keys.some((key) => key.startsWith(directory) && key !== directory))
    throw fileError("ENOTEMPTY", "the directory is not empty");
}

/**
 * The export that a path leads to, the innermost of those that are let to the client, and the names that lead on from its root.
 *
 * @example
 * ```ts
 * import { exportAt } from "@seneschal/core/storage";
 * console.log(exportAt([{ path: "/docs" }, { path: "/docs/a" }], "/docs/a/b")); // { from: { path: '/docs/a' }, names: [ 'b' ] }
 * ```
 */
export function exportAt<E extends { readonly path: string }>(
  exports: readonly E[],
  path: string,
): { readonly from: E; readonly names: readonly string[] } | undefined {
  checkArgument("exports", exports, "array");
  checkArgument("path", path, "string");
  const [from] = exports.filter((one) => `${path}/`.startsWith(`${one.path}/`)).sort((a, b) => b.path.length - a.path.length);
  return from && { from, names: path.slice(from.path.length).split("/").filter(Boolean) };
}

/** What objects refuse, as files do. */
const refusals: Partial<Readonly<Record<ObjectErrorCode, FileErrorCode>>> = {
  NoSuchBucket: "ESTALE",
  KeyTooLongError: "ENAMETOOLONG",
  InvalidArgument: "EINVAL",
  InvalidRequest: "EACCES",
  MethodNotAllowed: "ENOENT",
};

/**
 * A failure of an object as that of a file; what is none stays what it is.
 *
 * @example
 * ```ts
 * import { asFileFailure, objectError } from "@seneschal/core/storage";
 * console.log((asFileFailure(objectError("PreconditionFailed", "it is another")) as { code?: string }).code); // PreconditionFailed
 * ```
 */
export function asFileFailure(error: unknown): unknown {
  if (!isCoded(error) || !Object.hasOwn(refusals, error.code)) return error;
  return fileError(refusals[error.code as ObjectErrorCode] as FileErrorCode, error.message);
}
