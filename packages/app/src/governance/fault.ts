import { CodedError } from "@seneschal/core";

/** The failures that handlers of this service throw. */
export function notFound(id: string): CodedError {
  return new CodedError("not_found", "no such resource", { resource_id: id });
}

/** A request that parses but cannot be meant. `field` as `rules[0].tier`. */
export function invalid(field: string, reason: string): CodedError {
  return new CodedError("validation_failed", `${field}: ${reason}`, { field, reason });
}

/** A version was lost to another writer. */
export function conflict(): CodedError {
  return new CodedError("conflict", "the entity was changed by another request");
}
