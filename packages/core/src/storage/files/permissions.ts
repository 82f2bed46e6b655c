import { checkArgument } from "@seneschal/kernel";
import { fileError } from "./file-errors.ts";
import type { FileAttributes, FileCaller, FileSettings } from "./file-service.ts";

/** Whose rights a call has, once squashed. */
export type FileUser = Pick<FileCaller, "uid" | "gid" | "gids">;

/** Which users of clients become nobody: none of them, root, all. */
export type Squash = "none" | "root" | "all";

/**
 * The user that a caller is on an export: root's group, too, is nobody's where root is squashed.
 *
 * @example
 * ```ts
 * import { squashUser } from "@seneschal/core/storage";
 * const root = { uid: 0, gid: 0, gids: [] };
 * console.log(squashUser(root, { squash: "root", anonUid: 65_534, anonGid: 65_534 }).uid); // 65534
 * ```
 */
export function squashUser(
  user: FileUser,
  given: { readonly squash: Squash; readonly anonUid: number; readonly anonGid: number },
): FileUser {
  checkArgument("user", user, "object");
  checkArgument("given", given, "object");
  const { uid, gid, gids } = user;
  const { squash, anonUid, anonGid } = given;
  if (squash === "none") return { uid, gid, gids };
  if (squash === "all" || uid === 0) return { uid: anonUid, gid: anonGid, gids: [] };
  const group = (id: number): number => (id === 0 ? anonGid : id);
  return { uid, gid: group(gid), gids: gids.map(group) };
}

/** What may be asked for: the bits of a class of a mode. */
const wanted = { read: 4, write: 2, execute: 1 } as const;
type Wanted = keyof typeof wanted;

type Owned = Pick<FileAttributes, "mode" | "uid" | "gid" | "kind">;

const inGroup = (user: FileUser, gid: number): boolean => user.gid === gid || user.gids.includes(gid);

/**
 * True when the mode gives the user what it wants. Root has all, but runs only what somebody may run.
 *
 * @example
 * ```ts
 * import { mayAccess } from "@seneschal/core/storage";
 * const file = { kind: "file", mode: 0o640, uid: 1000, gid: 100 } as const;
 * const [ada, eve] = [{ uid: 1000, gid: 100, gids: [] }, { uid: 2000, gid: 200, gids: [] }];
 * console.log(mayAccess(ada, file, "write"), mayAccess(eve, file, "read")); // true false
 * ```
 */
export function mayAccess(user: FileUser, owned: Owned, want: Wanted): boolean {
  checkArgument("user", user, "object");
  checkArgument("owned", owned, "object");
  checkArgument("want", want, "string");
  const { mode, uid, gid, kind } = owned;
  if (user.uid === 0) return want !== "execute" || kind === "directory" || (mode & 0o111) !== 0;
  const bits = user.uid === uid ? mode >> 6 : inGroup(user, gid) ? mode >> 3 : mode;
  return (bits & wanted[want]) !== 0;
}

/**
 * True for reading and writing the bytes of a file that may be open already: its owner always may, since the mode was looked at when it was
 * opened; and what may be run may be read (RFC 1813, 4.4).
 *
 * @example
 * ```ts
 * import { mayTransfer } from "@seneschal/core/storage";
 * const file = { kind: "file", mode: 0o640, uid: 1000, gid: 100 } as const;
 * const [ada, eve] = [{ uid: 1000, gid: 100, gids: [] }, { uid: 2000, gid: 200, gids: [] }];
 * console.log(mayTransfer(ada, { ...file, mode: 0 }, "read"), mayTransfer(eve, file, "read")); // true false
 * ```
 */
export function mayTransfer(user: FileUser, file: Owned, want: "read" | "write"): boolean {
  checkArgument("user", user, "object");
  checkArgument("file", file, "object");
  checkArgument("want", want, "string");
  return user.uid === file.uid || mayAccess(user, file, want) || (want === "read" && mayAccess(user, file, "execute"));
}

/** The bits of ACCESS: READ, LOOKUP, MODIFY, EXTEND, DELETE, EXECUTE. */
const accessBits = { read: 1, lookup: 2, modify: 4, extend: 8, delete: 16, execute: 32 } as const;

/**
 * Which of the asked bits the user has. `readOnly`: none that change anything.
 *
 * @example
 * ```ts
 * import { grantedAccess } from "@seneschal/core/storage";
 * const file = { kind: "file", mode: 0o640, uid: 1000, gid: 100 } as const;
 * const [ada, eve] = [{ uid: 1000, gid: 100, gids: [] }, { uid: 2000, gid: 200, gids: [] }];
 * console.log(grantedAccess(ada, file, 0x3f, false) > grantedAccess(eve, file, 0x3f, false)); // true
 * ```
 */
