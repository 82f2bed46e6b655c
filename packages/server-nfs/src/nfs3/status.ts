/** Status of NFSv3 procedures (RFC 1813, 2.6) by the names that the rest of the world has for them. */
export const nfsStatus = {
  OK: 0,
  EPERM: 1,
  ENOENT: 2,
  EIO: 5,
  EACCES: 13,
  EEXIST: 17,
  EXDEV: 18,
  ENOTDIR: 20,
  EISDIR: 21,
  EINVAL: 22,
  EFBIG: 27,
  ENOSPC: 28,
  EROFS: 30,
  ENAMETOOLONG: 63,
  ENOTEMPTY: 66,
  EDQUOT: 69,
  ESTALE: 70,
  EBADHANDLE: 10001,
  ENOTSYNC: 10002,
  EBADCOOKIE: 10003,
  ENOTSUP: 10004,
  ETOOSMALL: 10005,
  ESERVERFAULT: 10006,
  JUKEBOX: 10008,
} as const;

export type NfsStatusName = keyof typeof nfsStatus;
