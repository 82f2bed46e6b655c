import { checkArgument } from "@seneschal/kernel";
import * as z from "zod";

/** Largest page that any list returns. */
export const MAX_PAGE = 1000;

/** A whole number in a query: decimal digits only, in range; anything else is refused, never clamped. */
export function integerParam(min: number, max: number) {
  const message = `expected a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^-?(0|[1-9][0-9]{0,14})$/, message)
    .transform(Number)
    .refine((n) => n >= min && n <= max, message)
    .meta({ parameter: { type: "integer", minimum: min, maximum: max } });
}

/** `limit` with the route's default, at most {@link MAX_PAGE}. */
export function limitParam(fallback: number) {
  return integerParam(1, MAX_PAGE)
    .optional()
    .transform((n) => n ?? fallback)
    .meta({ parameter: { type: "integer", minimum: 1, maximum: MAX_PAGE, default: fallback } });
}

/** `offset`, default 0. */
export function offsetParam() {
  return integerParam(0, 1_000_000_000)
    .optional()
    .transform((n) => n ?? 0)
    .meta({ parameter: { type: "integer", minimum: 0, default: 0 } });
}

/** `true` or `false`. */
export function flagParam() {
  return z
    .enum(["true", "false"])
    .transform((text) => text === "true")
    .meta({ parameter: { type: "boolean" } });
}

/** An RFC 3339 time with its offset; milliseconds since the epoch come out. */
export function timeParam() {
  return z.iso
    .datetime({ offset: true, message: "expected an RFC 3339 time" })
    .transform((text) => Date.parse(text))
    .meta({ parameter: { type: "string", format: "date-time" } });
}

/** A list: the key repeated, or one value. */
export function listParam<T extends z.ZodType<unknown, string>>(item: T): z.ZodType<z.output<T>[], string | string[]> {
  checkArgument("item", item, "object");
  return z.union([z.array(item).max(MAX_PAGE), item.transform((one) => [one])]) as unknown as z.ZodType<
    z.output<T>[],
    string | string[]
  >;
}
