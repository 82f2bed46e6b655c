import {
  boolean,
  choice,
  enumeration,
  fixed,
  hyper,
  list,
  nothing,
  opaque,
  optional,
  result,
  type Shape,
  struct,
  unsigned,
  type ValueOf,
  type Xdr,
} from "../xdr/types.ts";

/** NFS, version 3 (RFC 1813). */
export const nfsProgram = { program: 100003, version: 3 } as const;

/** The most bytes of a READ or WRITE. */
export const maxTransfer = 1 << 20;

const handle = opaque(64);
/** Longer than any name may be: what is too long is told so. */
const name = opaque(4096);
const time = struct({ seconds: unsigned, nanoseconds: unsigned });

/** Kinds of files, from 1 on. */
const fileKinds = ["REG", "DIR", "BLK", "CHR", "LNK", "SOCK", "FIFO"] as const;

const fattr3 = struct({
  type: enumeration(fileKinds, 1),
  mode: unsigned,
  nlink: unsigned,
  uid: unsigned,
  gid: unsigned,
  size: hyper,
  used: hyper,
  rdev: struct({ major: unsigned, minor: unsigned }),
  fsid: hyper,
  fileid: hyper,
  atime: time,
  mtime: time,
  ctime: time,
});
export type Fattr3 = ValueOf<typeof fattr3>;

const setTime = choice({ DONT_CHANGE: [0, nothing], SET_TO_SERVER_TIME: [1, nothing], SET_TO_CLIENT_TIME: [2, time] });
const sattr3 = struct({
  mode: optional(unsigned),
  uid: optional(unsigned),
  gid: optional(unsigned),
  size: optional(hyper),
  atime: setTime,
  mtime: setTime,
});
export type Sattr3 = ValueOf<typeof sattr3>;

const attributes = optional(fattr3);
const before = optional(struct({ size: hyper, mtime: time, ctime: time }));
const wcc = struct({ before, after: attributes });
export type Wcc = ValueOf<typeof wcc>;
const dirop = struct({ dir: handle, name });
const verifier = fixed(8);
const device = struct({ attributes: sattr3, spec: struct({ major: unsigned, minor: unsigned }) });
const stability = enumeration(["UNSTABLE", "DATA_SYNC", "FILE_SYNC"]);

const made = result(struct({ handle: optional(handle), attributes, dir: wcc }), struct({ dir: wcc }));

function procedure<A, R>(number: number, args: Xdr<A>, reply: Xdr<R>): { number: number; args: Xdr<A>; reply: Xdr<R> } {
  return { number, args, reply };
}

/** Procedures by name: number, arguments, results. */
export const nfsProcedures = {
  NULL: procedure(0, nothing, nothing),
  GETATTR: procedure(1, struct({ handle }), result(struct({ attributes: fattr3 }), nothing)),
  SETATTR: procedure(2, struct({ handle, attributes: sattr3, guard: optional(time) }), result(struct({ wcc }), struct({ wcc }))),
  LOOKUP: procedure(3, dirop, result(struct({ handle, attributes, dir: attributes }), struct({ dir: attributes }))),
  ACCESS: procedure(
    4,
    struct({ handle, access: unsigned }),
    result(struct({ attributes, access: unsigned }), struct({ attributes })),
  ),
  READLINK: procedure(5, struct({ handle }), result(struct({ attributes, target: opaque(4096) }), struct({ attributes }))),
  READ: procedure(
    6,
    struct({ handle, offset: hyper, count: unsigned }),
    result(struct({ attributes, count: unsigned, eof: boolean, data: opaque(maxTransfer) }), struct({ attributes })),
  ),
  WRITE: procedure(
    7,
    struct({ handle, offset: hyper, count: unsigned, stable: stability, data: opaque(maxTransfer) }),
    result(struct({ wcc, count: unsigned, committed: stability, verifier }), struct({ wcc })),
  ),
  CREATE: procedure(
    8,
    struct({
      where: dirop,
      how: choice({ UNCHECKED: [0, sattr3], GUARDED: [1, sattr3], EXCLUSIVE: [2, verifier] }),
    }),
    made,
  ),
  MKDIR: procedure(9, struct({ where: dirop, attributes: sattr3 }), made),
  SYMLINK: procedure(10, struct({ where: dirop, attributes: sattr3, target: opaque(4096) }), made),
  MKNOD: procedure(
    11,
    struct({
      where: dirop,
      what: choice({
        REG: [1, nothing],
        DIR: [2, nothing],
        BLK: [3, device],
        CHR: [4, device],
        LNK: [5, nothing],
        SOCK: [6, sattr3],
        FIFO: [7, sattr3],
      }),
    }),
    made,
  ),
  REMOVE: procedure(12, dirop, result(struct({ dir: wcc }), struct({ dir: wcc }))),
  RMDIR: procedure(13, dirop, result(struct({ dir: wcc }), struct({ dir: wcc }))),
  RENAME: procedure(
    14,
    struct({ from: dirop, to: dirop }),
    result(struct({ from: wcc, to: wcc }), struct({ from: wcc, to: wcc })),
  ),
  LINK: procedure(15, struct({ handle, to: dirop }), result(struct({ attributes, dir: wcc }), struct({ attributes, dir: wcc }))),
  READDIR: procedure(
    16,
    struct({ dir: handle, cookie: hyper, verifier, count: unsigned }),
    result(
      struct({ dir: attributes, verifier, entries: list(struct({ fileid: hyper, name, cookie: hyper }), 65_536), eof: boolean }),
      struct({ dir: attributes }),
    ),
  ),
  READDIRPLUS: procedure(
    17,
    struct({ dir: handle, cookie: hyper, verifier, dirCount: unsigned, maxCount: unsigned }),
    result(
      struct({
        dir: attributes,
        verifier,
        entries: list(struct({ fileid: hyper, name, cookie: hyper, attributes, handle: optional(handle) }), 65_536),
        eof: boolean,
      }),
      struct({ dir: attributes }),
    ),
  ),
  FSSTAT: procedure(
    18,
    struct({ handle }),
    result(
      struct({
        attributes,
        totalBytes: hyper,
        freeBytes: hyper,
        availableBytes: hyper,
        totalFiles: hyper,
        freeFiles: hyper,
        availableFiles: hyper,
        invarSeconds: unsigned,
      }),
      struct({ attributes }),
    ),
  ),
  FSINFO: procedure(
    19,
    struct({ handle }),
    result(
      struct({
        attributes,
        readMax: unsigned,
        readPreferred: unsigned,
        readMultiple: unsigned,
        writeMax: unsigned,
        writePreferred: unsigned,
        writeMultiple: unsigned,
        directoryPreferred: unsigned,
        maxFileSize: hyper,
        timeDelta: time,
        properties: unsigned,
      }),
      struct({ attributes }),
    ),
  ),
  PATHCONF: procedure(
    20,
    struct({ handle }),
    result(
      struct({
        attributes,
        linkMax: unsigned,
        nameMax: unsigned,
        noTrunc: boolean,
        chownRestricted: boolean,
        caseInsensitive: boolean,
        casePreserving: boolean,
      }),
      struct({ attributes }),
    ),
  ),
  COMMIT: procedure(21, struct({ handle, offset: hyper, count: unsigned }), result(struct({ wcc, verifier }), struct({ wcc }))),
} as const satisfies Readonly<Record<string, { number: number; args: Shape; reply: Shape }>>;

export type NfsProcedure = keyof typeof nfsProcedures;
