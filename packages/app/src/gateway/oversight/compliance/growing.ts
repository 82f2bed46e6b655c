import type { Json } from "@seneschal/kernel";

/**
 * JSON whose lists may be read while it is written, and whose figures may be known only when they are reached: what a report
 * says, without holding it.
 */
export type Growing = Json | AsyncIterable<Growing> | Later | readonly Growing[] | GrowingObject;

/** A figure that stands when everything before it was written. */
type Later = () => Growing | Promise<Growing>;

export interface GrowingObject {
  readonly [field: string]: Growing;
}

export const isStream = (value: Growing): value is AsyncIterable<Growing> =>
  typeof value === "object" && value !== null && Symbol.asyncIterator in value;

/** An object that is no list of any kind. */
export const isRecord = (value: Growing): value is GrowingObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !isStream(value);

/** Whether nothing in it grows. */
export function isWhole(value: Growing): value is Json {
  if (typeof value === "function") return false;
  if (typeof value !== "object" || value === null) return true;
  return !isStream(value) && Object.values(value as GrowingObject).every(isWhole);
}

/** The items of a list, whether it grows or not. */
export async function* itemsOf(list: AsyncIterable<Growing> | readonly Growing[]): AsyncGenerator<Growing> {
  yield* list;
}
