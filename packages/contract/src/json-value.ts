import * as z from "zod";

/**
 * Any JSON value. It comes out of a body that was read as JSON, so nothing of it is left to check; a recursive schema would say no more,
 * and makers of clients do not read one.
 */
export const jsonValue = z
  .unknown()
  .meta({ id: "JsonValue", description: "Any JSON value" }) as unknown as z.ZodType<z.core.util.JSONType>;
