import { CodedError } from "@seneschal/kernel";
import type { ObjectErrorCode } from "../objects/object-errors.ts";

/** Failures that calls by gRPC meet beside those of the storage node's taxonomy and of objects. */
export type GrpcErrorCode =
  /** The client went away; nobody hears it. */
  | "Cancelled"
  /** The client sent nothing, or took nothing, for too long. */
  | "RequestTimeout"
  | "EntityTooLarge"
  | "IncompleteBody"
  | "InvalidRange";

/**
 * A failure of a call by gRPC, or of an object, under its name.
 *
 * @example
 * ```ts
 * import { grpcError } from "@seneschal/core/storage";
 * console.log(grpcError("Cancelled", "the client went away").code); // Cancelled
 * ```
 */
export function grpcError<C extends GrpcErrorCode | ObjectErrorCode>(
  code: C,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): CodedError<C> {
  return new CodedError(code, message, details);
}
