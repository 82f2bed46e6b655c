import { CodedError } from "@seneschal/kernel";

/** What a file service refuses, by the names of POSIX; the last four are NFS's own. Failures of the cluster have those of the taxonomy. */
export type FileErrorCode =
  | "EPERM"
  | "ENOENT"
  | "EACCES"
  | "EEXIST"
  | "ENOTDIR"
  | "EISDIR"
  | "EINVAL"
  | "EFBIG"
  | "EROFS"
  | "ENAMETOOLONG"
  | "ENOTEMPTY"
  | "ENOTSUP"
  | "ESTALE"
  | "EBADHANDLE"
  | "ENOTSYNC"
  | "EBADCOOKIE"
  | "ETOOSMALL";

/**
 * A {@link CodedError} of a file service.
 *
 * @example
 * ```ts
 * import { fileError } from "@seneschal/core/storage";
 * console.log(fileError("ENOENT", "there is no such file").code); // ENOENT
 * ```
 */
export function fileError(
  code: FileErrorCode,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): CodedError<FileErrorCode> {
  return new CodedError(code, message, details);
}
