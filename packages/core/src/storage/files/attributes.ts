import { checkArgument, type JsonObject } from "@seneschal/kernel";
import type { FileAttributes, FileKind, FileSettings, FileTime } from "./file-service.ts";
import { type FileUser, modeAfter } from "./permissions.ts";

/** A time that a client set, seconds and nanoseconds. */
export type SetTime = readonly [seconds: number, nanoseconds: number];

/** What is kept of a file beside its bytes; what nobody set is absent. */
export interface KeptAttributes extends JsonObject {
  /** Absent: what the export says of files that nobody owns. */
  readonly mode?: number;
  readonly uid?: number;
  readonly gid?: number;
  readonly accessed?: SetTime;
  /** Set by a client, of the content that was there then (`of`): a later write is later. */
  readonly modified?: JsonObject & { readonly at: SetTime; readonly of: string };
  /** When these, or an entry of the directory, last changed, milliseconds. */
  readonly changed_at: number;
}

/** The bytes of a file, as far as its attributes tell of them; of a directory there are none. */
export interface FileContent {
  readonly size: number;
  /** Milliseconds. */
  readonly modified_at: number;
  readonly etag: string;
}

/** What an export says of its files that nobody owns, and how clients tell it from others. */
export interface ExportedAs {
  readonly fsid: bigint;
  readonly uid: number;
  readonly gid: number;
  readonly file_mode: number;
  readonly directory_mode: number;
}

/** A file, as far as it is known. */
export interface KnownFile<Kept extends KeptAttributes = KeptAttributes> {
  readonly kind: FileKind;
  readonly fileId: bigint;
  readonly kept: Kept;
  /** Absent of directories. */
  readonly content?: FileContent | undefined;
}

/**
 * Milliseconds as POSIX has them.
 *
 * @example
 * ```ts
 * import { toFileTime } from "@seneschal/core/storage";
 * console.log(toFileTime(1500)); // { seconds: 1, nanoseconds: 500000000 }
 * ```
 */
export function toFileTime(ms: number): FileTime {
  checkArgument("ms", ms, "number");
  return { seconds: Math.floor(ms / 1000), nanoseconds: (ms % 1000) * 1_000_000 };
}

/** What content was there when a client set the time of it. */
function contentMark({ modified_at, etag }: FileContent): string {
  return `${modified_at} ${etag}`;
}

/**
 * The attributes of a file. `written`: what clients wrote to it since it was last made durable. The time that a client set holds until the
 * content is another.
 *
 * @example
 * ```ts
 * import { fileAttributes } from "@seneschal/core/storage";
 * const from = { fsid: 1n, uid: 65534, gid: 65534, file_mode: 0o644, directory_mode: 0o755 };
 * console.log(fileAttributes({ kind: "directory", fileId: 7n, kept: { changed_at: 1500 } }, from).modified); // { seconds: 1, nanoseconds: 500000000 }
 * ```
 */
export function fileAttributes(
  file: KnownFile,
  from: ExportedAs,
  written?: { readonly size: number; readonly modifiedAt: number },
): FileAttributes {
  checkArgument("file", file, "object");
  checkArgument("from", from, "object");
  const { kind, fileId, kept, content } = file;
  const own = kind === "directory" ? from.directory_mode : kind === "symlink" ? 0o777 : from.file_mode;
  const modifiedAt = written?.modifiedAt ?? (kind === "directory" ? kept.changed_at : (content?.modified_at ?? 0));
  const set =
    kept.modified !== undefined &&
    written === undefined &&
    kept.modified.of === (content === undefined ? String(kept.changed_at) : contentMark(content))
      ? kept.modified.at
      : undefined;
  const time = ([seconds, nanoseconds]: SetTime): FileTime => ({ seconds, nanoseconds });
  const modified = set === undefined ? toFileTime(modifiedAt) : time(set);
  return {
    kind,
    mode: kept.mode ?? own,
    // Of a directory 1: they are not counted. Two would say that there is no directory in it, and programs that reckon with that do not look.
    links: 1,
    uid: kept.uid ?? from.uid,
    gid: kept.gid ?? from.gid,
    size: kind === "directory" ? 4096 : (written?.size ?? content?.size ?? 0),
    fsid: from.fsid,
    fileId,
    modified,
    accessed: kept.accessed === undefined ? modified : time(kept.accessed),
    changed: toFileTime(Math.max(kept.changed_at, modifiedAt)),
  };
}

