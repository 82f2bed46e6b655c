import type { JsonObject } from "@seneschal/kernel";
import type * as z from "zod";

/** A JSON object as reply schemas take it: a fresh copy. */
export function json(object: JsonObject | Readonly<Record<string, unknown>>): Record<string, z.core.util.JSONType> {
  return { ...(object as Record<string, z.core.util.JSONType>) };
}