export function grantedAccess(user: FileUser, file: Owned, asked: number, readOnly: boolean): number {
  checkArgument("user", user, "object");
  checkArgument("file", file, "object");
  checkArgument("asked", asked, "number");
  checkArgument("readOnly", readOnly, "boolean");
  const directory = file.kind === "directory";
  let granted = 0;
  if (mayAccess(user, file, "read")) granted |= accessBits.read;
  if (mayAccess(user, file, "execute")) granted |= directory ? accessBits.lookup : accessBits.execute;
  if (!readOnly && mayAccess(user, file, "write"))
    granted |= accessBits.modify | accessBits.extend | (directory ? accessBits.delete : 0);
  return granted & asked;
}

/**
 * Throws `EACCES` unless the user may add and remove entries; with the sticky bit, only its own (`entry`) or in its own directory.
 *
 * @example
 * ```ts
 * import { checkEntryChange } from "@seneschal/core/storage";
 * const directory = { kind: "directory", mode: 0o755, uid: 1000, gid: 100 } as const;
 * const [ada, eve] = [{ uid: 1000, gid: 100, gids: [] }, { uid: 2000, gid: 200, gids: [] }];
 * checkEntryChange(ada, directory);
 * try {
 *   checkEntryChange(eve, directory);
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // EACCES
 * }
 * ```
 */
export function checkEntryChange(user: FileUser, directory: Owned, entry?: Owned): void {
  checkArgument("user", user, "object");
  checkArgument("directory", directory, "object");
  if (!mayAccess(user, directory, "write") || !mayAccess(user, directory, "execute"))
    throw fileError("EACCES", "the directory may not be changed by this user");
  const sticky = (directory.mode & 0o1000) !== 0;
  if (sticky && entry !== undefined && ![0, entry.uid, directory.uid].includes(user.uid) && user.uid !== 0)
    throw fileError("EPERM", "the directory is sticky: only owners remove from it");
}

/**
 * Throws `EPERM` or `EACCES` for what the user may not set.
 *
 * @example
 * ```ts
 * import { checkSettings } from "@seneschal/core/storage";
 * const file = { kind: "file", mode: 0o640, uid: 1000, gid: 100 } as const;
 * const [ada, eve] = [{ uid: 1000, gid: 100, gids: [] }, { uid: 2000, gid: 200, gids: [] }];
 * checkSettings(ada, file, { mode: 0o600 });
 * try {
 *   checkSettings(eve, file, { mode: 0o600 });
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // EPERM
 * }
 * ```
 */
export function checkSettings(user: FileUser, file: Owned, settings: FileSettings): void {
  checkArgument("user", user, "object");
  checkArgument("file", file, "object");
  checkArgument("settings", settings, "object");
  const root = user.uid === 0;
  const owner = root || user.uid === file.uid;
  const { mode, uid, gid, size, accessed, modified } = settings;
  if (mode !== undefined && !owner) throw fileError("EPERM", "the mode is its owner's to set");
  if (uid !== undefined && uid !== file.uid && !root) throw fileError("EPERM", "only root gives files away");
  if (gid !== undefined && gid !== file.gid && !root && !(owner && inGroup(user, gid)))
    throw fileError("EPERM", "a file's group is set by its owner, to one of its own");
  const times = [accessed, modified].filter((time) => time !== undefined);
  if (times.some((time) => time !== "now") && !owner) throw fileError("EPERM", "times are their owner's to set");
  if (times.length > 0 && !owner && !mayAccess(user, file, "write"))
    throw fileError("EACCES", "the file may not be written by this user");
  if (size !== undefined && !mayTransfer(user, file, "write"))
    throw fileError("EACCES", "the file may not be written by this user");
}

/**
 * The mode that is kept: who is not root and not in the file's group sets no set-group-id bit, and a change of owner takes both bits off.
 *
 * @example
 * ```ts
 * import { modeAfter } from "@seneschal/core/storage";
 * const file = { kind: "file", mode: 0o640, uid: 1000, gid: 100 } as const;
 * const ada = { uid: 1000, gid: 100, gids: [] };
 * console.log(modeAfter(ada, file, { mode: 0o600 }).toString(8)); // 600
 * ```
 */
export function modeAfter(user: FileUser, file: Owned, settings: FileSettings): number {
  checkArgument("user", user, "object");
  checkArgument("file", file, "object");
  checkArgument("settings", settings, "object");
  let mode = (settings.mode ?? file.mode) & 0o7777;
  const gid = settings.gid ?? file.gid;
  if (user.uid !== 0 && settings.mode !== undefined && !inGroup(user, gid)) mode &= ~0o2000;
  const given = settings.uid !== undefined || settings.gid !== undefined;
  if (given && user.uid !== 0 && file.kind !== "directory" && (mode & 0o111) !== 0 && settings.mode === undefined)
    mode &= ~0o6000;
  return mode;
}
