import { array, list, nothing, opaque, result, struct, unsigned } from "./xdr/types.ts";

/** The MOUNT protocol, version 3 (RFC 1813, appendix I). */
export const mountProgram = { program: 100005, version: 3 } as const;

/** Why a directory is not mounted. */
export const mountStatus = {
  OK: 0,
  EPERM: 1,
  ENOENT: 2,
  EIO: 5,
  EACCES: 13,
  ENOTDIR: 20,
  EINVAL: 22,
  ENAMETOOLONG: 63,
  ENOTSUP: 10004,
  ESERVERFAULT: 10006,
} as const;

const path = opaque(1024);
const name = opaque(255);

/** Procedures by name: number, arguments, results. */
export const mountProcedures = {
  NULL: { number: 0, args: nothing, reply: nothing },
  MNT: {
    number: 1,
    args: struct({ path }),
    reply: result(struct({ handle: opaque(64), flavors: array(unsigned, 16) }), nothing),
  },
  DUMP: { number: 2, args: nothing, reply: list(struct({ host: name, path }), 4096) },
  UMNT: { number: 3, args: struct({ path }), reply: nothing },
  UMNTALL: { number: 4, args: nothing, reply: nothing },
  EXPORT: { number: 5, args: nothing, reply: list(struct({ path, groups: list(struct({ name }), 256) }), 1024) },
} as const;
