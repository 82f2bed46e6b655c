import { isUtf8 } from "node:buffer";
import { type FileAttributes, type FileChange, type FileSettings, fileError, storageErrorKind } from "@seneschal/core/storage";
import { type CodedError, isCoded } from "@seneschal/kernel";
import type { Fattr3, Sattr3, Wcc } from "./procedures.ts";
import { type NfsStatusName, nfsStatus } from "./status.ts";

const types = { file: "REG", directory: "DIR", symlink: "LNK" } as const;

/** Attributes as they are told to clients. */
export function toFattr({
  kind,
  mode,
  links,
  uid,
  gid,
  size,
  fsid,
  fileId,
  accessed,
  modified,
  changed,
}: FileAttributes): Fattr3 {
  const bytes = BigInt(size);
  return {
    type: types[kind],
    mode,
    nlink: links,
    uid,
    gid,
    size: bytes,
    used: bytes,
    rdev: { major: 0, minor: 0 },
    fsid,
    fileid: fileId,
    atime: accessed,
    mtime: modified,
    ctime: changed,
  };
}

/** What a call changed, as it is told to clients. */
export function toWcc({ before, after }: FileChange): Wcc {
  return { before: { size: BigInt(before.size), mtime: before.modified, ctime: before.changed }, after: toFattr(after) };
}

/** Of a call that failed nothing is told. */
export const noWcc: Wcc = { before: undefined, after: undefined };

/** What a client wants set. */
export function toSettings({ mode, uid, gid, size, atime, mtime }: Sattr3): FileSettings {
  const accessed = toTime(atime);
  const modified = toTime(mtime);
  return {
    ...(mode !== undefined && { mode: mode & 0o7777 }),
    ...(uid !== undefined && { uid }),
    ...(gid !== undefined && { gid }),
    ...(size !== undefined && { size: toSize(size) }),
    ...(accessed !== undefined && { accessed }),
    ...(modified !== undefined && { modified }),
  };
}

function toTime(time: Sattr3["atime"]): FileSettings["accessed"] {
  if (time.kind === "DONT_CHANGE") return undefined;
  if (time.kind === "SET_TO_SERVER_TIME") return "now";
  if (time.value.nanoseconds > 999_999_999) throw fileError("EINVAL", "a second has fewer nanoseconds");
  return time.value;
}

/** A size or an offset as a number. Throws `EFBIG` beyond what numbers keep. */
export function toSize(bytes: bigint): number {
  if (bytes > BigInt(Number.MAX_SAFE_INTEGER)) throw fileError("EFBIG", "no file is as large");
  return Number(bytes);
}

/** The name or target that the bytes are. Throws `EINVAL`: keys are UTF-8. */
export function toText(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw fileError("EINVAL", "names are UTF-8");
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

/** Name and number of the status of a failure; `ours`: nobody told us what it is. */
export function statusOf(error: unknown): { readonly name: NfsStatusName; readonly status: number; readonly ours: boolean } {
  const name = nameOf(error);
  return { name: name ?? "EIO", status: nfsStatus[name ?? "EIO"], ours: name === undefined };
}

function nameOf(error: unknown): NfsStatusName | undefined {
  const kind = storageErrorKind(error);
  if (kind !== undefined) return kind.nfs ?? "ESERVERFAULT";
  if (!isCoded(error)) return undefined;
  const { code } = error as CodedError;
  return Object.hasOwn(nfsStatus, code) ? (code as NfsStatusName) : undefined;
}