/**
 * What is kept of a file or a directory that changes now: later than it did before, also by a clock that stands.
 *
 * @example
 * ```ts
 * import { touched } from "@seneschal/core/storage";
 * console.log(touched({ changed_at: 5 }, 9).changed_at, touched({ changed_at: 5 }, 5).changed_at); // 9 6
 * ```
 */
export function touched<Kept extends KeptAttributes>(kept: Kept, now: number): Kept {
  checkArgument("kept", kept, "object");
  checkArgument("now", now, "number");
  return { ...kept, changed_at: Math.max(now, kept.changed_at + 1) };
}

/**
 * What is kept of a file once a user set what it may ({@link checkSettings}) of it, but for its size. What is set is later than what was, also by a clock
 * that stands; the time of a directory stays what it was, whatever else of it is set.
 *
 * @example
 * ```ts
 * import { keptAfter, type KeptAttributes } from "@seneschal/core/storage";
 * const ada = { uid: 1000, gid: 100, gids: [] };
 * const file = { kind: "file", fileId: 2n, kept: { uid: 1000, gid: 100, mode: 0o640, changed_at: 5 } } as const;
 * const from = { fsid: 1n, uid: 0, gid: 0, file_mode: 0o644, directory_mode: 0o755 };
 * console.log(keptAfter<KeptAttributes>(ada, file, from, { mode: 0o600 }, 9)); // { uid: 1000, gid: 100, mode: 384, changed_at: 9 }
 * ```
 */
export function keptAfter<Kept extends KeptAttributes>(
  user: FileUser,
  file: KnownFile<Kept>,
  from: ExportedAs,
  settings: FileSettings,
  now: number,
): Kept {
  checkArgument("user", user, "object");
  checkArgument("file", file, "object");
  checkArgument("settings", settings, "object");
  checkArgument("now", now, "number");
  const { mode, uid, gid, accessed, modified } = settings;
  const at = (time: NonNullable<FileSettings["accessed"]>): SetTime => {
    const { seconds, nanoseconds } = time === "now" ? toFileTime(now) : time;
    return [seconds, nanoseconds];
  };
  const { kind, kept, content } = file;
  const before = fileAttributes(file, from);
  const { changed_at } = touched(kept, now);
  const of = content === undefined ? String(changed_at) : contentMark(content);
  const owned = mode !== undefined || uid !== undefined || gid !== undefined;
  const stays = kind === "directory" && modified === undefined;
  return {
    ...kept,
    ...(owned && { mode: modeAfter(user, before, settings) }),
    ...(uid !== undefined && { uid }),
    ...(gid !== undefined && { gid }),
    ...(accessed !== undefined && { accessed: at(accessed) }),
    ...(modified !== undefined && { modified: { at: at(modified), of } }),
    ...(stays && { modified: { at: at(before.modified), of } }),
    changed_at,
  };
}

/**
 * What a new file begins with: who makes it owns it, in the directory's group where its set-group-id bit says so; root may say which.
 *
 * @example
 * ```ts
 * import { beginsWith } from "@seneschal/core/storage";
 * const ada = { uid: 1000, gid: 100, gids: [] };
 * console.log(beginsWith(ada, { mode: 0o2755, gid: 50 }, {}, 0o644)); // { mode: 420, uid: 1000, gid: 50 }
 * ```
 */
export function beginsWith(
  user: FileUser,
  directory: Pick<FileAttributes, "mode" | "gid">,
  settings: FileSettings,
  fallback: number,
): { readonly mode: number; readonly uid: number; readonly gid: number } {
  checkArgument("user", user, "object");
  checkArgument("directory", directory, "object");
  checkArgument("settings", settings, "object");
  const { mode, gid } = settings;
  const inherited = (directory.mode & 0o2000) !== 0 ? directory.gid : user.gid;
  return { mode: mode ?? fallback, uid: user.uid, gid: gid !== undefined && user.uid === 0 ? gid : inherited };
}
