import { checkArgument } from "@seneschal/kernel";
import type { Route } from "./route.ts";

/** Bytes of a body where its route says nothing: most routes take a few fields. */
export const DEFAULT_BODY_LIMIT = 64 << 10;

/** Separators and brackets of a body where its route says nothing. */
export const DEFAULT_VALUES = 4096;

/** No route may ask for more at once: so many are parsed and checked in a few hundredths of a second. */
export const MOST_VALUES = 16_384;

/** No route may ask for more bytes: of what is parsed, and of what is taken as it is. */
export const MOST_BYTES = 8 << 20;
export const MOST_RAW_BYTES = 64 << 20;

/**
 * How much of a body is read. Bytes bound what is received, values what is parsed and checked: a body of a few long texts is cheap however long it is, one of many
 * small values is not.
 */
export function bodyBounds(route: Route): {
  readonly bytes: number;
  readonly values: number;
} {
  checkArgument("route", route, "object");
  const { bodyLimit = DEFAULT_BODY_LIMIT, values = DEFAULT_VALUES } = route;
  return { bytes: bodyLimit, values };
}
