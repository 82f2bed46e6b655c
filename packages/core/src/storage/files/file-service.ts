/** What a file is. */
export type FileKind = "file" | "directory" | "symlink";

/** A point in time, as POSIX has it. */
export interface FileTime {
  readonly seconds: number;
  readonly nanoseconds: number;
}

/** What is told of a file. */
export interface FileAttributes {
  readonly kind: FileKind;
  /** Permissions, 12 bits. */
  readonly mode: number;
  readonly links: number;
  readonly uid: number;
  readonly gid: number;
  readonly size: number;
  readonly fsid: bigint;
  readonly fileId: bigint;
  readonly accessed: FileTime;
  readonly modified: FileTime;
  readonly changed: FileTime;
}

/** What clients compare with what they know, of a file before a change and after it. */
export interface FileChange {
  readonly before: Pick<FileAttributes, "size" | "modified" | "changed">;
  readonly after: FileAttributes;
}

/** Who calls: the user that the client names, before any squashing, and the address that the call came from. */
export interface FileCaller {
  readonly address: string;
  readonly uid: number;
  readonly gid: number;
  readonly gids: readonly number[];
}

/** What is to be set; `now`: the server's time. */
export interface FileSettings {
  readonly mode?: number;
  readonly uid?: number;
  readonly gid?: number;
  readonly size?: number;
  readonly accessed?: FileTime | "now";
  readonly modified?: FileTime | "now";
}

/** How a file is made where a name may be taken: taken as it is, refused, or refused unless this call made it before. */
export type Creation =
  | { readonly kind: "unchecked" | "guarded"; readonly settings: FileSettings }
  | { readonly kind: "exclusive"; readonly verifier: Uint8Array };

/** A file with its handle. */
export interface FoundFile {
  readonly handle: Uint8Array;
  readonly attributes: FileAttributes;
}

/** A file that was made, and the directory that it is in. */
export interface MadeFile extends FoundFile {
  readonly directory: FileChange;
}

/** An entry of a directory. `cookie`: where a listing goes on behind it. */
export interface DirectoryEntry {
  readonly name: string;
  readonly cookie: bigint;
  readonly fileId: bigint;
}

/** An entry with what it names. */
export interface FullEntry extends DirectoryEntry, FoundFile {}

/** Entries of a directory in the order of their cookies. */
export interface DirectoryPage<Entry> {
  readonly entries: readonly Entry[];
  /** There is nothing behind the last of them. */
  readonly end: boolean;
  readonly directory: FileAttributes;
}

/** Room on a file system, bytes. */
export interface FileSystemSpace {
  readonly total: number;
  readonly free: number;
}

/** An export as clients are told of it. */
export interface ExportEntry {
  readonly path: string;
  readonly clients: readonly string[];
}

/**
 * Files by handle, as NFSv3 asks for them. Every call is decided for its caller: who may not see an export meets `EACCES`. Handles
 * outlive restarts; one whose file is gone is `ESTALE`. Throws {@link FileErrorCode} and the storage taxonomy.
 */
export interface FileService {
  /** What the caller may mount. */
  exports(caller: FileCaller): readonly ExportEntry[];
  /** The root of an export. Throws `EACCES` also for what is not exported. */
  mount(caller: FileCaller, path: string): Promise<Uint8Array>;
  attributes(caller: FileCaller, handle: Uint8Array): Promise<FileAttributes>;
  /** `guard`: the file's change time must still be this, else `ENOTSYNC`. */
  set(caller: FileCaller, handle: Uint8Array, settings: FileSettings, guard?: FileTime): Promise<FileChange>;
  lookup(caller: FileCaller, directory: Uint8Array, name: string): Promise<FoundFile & { readonly directory: FileAttributes }>;
  /** Which of the asked bits of ACCESS (RFC 1813, 3.3.4) the caller has. */
  access(
    caller: FileCaller,
    handle: Uint8Array,
    asked: number,
  ): Promise<{ readonly granted: number; readonly attributes: FileAttributes }>;
  readlink(caller: FileCaller, handle: Uint8Array): Promise<{ readonly target: string; readonly attributes: FileAttributes }>;
  read(
    caller: FileCaller,
    handle: Uint8Array,
    offset: number,
    count: number,
  ): Promise<{ readonly bytes: Uint8Array; readonly end: boolean; readonly attributes: FileAttributes }>;
  /** `stable`: the bytes are durable when it resolves. Others are once `commit` has resolved with the same `verifier`. */
  write(
    caller: FileCaller,
    handle: Uint8Array,
    offset: number,
    bytes: Uint8Array,
    stable: boolean,
  ): Promise<FileChange & { readonly stable: boolean; readonly verifier: Uint8Array }>;
  /** Makes all that was written to the file durable; what was written under another `verifier`, eight bytes, is to be written again. */
  commit(caller: FileCaller, handle: Uint8Array): Promise<FileChange & { readonly verifier: Uint8Array }>;
  create(caller: FileCaller, directory: Uint8Array, name: string, creation: Creation): Promise<MadeFile>;
  makeDirectory(caller: FileCaller, directory: Uint8Array, name: string, settings: FileSettings): Promise<MadeFile>;
  symlink(caller: FileCaller, directory: Uint8Array, name: string, target: string, settings: FileSettings): Promise<MadeFile>;
  remove(caller: FileCaller, directory: Uint8Array, name: string): Promise<FileChange>;
  removeDirectory(caller: FileCaller, directory: Uint8Array, name: string): Promise<FileChange>;
  rename(
    caller: FileCaller,
    from: { readonly directory: Uint8Array; readonly name: string },
    to: { readonly directory: Uint8Array; readonly name: string },
  ): Promise<{ readonly from: FileChange; readonly to: FileChange }>;
  /** Entries behind a cookie (0: from the beginning), at most `limit`; those gone or made meanwhile do not move the others. */
  list(caller: FileCaller, directory: Uint8Array, cookie: bigint, limit: number): Promise<DirectoryPage<DirectoryEntry>>;
  /** The same, with what they name. */
  listFull(caller: FileCaller, directory: Uint8Array, cookie: bigint, limit: number): Promise<DirectoryPage<FullEntry>>;
  space(caller: FileCaller, handle: Uint8Array): Promise<FileSystemSpace & { readonly attributes: FileAttributes }>;
  /** The most bytes of a file. */
  readonly maxFileSize: number;
}
