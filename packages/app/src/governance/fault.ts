import { CodedError } from "@seneschal/kernel";

/** The failures that handlers of this service throw. */
export function notFound(id: string): CodedError {
  return new CodedError("not_found", "no such resource", { resource_id: id });
}

export function noSuchColumn(resource_id: string, column: string): CodedError {
  return new CodedError("not_found", "no such column", { resource_id, column });
}

/** A request that parses but cannot be meant. `field` as `rules[0].tier`. */
export function invalid(field: string, reason: string): CodedError {
  return new CodedError("validation_failed", `${field}: ${reason}`, { field, reason });
}

/** What was asked for lost against others each time: nothing is wrong with it, and the same may be asked again. */
export function lostRace(): CodedError {
  return new CodedError("service_unavailable", "changed by others at the same time: try again", { retry_after: 1 });
}
